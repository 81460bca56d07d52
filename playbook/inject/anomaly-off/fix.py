"""Keeps torch's anomaly detection off: the backward pass records and checks nothing for it.

If a gradient becomes NaN, the job continues instead of stopping there.
"""
import functools


def install(kit, value):
    def patch(torch):
        switch = torch.set_anomaly_enabled

        @functools.wraps(switch)
        def off(enabled, *args, **kwargs):
            if enabled:
                kit.engaged(kit.caller())
            return switch(False, *args, **kwargs)

        torch.set_anomaly_enabled = off

    kit.when_imported("torch", patch)
