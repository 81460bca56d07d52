"""Common parts of the fixes of torch's loaders."""
import functools


def keep_luck(module):
    """Lets persistent workers draw the same random numbers as new ones would.

    Each new iterator draws a seed for its workers from the job's generator, whether it has any or
    not. An iterator that is used again does not, and all that is drawn afterwards would be other
    numbers: the next shuffle for one.
    """
    iterator = module._MultiProcessingDataLoaderIter
    if getattr(iterator, "_amdahl_luck", False):
        return
    original = iterator._reset

    @functools.wraps(original)
    def reset(self, loader, first_iter=False):
        if not first_iter and getattr(loader, "_amdahl_persists", False):
            module.torch.empty((), dtype=module.torch.int64).random_(generator=loader.generator)
        return original(self, loader, first_iter)

    iterator._reset = reset
    iterator._amdahl_luck = True


def persist(loader):
    """Sets attributes that the constructor protects after it has run."""
    object.__setattr__(loader, "persistent_workers", True)
    object.__setattr__(loader, "_amdahl_persists", True)
