"""Forward passes without a later backward pass record nothing for it.

These are calls of a module in evaluation mode, and all calls of a job that has no optimiser and
never called backward(). A job that does call backward() through one fails with torch's own error.
"""
import functools
import threading


def install(kit, value):
    seen = {"trains": False}
    inside = threading.local()

    def patch(torch):
        def trains(owner, name):
            original = getattr(owner, name)

            @functools.wraps(original)
            def noted(*args, **kwargs):
                seen["trains"] = True
                return original(*args, **kwargs)

            setattr(owner, name, noted)

        trains(torch.optim.Optimizer, "__init__")
        trains(torch.autograd, "backward")
        trains(torch.autograd, "grad")
        call = torch.nn.Module.__call__

        @functools.wraps(call)
        def quiet(self, *args, **kwargs):
            is_idle = getattr(inside, "call", False) or not torch.is_grad_enabled()
            if is_idle or (self.training and seen["trains"]):
                return call(self, *args, **kwargs)
            inside.call = True
            try:
                with torch.no_grad():
                    result = call(self, *args, **kwargs)
            finally:
                inside.call = False
            kit.engaged("%s: %s" % (kit.caller(), type(self).__name__))
            return result

        torch.nn.Module.__call__ = quiet

    kit.when_imported("torch", patch)
