"""torch.save() copies its argument and writes the file in a thread during the computation.

The same call writes the same bytes, later. Anything that opens, moves, stats or deletes a file
meanwhile waits until all are written; so does the end of the process.
"""
import builtins
import copy
import functools
import os
import shutil
import threading


def install(kit, value):
    pending = []
    lock = threading.Lock()
    own = threading.local()

    def wait():
        if getattr(own, "writing", False):
            return
        while True:
            with lock:
                if not pending:
                    return
                thread, failed = pending.pop(0)
            thread.join()
            if failed:
                raise failed[0]

    def waits(owner, name):
        original = getattr(owner, name)

        @functools.wraps(original)
        def waiting(*args, **kwargs):
            if pending:
                wait()
            return original(*args, **kwargs)

        setattr(owner, name, waiting)

    def patch(torch):
        save = torch.save

        @functools.wraps(save)
        def later(obj, f, *args, **kwargs):
            if not isinstance(f, (str, os.PathLike)):
                return save(obj, f, *args, **kwargs)
            wait()  # One at a time: memory, and their order.
            with builtins_open(f, "ab"):  # What is wrong with the path is told at once.
                pass
            try:
                snapshot = copy.deepcopy(obj)
            except Exception as error:
                kit.refuse("%s: it cannot be copied: %s" % (kit.caller(), error))
                return save(obj, f, *args, **kwargs)
            failed = []

            def write():
                own.writing = True
                try:
                    save(snapshot, f, *args, **kwargs)
                except BaseException as error:
                    failed.append(error)

            thread = threading.Thread(target=write, name="amdahl save")
            with lock:
                pending.append((thread, failed))
            thread.start()
            kit.engaged("%s: %s" % (kit.caller(), os.path.basename(os.fspath(f))))

        builtins_open = builtins.open
        torch.save = later
        waits(builtins, "open")
        for name in ("replace", "rename", "remove", "unlink", "stat", "link", "symlink", "scandir",
                     "listdir", "system"):
            waits(os, name)
        for name in ("copy", "copyfile", "copy2", "move"):
            waits(shutil, name)
        waits(torch, "load")

    kit.when_imported("torch", patch)
    kit.before_fork(wait)
    kit.at_exit(wait)
