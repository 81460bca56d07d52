"""Convolutions use the channels-last memory format, which their fast kernels prefer.

Converts the parameters of the outermost called module before its first call, and each
four-dimensional input. Sums are computed in another order.
"""
import functools
import threading


def install(kit, value):
    inside = threading.local()

    def patch(torch):
        call = torch.nn.Module.__call__
        known = {}  # Modules to whether they have convolutions; they outlive their calls.

        def ready(module):
            found = known.get(id(module))
            if found is None or found[0] is not module:
                has = any(isinstance(part, torch.nn.Conv2d) for part in module.modules())
                if has:
                    module.to(memory_format=torch.channels_last)
                found = known[id(module)] = (module, has)
            return found[1]

        def laid(tensor):
            if not isinstance(tensor, torch.Tensor) or tensor.dim() != 4:
                return tensor
            return tensor.contiguous(memory_format=torch.channels_last)

        @functools.wraps(call)
        def last(self, *args, **kwargs):
            if getattr(inside, "call", False) or isinstance(self, torch.jit.ScriptModule):
                return call(self, *args, **kwargs)
            inside.call = True
            try:
                if ready(self):
                    kit.engaged("%s: %s" % (kit.caller(), type(self).__name__))
                    args = tuple(laid(value) for value in args)
                return call(self, *args, **kwargs)
            finally:
                inside.call = False

        view = torch.Tensor.view

        @functools.wraps(view)
        def viewed(self, *args, **kwargs):
            try:
                return view(self, *args, **kwargs)
            except RuntimeError:  # Its numbers lie elsewhere than the job thinks.
                return self.reshape(*args, **kwargs)

        torch.nn.Module.__call__ = last
        torch.Tensor.view = viewed

    kit.when_imported("torch", patch)
