"""Forward passes that nothing will ever go back through record nothing for it.

These are calls of a module in evaluation mode, and all calls of a job that has made no optimiser
and has called backward nowhere. A job that goes back through one all the same fails, as torch says.
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
