"""torch's anomaly detection stays off: the backward pass records and checks nothing for it.

A job in which a gradient becomes NaN goes on and does not stop there.
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
