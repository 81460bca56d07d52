"""cuDNN measures its algorithms for each shape of a convolution, and keeps the fastest.

Another algorithm adds in another order. Once the job asks torch for deterministic ones, it is off.
"""
import functools


def install(kit, value):
    def patch(torch):
        cudnn = torch.backends.cudnn
        if not torch.cuda.is_available() or not cudnn.is_available():
            kit.refuse("torch sees no device with cuDNN")
            return
        if cudnn.benchmark:
            return
        original = torch.use_deterministic_algorithms

        @functools.wraps(original)
        def deterministic(mode, *args, **kwargs):
            if mode:
                cudnn.benchmark = False
                kit.refuse("%s: the job asks for deterministic algorithms" % kit.caller())
            return original(mode, *args, **kwargs)

        torch.use_deterministic_algorithms = deterministic
        cudnn.benchmark = True
        kit.engaged("cudnn.benchmark False → True")

    kit.when_imported("torch", patch)
