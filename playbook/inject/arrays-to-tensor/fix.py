"""torch.tensor() of a list of arrays first makes one array instead of converting each number.

The first tensor of each kind is made both ways; if they differ, that kind is left alone.
"""
import functools

import _amdahl_calls as calls


def install(kit, value):
    def patch(torch):
        import numpy

        original = torch.tensor
        kinds = {}  # Data type and shape of the parts, and what was asked for, to the type to make.

        def kind_of(data, args, kwargs):
            if args or not isinstance(data, (list, tuple)) or len(data) < 2:
                return None
            first = data[0]
            if type(first) is not numpy.ndarray or first.dtype == object or first.ndim == 0:
                return None
            alike = all(
                type(part) is numpy.ndarray and part.dtype == first.dtype
                and part.shape == first.shape
                for part in data
            )
            return (first.dtype.str, first.ndim, repr(sorted(kwargs.items()))) if alike else None

        @functools.wraps(original)
        def tensor(data, *args, **kwargs):
            kind = kind_of(data, args, kwargs)
            if kind is None or kinds.get(kind, "") is None:
                return original(data, *args, **kwargs)
            fast = {**kwargs, "dtype": kinds[kind]} if kind in kinds else None
            if fast is not None:
                kit.engaged(kit.caller())
                return original(numpy.array(data), **fast)
            slow = original(data, **kwargs)
            other = original(numpy.array(data), **{**kwargs, "dtype": slow.dtype})
            kinds[kind] = slow.dtype if _same(torch, slow, other) else None
            if kinds[kind] is None:
                kit.refuse("%s: the tensor would be another" % kit.caller())
            return slow

        calls.stand_in(torch, "tensor", tensor)

    kit.when_imported("torch", patch)


def _same(torch, a, b):
    if a.dtype != b.dtype or a.shape != b.shape or a.device != b.device:
        return False
    return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())
