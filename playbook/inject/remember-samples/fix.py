"""Keeps samples of a map-style data set after they were made once, up to a limit in MB.

Not applied if a sample draws random numbers (augmentation) or differs when it is made again. The
job gets a copy, which it may modify.
"""
import copy
import functools
import sys

import _amdahl_pure as pure


def install(kit, value):
    limit = float(value) * 1e6

    def patch(module):
        fetcher = module._MapDatasetFetcher
        original = fetcher.__init__
        verdicts = {}  # Of data sets, by identity: they outlive their fetchers.

        @functools.wraps(original)
        def init(self, dataset, *args, **kwargs):
            original(self, dataset, *args, **kwargs)
            known = verdicts.get(id(dataset))
            if known is None or known[0] is not dataset:
                known = verdicts[id(dataset)] = (dataset, _make(kit, dataset, limit))
            if known[1] is not None:
                self.dataset = known[1]

        fetcher.__init__ = init

    kit.when_imported("torch.utils.data._utils.fetch", patch)


def _make(kit, dataset, limit):
    try:
        why = pure.why_not(lambda: dataset[0], dataset) if len(dataset) else "it is empty"
    except TypeError:
        why = "it has no length"
    if why:
        kit.refuse("%s: %s" % (type(dataset).__name__, why))
        return None
    return _Remembering(kit, dataset, limit)


class _Remembering:
    def __init__(self, kit, dataset, limit):
        self._kit = kit
        self._dataset = dataset
        self._left = limit
        self._kept = {}
        self._said = type(dataset).__name__

    def __getattr__(self, name):
        if name == "__getitems__":  # It would pass us by.
            raise AttributeError(name)
        return getattr(self.__dict__["_dataset"], name)

    def __len__(self):
        return len(self._dataset)

    def __getitem__(self, index):
        try:
            found = self._kept.get(index)
        except TypeError:  # No key.
            return self._dataset[index]
        if found is not None:
            self._kit.engaged(self._said)
            return copy.deepcopy(found[0])
        item = self._dataset[index]
        size = _size(item)
        if size <= self._left:
            self._left -= size
            self._kept[index] = (copy.deepcopy(item),)
        return item


def _size(item):
    if isinstance(item, (list, tuple)):
        return 64 + sum(map(_size, item))
    if isinstance(item, dict):
        return 64 + sum(map(_size, item.values()))
    if hasattr(item, "element_size"):
        return item.element_size() * item.nelement() + 200
    return getattr(item, "nbytes", None) or sys.getsizeof(item)
