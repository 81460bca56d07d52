"""What was parsed from a large text is kept on disk, for the next run that parses the same text.

Found by the bytes of the text, by the function with its options, and by the versions of Python and
of the module. What is kept is read back and compared with what was parsed before it is used.
"""
import functools
import hashlib
import io
import marshal
import os
import sys
import time

import _amdahl_calls as calls
import _amdahl_pure as pure

_WORTH = 0.02  # Seconds: what is parsed sooner is not kept.


def install(kit, value):
    folder = os.environ.get("AMDAHL_STATE", "")
    if not folder:
        kit.refuse("there is no folder to keep it in: AMDAHL_STATE is not set")
        return
    shelf = _Shelf(kit, os.path.join(folder, "parsed"), float(value) * 1e6)
    for module, names in calls.TEXT_READERS.items():
        kit.when_imported(module, functools.partial(_take, shelf, names, _file_bytes))
    for module, names in calls.PARSERS.items():
        kit.when_imported(module, functools.partial(_take, shelf, names, _text_bytes))


class _Shelf:
    def __init__(self, kit, folder, most):
        self.kit = kit
        self.folder = folder
        self.most = most
        os.makedirs(folder, exist_ok=True)

    def get(self, key):
        """What is kept, as (value,); None if nothing is."""
        for kind, load in _LOADS.items():
            try:
                with open(os.path.join(self.folder, key + kind), "rb") as file:
                    return (load(file.read()),)
            except (OSError, ValueError, EOFError, TypeError):
                pass
        return None

    def put(self, key, value):
        made = _packed(value)
        if made is None or len(made[1]) > self.most:
            return False
        if made[0] != ".plain" and not _same(_LOADS[made[0]](made[1]), value):
            return False
        path = os.path.join(self.folder, key + made[0])
        beside = "%s.%d" % (path, os.getpid())
        try:
            with open(beside, "wb") as file:
                file.write(made[1])
            os.replace(beside, path)
        except OSError:
            return False
        return True


def _load_array(data):
    return sys.modules["numpy"].load(io.BytesIO(data), allow_pickle=False)


def _load_table(data):
    import pickle

    return pickle.loads(data)


_LOADS = {".npy": _load_array, ".table": _load_table, ".plain": marshal.loads}


def _packed(value):
    """Its kind and its bytes; None for what is no array, table or plain value."""
    if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
        if value.dtype.hasobject:
            return None
        out = io.BytesIO()
        sys.modules["numpy"].save(out, value, allow_pickle=False)
        return ".npy", out.getvalue()
    if type(value).__module__.startswith("pandas.") and type(value).__name__ == "DataFrame":
        import pickle

        return ".table", pickle.dumps(value, protocol=4)
    plain = pure.packed(value)
    return None if plain is None else (".plain", plain)


def _same(a, b):
    if type(a) is type(b) and type(a).__name__ == "DataFrame":
        return a.equals(b) and list(a.dtypes) == list(b.dtypes)
    return pure.same(a, b)


def _file_bytes(file):
    if os.stat(file).st_size < calls.SMALL:
        return None
    with open(file, "rb") as opened:
        return opened.read()


def _text_bytes(text):
    if len(text) < calls.SMALL:
        return None
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _take(shelf, names, bytes_of, module):
    for name in names:
        if hasattr(module, name):
            setattr(module, name, _kept(shelf, module, getattr(module, name), bytes_of))


def _kept(shelf, module, original, bytes_of):
    version = "%s %s" % (sys.version, getattr(module, "__version__", ""))

    @functools.wraps(original)
    def kept(*args, **kwargs):
        try:
            data = bytes_of(args[0])
            options = repr((args[1:], sorted(kwargs.items())))
        except Exception:
            data = None
        # A function or an object of the job's own may do another thing next time.
        if data is None or " at 0x" in options or "__main__" in options:
            return original(*args, **kwargs)
        what = "%s %s %s %s" % (version, module.__name__, original.__name__, options)
        key = hashlib.sha256(what.encode() + b"\0" + data).hexdigest()
        found = shelf.get(key)
        where = "%s: %s" % (shelf.kit.caller(), original.__name__)
        if found is not None:
            shelf.kit.engaged(where)
            return found[0]
        began = time.perf_counter()
        value = original(*args, **kwargs)
        if time.perf_counter() - began >= _WORTH and shelf.put(key, value):
            shelf.kit.engaged(where)
        return value

    return kept
