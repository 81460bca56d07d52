"""torch computes with this many threads, whatever the job or its environment asks for.

Also sets the BLAS libraries that numpy brings, in this process and in its workers.
"""
import functools


def install(kit, value):
    wanted = int(value)

    def patch(torch):
        real = torch.set_num_threads
        before = torch.get_num_threads()
        if before != wanted:
            real(wanted)
            kit.engaged("%d → %d" % (before, wanted))

        @functools.wraps(real)
        def held(count):
            real(min(count, wanted))
            if count > wanted:
                kit.engaged("%s: %d → %d" % (kit.caller(), count, wanted))

        torch.set_num_threads = held

    kit.when_imported("torch", patch)
