"""A loader without workers makes its next batches in a thread while the job computes.

Not applied if a sample draws random numbers or differs when it is made again: random numbers would
be drawn in another order.
"""
import functools
import queue
import threading

import _amdahl_pure as pure

_DONE = object()


def install(kit, value):
    depth = int(value)

    def patch(module):
        iterator = module._SingleProcessDataLoaderIter
        original = iterator._next_data

        @functools.wraps(original)
        def ahead(self):
            state = self.__dict__.get("_amdahl_ahead")
            if state is None:
                why = _why_not(module, self)
                state = self.__dict__["_amdahl_ahead"] = _Ahead(self, original, depth, why)
                if why:
                    kit.refuse(why)
            if state.why:
                return original(self)
            batch = state.next()
            kit.engaged(kit.caller())
            return batch

        iterator._next_data = ahead

    kit.when_imported("torch.utils.data.dataloader", patch)


def _why_not(module, iterator):
    dataset = iterator._dataset
    if isinstance(dataset, module.IterableDataset):
        return "the data set is a stream"
    try:
        return pure.why_not(lambda: dataset[0], dataset) if len(dataset) else "it is empty"
    except TypeError:
        return "the data set has no length"


class _Ahead:
    def __init__(self, iterator, original, depth, why):
        self.why = why
        self.iterator = iterator
        self.original = original
        self.queue = queue.Queue(depth)
        self.thread = None

    def next(self):
        # The first batch is made here: the sampler draws its seed with it.
        if self.thread is None:
            batch = self.original(self.iterator)
            self.thread = threading.Thread(target=self._run, name="amdahl loader", daemon=True)
            self.thread.start()
            return batch
        kind, result = self.queue.get()
        if kind is _DONE:
            raise result
        return result

    def _run(self):
        while True:
            try:
                self.queue.put((None, self.original(self.iterator)))
            except BaseException as error:
                self.queue.put((_DONE, error))
                return
