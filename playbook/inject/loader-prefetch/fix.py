"""Workers of the job's loaders prepare this many batches ahead, each.

Not for streams: how far a stream has been read may be seen from outside.
"""
import functools


def install(kit, value):
    wanted = int(value)

    def patch(module):
        loader = module.DataLoader
        original = loader.__init__

        @functools.wraps(original)
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if self.num_workers == 0 or self.prefetch_factor >= wanted:
                return
            if isinstance(self.dataset, module.IterableDataset):
                kit.refuse("%s: the data set is a stream" % kit.caller())
                return
            kit.engaged("%s: %d → %d batches" % (kit.caller(), self.prefetch_factor, wanted))
            object.__setattr__(self, "prefetch_factor", wanted)

        loader.__init__ = init

    kit.when_imported("torch.utils.data.dataloader", patch)
