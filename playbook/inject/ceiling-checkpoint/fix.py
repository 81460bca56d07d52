"""torch.save() leaves an empty file. For measurements only.

The run time is then that of a job whose checkpoints cost nothing.
"""
import functools
import os


def install(kit, value):
    def patch(torch):
        save = torch.save

        @functools.wraps(save)
        def nothing(obj, f, *args, **kwargs):
            if isinstance(f, (str, os.PathLike)):
                with open(f, "wb"):  # Whoever moves or deletes it finds one.
                    pass
            kit.engaged(kit.caller())

        torch.save = nothing

    kit.when_imported("torch", patch)
