"""Whether a call of the job can be moved to another place or time, or made once instead of twice."""
import sys


def _luck():
    """The state of every global random generator."""
    states = {}
    random = sys.modules.get("random")
    if random is not None:
        states["random"] = (random.getstate, random.setstate)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        states["numpy"] = (lambda: numpy.random.get_state(legacy=True), numpy.random.set_state)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = (torch.get_rng_state, torch.set_rng_state)
    return states


def same(a, b):
    """Deep equality; values that cannot be compared are not equal."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(a, numpy.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if hasattr(a, "tobytes"):  # An image.
        return a.tobytes() == b.tobytes()
    if isinstance(a, (bool, int, float, complex, str, bytes, type(None))):
        return a == b
    try:
        if vars(a).keys() == vars(b).keys():
            return all(same(value, vars(b)[name]) for name, value in vars(a).items())
    except TypeError:
        pass
    try:
        return bool(a == b)
    except Exception:
        return False


_PLAIN = (bool, int, float, str, bytes, type(None), list, tuple, dict)


def packed(value):
    """A list or dict of plain values, as json and yaml give them, packed by marshal; None for what is
    something else, or comes out of it as something else."""
    import marshal

    if type(value) not in (list, dict):
        return None
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) not in _PLAIN:
            return None
        if type(one) is dict:
            waiting.extend(one.values())
        elif type(one) in (list, tuple):
            waiting.extend(one)
    made = marshal.dumps(value)
    return None if marshal.loads(made) != value and value == value else made


def _marks(owner):
    """A snapshot that shows whether an object counts or remembers: plain members and sizes."""
    marks = {}
    members = list(getattr(owner, "__dict__", {}).items())
    for cell in getattr(owner, "__closure__", None) or ():
        try:
            members.append(("cell %d" % len(members), cell.cell_contents))
        except ValueError:
            pass
    for name, value in members:
        if isinstance(value, (bool, int, float, str, bytes, type(None))):
            marks[name] = value
        elif isinstance(value, (list, dict, set)):
            marks[name] = len(value)
    return marks


def why_not(call, owner, again=lambda value: value):
    """Why `call` cannot be moved: it draws random numbers, gives another result the second time, or
    changes `owner`. None if it can. Restores the job's random state."""
    states = {name: (get(), get, put) for name, (get, put) in _luck().items()}
    marks = _marks(owner)
    try:
        first = again(call())
        if _marks(owner) != marks:
            return "it changes the object that it belongs to"
        for name, (before, get, _) in states.items():
            if not _same_luck(before, get()):
                return "it draws random numbers (%s)" % name
        if not same(first, again(call())):
            return "it gives another result the second time"
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    finally:
        for before, _, put in states.values():
            put(before)
    return None


def _same_luck(a, b):
    if hasattr(a, "equal"):
        return a.equal(b)
    return repr(a) == repr(b) if isinstance(a, tuple) else a == b
