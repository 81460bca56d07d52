"""Workers of the job's loaders survive an epoch, so that they are started only once."""
import functools

import _amdahl_loader


def install(kit, value):
    def patch(module):
        _amdahl_loader.keep_luck(module)
        loader = module.DataLoader
        original = loader.__init__

        @functools.wraps(original)
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if self.num_workers == 0 or self.persistent_workers:
                return
            if isinstance(self.dataset, module.IterableDataset):
                kit.refuse("%s: the data set is a stream" % kit.caller())
                return
            _amdahl_loader.persist(self)
            kit.engaged("%s: %d workers" % (kit.caller(), self.num_workers))

        loader.__init__ = init

    kit.when_imported("torch.utils.data.dataloader", patch)
