"""torch.save leaves an empty file. To measure only.

What the job then takes is what it would take if its checkpoints cost nothing.
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
