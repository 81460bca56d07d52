"""Gives the job's loaders this many worker processes, which live as long as the loader.

Map-style data sets only: every worker would read a whole stream. Not applied if a sample or its
collation draws random numbers, counts, or differs when it is made again: a worker would draw other
random numbers than the main process.
"""
import functools

import _amdahl_loader
import _amdahl_pure as pure


def install(kit, value):
    wanted = int(value)

    def patch(module):
        _amdahl_loader.keep_luck(module)
        loader = module.DataLoader
        original = loader.__init__

        @functools.wraps(original)
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if self.num_workers == wanted:
                return
            why = _why_not(module, self)
            if why:
                kit.refuse("%s: %s" % (kit.caller(), why))
                return
            before = self.num_workers
            _set(self, wanted)
            kit.engaged("%s: %d → %d workers" % (kit.caller(), before, wanted))

        loader.__init__ = init

    kit.when_imported("torch.utils.data.dataloader", patch)


def _why_not(module, loader):
    if isinstance(loader.dataset, module.IterableDataset):
        return "the data set is a stream"
    if loader.persistent_workers:
        return "its workers outlive an epoch already, which draws other random numbers"
    if loader.worker_init_fn is not None:
        return "its workers are set up by the job (worker_init_fn)"
    if loader.batch_sampler is None and loader.sampler is None:
        return "it has no sampler"
    try:
        count = len(loader.dataset)
    except TypeError:
        return "the data set has no length"
    if not count:
        return "the data set is empty"
    for index in sorted({0, count - 1}):
        why = pure.why_not(lambda: loader.dataset[index], loader.dataset)
        if why:
            return "sample %d: %s" % (index, why)
    if loader.batch_sampler is not None:
        items = [loader.dataset[index] for index in sorted({0, count - 1})]
        why = pure.why_not(lambda: loader.collate_fn(items), loader.collate_fn)
        if why:
            return "its collate_fn: %s" % why
    return None


def _set(loader, wanted):
    """As the constructor would; it lets no one set these afterwards."""
    put = functools.partial(object.__setattr__, loader)
    put("num_workers", wanted)
    if wanted > 0:
        _amdahl_loader.persist(loader)
    factor = getattr(loader, "prefetch_factor", None)
    put("prefetch_factor", factor if factor else 2)
    if wanted == 0:
        put("timeout", 0)
        put("multiprocessing_context", None)
