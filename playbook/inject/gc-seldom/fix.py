"""Runs Python's garbage collector a hundred times less often, and never on start-up objects."""
import gc

_THRESHOLDS = (70_000, 20, 50)


def install(kit, value):
    if not gc.isenabled():
        kit.refuse("the collector is off")
        return
    before = gc.get_threshold()
    if before[0] == 0 or before[0] >= _THRESHOLDS[0]:
        kit.refuse("the thresholds are %s" % (before,))
        return
    gc.set_threshold(*_THRESHOLDS)

    def seen(phase, info):
        if phase != "stop":
            return
        # A whole collection has just been paid for: what survived it is there to stay.
        if info["generation"] == 2:
            gc.freeze()
        kit.engaged("thresholds %s instead of %s" % (gc.get_threshold(), before))

    gc.callbacks.append(seen)
