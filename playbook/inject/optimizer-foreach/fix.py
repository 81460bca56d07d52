"""The optimiser's step works on lists of tensors instead of one tensor after another in Python."""
import functools

_KINDS = ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax")


def install(kit, value):
    def patch(torch):
        for name in _KINDS:
            kind = getattr(torch.optim, name, None)
            if kind is not None:
                _take(kit, kind)

    kit.when_imported("torch", patch)


def _take(kit, kind):
    step = kind.step

    @functools.wraps(step)
    def by_lists(self, *args, **kwargs):
        taken = []
        for group in self.param_groups:
            if "foreach" not in group:
                kit.refuse("%s of this torch has none" % kind.__name__)
            elif group["foreach"] is None and not group.get("fused"):
                group["foreach"] = True
                taken.append(group)
                kit.engaged("%s of %d tensors" % (kind.__name__, len(group["params"])))
        try:
            return step(self, *args, **kwargs)
        finally:
            for group in taken:  # A checkpoint has it as it was.
                group["foreach"] = None

    kind.step = by_lists
