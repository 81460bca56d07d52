"""Batches of the job's loaders lie in pinned memory, from which devices copy faster."""
import functools


def install(kit, value):
    def patch(module):
        loader = module.DataLoader
        original = loader.__init__

        @functools.wraps(original)
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if self.pin_memory:
                return
            if not module.torch.cuda.is_available():
                kit.refuse("torch sees no device to copy to")
                return
            object.__setattr__(self, "pin_memory", True)
            kit.engaged(kit.caller())

        loader.__init__ = init

    kit.when_imported("torch.utils.data.dataloader", patch)
