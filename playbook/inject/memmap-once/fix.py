"""Maps a file once that numpy maps read-only again and again, while the file is unchanged."""
import functools
import os


def install(kit, value):
    def patch(numpy):
        original = numpy.memmap
        kept = {}

        @functools.wraps(original.__new__)
        def new(cls, filename, dtype=numpy.uint8, mode="r+", offset=0, shape=None, order="C"):
            make = functools.partial(make_new, cls, filename, dtype, mode, offset, shape, order)
            if mode != "r" or not isinstance(filename, (str, os.PathLike)) or cls is not original:
                return make()
            info = os.stat(filename)
            key = (os.fspath(filename), str(dtype), offset, shape, order)
            mark = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
            found = kept.get(key)
            if found is not None and found[0] == mark:
                kit.engaged("%s: %s" % (kit.caller(), os.path.basename(key[0])))
                return found[1].view()
            mapped = make()
            kept[key] = (mark, mapped)
            return mapped.view()

        make_new = original.__new__
        original.__new__ = staticmethod(new)

    kit.when_imported("numpy", patch)
