"""zero_grad() frees gradients instead of filling them with zeros.

A tensor that a step does not reach is then skipped by momentum and weight decay.
"""
import functools


def install(kit, value):
    def patch(torch):
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            _take(kit, owner)

    kit.when_imported("torch", patch)


def _take(kit, owner):
    original = owner.zero_grad

    @functools.wraps(original)
    def let_go(self, set_to_none=False):
        if not set_to_none:
            kit.engaged("%s: %s" % (kit.caller(), type(self).__name__))
        return original(self, set_to_none=True)

    owner.zero_grad = let_go
