#!/usr/bin/python3
"""Scores seeded sequences with a small transformer, one batch a step.

By itself it does --steps steps under its flags. Where AMDAHL_STEPS names a schedule it does those
steps instead, each under the settings of its arm (docs/format/report.md).
"""

import argparse
import hashlib
import json
import os
import time

STARTED = time.time()


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.environ.get("AMDAHL_OUT", "."))
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--inference-mode", action="store_true", help="keep no gradients")
    parser.add_argument("--range-check-every", type=int, default=1, help="steps; 0: never")
    return parser


def settings_of(parser, args, changes):
    """The arguments as this arm has them: null takes a flag away, "" is a bare one."""
    settings = argparse.Namespace(**vars(args))
    for group in changes.keys() - {"args"}:
        raise SystemExit(f"cannot switch {', '.join(changes[group])} between steps")
    for flag, value in changes.get("args", {}).items():
        name = flag.lstrip("-").replace("-", "_")
        if name not in vars(args):
            raise SystemExit(f"cannot switch {flag} between steps")
        default = parser.get_default(name)
        if value is None:
            value = default
        elif isinstance(default, bool):
            value = value == ""
        else:
            value = type(default)(value)
        setattr(settings, name, value)
    return settings


def make_model(torch):
    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
            self.mix = torch.nn.Linear(width, 3 * width)
            self.join = torch.nn.Linear(width, width)
            self.up = torch.nn.Linear(width, 4 * width)
            self.down = torch.nn.Linear(4 * width, width)

        def forward(self, x):
            query, key, value = self.mix(self.norms[0](x)).chunk(3, dim=-1)
            weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
            x = x + self.join(weights @ value)
            return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))

    torch.manual_seed(7)
    blocks = [Block(96) for _ in range(6)]
    return torch.nn.Sequential(*blocks, torch.nn.Linear(96, 10)).eval()


class Scorer:
    def __init__(self, torch):
        self.torch = torch
        self.model = make_model(torch)
        self.inputs = torch.randn(256, 32, 96, generator=torch.Generator().manual_seed(11))
        self.next = 0
        self.done = 0
        self.classes = {}

    def step(self, settings):
        rows = [(self.next + i) % len(self.inputs) for i in range(settings.batch)]
        with self.torch.inference_mode(settings.inference_mode):
            scores = self.model(self.inputs[rows]).mean(dim=1)
        every = settings.range_check_every
        if every and self.done % every == 0 and not self.torch.isfinite(scores).all().item():
            raise SystemExit(f"step {self.done}: a score is not finite")
        self.classes.update(zip(rows, scores.argmax(dim=1).tolist()))
        self.next = (self.next + settings.batch) % len(self.inputs)
        self.done += 1


def main():
    parser = make_parser()
    args = parser.parse_args()
    # One slot, one thread. By torch's own call it would also make a pool that it has no use for, and
    # that of Debian's libpthreadpool now and then waits for ever while it is made.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    scorer = Scorer(torch)
    schedule = "A" * args.steps
    arms = {"A": args}
    alternates = "AMDAHL_STEPS" in os.environ
    if alternates:
        with open(os.environ["AMDAHL_STEPS"]) as file:
            schedule = file.read().strip()
        changes = json.loads(os.environ["AMDAHL_STEPS_ARMS"])
        arms = {name: settings_of(parser, args, changes[name]) for name in "AB"}
    begun = time.time()
    lines = [{"phase": "start-up", "start": STARTED, "end": begun}]
    work = 0
    for number, arm in enumerate(schedule):
        settings = arms[arm]
        start = time.monotonic()
        scorer.step(settings)
        seconds = time.monotonic() - start
        work += settings.batch
        if alternates:
            step = {"step": number, "arm": arm, "seconds": seconds, "work": settings.batch}
            lines.append(step)
    lines += [{"phase": "score", "start": begun, "end": time.time()}, {"work": work}]
    text = json.dumps(sorted(scorer.classes.items()))
    with open(os.path.join(args.out, "classes.json"), "w") as file:
        file.write(text + "\n")
    if "AMDAHL_REPORT" in os.environ:
        with open(os.environ["AMDAHL_REPORT"], "a") as report:
            report.writelines(json.dumps(line) + "\n" for line in lines)
    print(f"{work} sequences, {hashlib.sha256(text.encode()).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
