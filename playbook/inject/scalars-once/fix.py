"""A tensor's number is fetched once, however often the job asks for it, until the tensor changes.

On an accelerator each .item() and float() waits until the device has caught up. Only for results of
computations with gradients, such as a loss: writes to their memory change their version, or go
through what the job asked for here.
"""
import collections
import functools
import weakref

_KEPT = 16  # Tensors: more than a step reads.


def install(kit, value):
    kit.when_imported("torch", functools.partial(_patch, kit))


def _patch(kit, torch):
    kept = collections.OrderedDict()  # id to (tensor, its version, {how it was read: the number}).
    shared = set()  # Memory that the job may write to unseen.

    def memory(tensor):
        whole = tensor.untyped_storage if hasattr(tensor, "untyped_storage") else tensor.storage
        return whole().data_ptr()

    def take(name):
        original = getattr(torch.Tensor, name)

        @functools.wraps(original)
        def once(self):
            if self.grad_fn is None or type(self) is not torch.Tensor:
                return original(self)
            found = kept.get(id(self))
            if found is None or found[0]() is not self or found[1] != self._version:
                found = kept[id(self)] = (weakref.ref(self), self._version, {})
                kept.move_to_end(id(self))
                if len(kept) > _KEPT:
                    kept.popitem(last=False)
            numbers = found[2]
            if name in numbers and (not shared or memory(self) not in shared):
                kit.engaged(kit.caller())
                return numbers[name]
            numbers[name] = original(self)
            return numbers[name]

        setattr(torch.Tensor, name, once)

    def lends(name):
        """What it returns shares the tensor's memory, and writes to that leave no trace."""
        original = getattr(torch.Tensor, name)

        @functools.wraps(original)
        def lent(self, *args, **kwargs):
            shared.add(memory(self))
            return original(self, *args, **kwargs)

        setattr(torch.Tensor, name, lent)

    data = torch.Tensor.data

    def alias(self):
        shared.add(memory(self))
        return data.__get__(self)

    def other(self, tensor):
        kept.pop(id(self), None)
        data.__set__(self, tensor)

    for name in ("item", "__float__", "__int__"):
        take(name)
    for name in ("numpy", "__array__", "data_ptr", "__dlpack__"):
        lends(name)
    torch.Tensor.data = property(alias, other, data.__delete__, data.__doc__)
