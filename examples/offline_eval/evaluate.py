#!/usr/bin/python3
"""Offline evaluation: scores a directory of images with a trained classifier.

Every image is seen twice, plain and mirrored, and the two logits are averaged. The result is
predictions.json: a class for each image, and the accuracy against the labels.
"""

import argparse
import hashlib
import json
import os
import sys
import time

STARTED = time.time()
VIEWS = ("plain", "mirrored")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    switch = argparse.BooleanOptionalAction
    parser.add_argument("--data", required=True, help="directory that make_data.py wrote")
    parser.add_argument("--out", default=os.environ.get("AMDAHL_OUT", "."))
    parser.add_argument("--limit", type=int, default=0, help="only the first so many images")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="loader processes; 0: none")
    parser.add_argument("--prefetch", type=int, default=2, help="batches a loader is ahead")
    parser.add_argument("--threads", type=int, default=2, help="at most the CPUs it may use")
    parser.add_argument("--cache", default="", help="directory for decoded inputs")
    parser.add_argument("--log-every", type=int, default=1, help="steps")
    parser.add_argument("--fsync", action=switch, default=False, help="the log, line by line")
    parser.add_argument("--range-check-every", type=int, default=1, help="steps; 0: never")
    parser.add_argument("--checkpoint-every", type=int, default=10, help="steps; 0: never")
    parser.add_argument("--verify", action=switch, default=False, help="all inputs at the start")
    parser.add_argument("--lazy-imports", action="store_true", help="import only what is used")
    parser.add_argument("--inference-mode", action="store_true")
    parser.add_argument("--persistent-workers", action="store_true")
    parser.add_argument("--pin-memory", action="store_true")
    return parser.parse_args()


def set_threads(threads):
    """Before torch is imported: OpenBLAS reads its variable once."""
    threads = max(1, min(threads, len(os.sched_getaffinity(0))))
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads))
    return threads


def to_pixels(image):
    """What the model sees of an image, as bytes; this is what the cache keeps."""
    import numpy as np
    from PIL import Image

    from model import IMAGE_SIZE

    small = image.convert("RGB").resize((IMAGE_SIZE, IMAGE_SIZE), Image.Resampling.BICUBIC)
    return np.asarray(small)


def to_tensor(pixels):
    """Pixels of one image or of many, colours last, to what the model takes."""
    import torch

    tensor = torch.from_numpy(pixels.copy()).movedim(-1, -3).float()
    return tensor.div_(127.5).sub_(1.0)


def read_pixels(path):
    from PIL import Image

    with Image.open(path) as image:
        return to_pixels(image)


def verify_inputs(data, rows):
    """Every file must have the labels' checksum and decode to the end."""
    from PIL import Image

    for row in rows:
        path = os.path.join(data, row["file"])
        with open(path, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != row["sha256"]:
                sys.exit(f"{path}: is not the file that was labelled; run make_data.py again")
        with Image.open(path) as image:
            image.convert("RGB").resize((224, 224))


def open_cache(directory, data, rows):
    """The decoded images as one array, mapped; made now if these inputs were never seen."""
    import numpy as np

    content = json.dumps([[row["file"], row["sha256"]] for row in rows])
    path = os.path.join(directory, hashlib.sha256(content.encode()).hexdigest()[:16] + ".npy")
    if not os.path.exists(path):
        os.makedirs(directory, exist_ok=True)
        pixels = np.stack([read_pixels(os.path.join(data, row["file"])) for row in rows])
        unfinished = f"{path}.{os.getpid()}.npy"
        np.save(unfinished, pixels)
        os.replace(unfinished, path)
    return np.load(path, mmap_mode="r")


class Images:
    """The labelled images, as torch's DataLoader wants a dataset."""

    def __init__(self, data, rows, cache):
        self.data = data
        self.rows = rows
        self.cache = cache

    def __len__(self):
        return len(self.rows)

    def pixels(self, index):
        if self.cache is not None:
            return self.cache[index]
        return read_pixels(os.path.join(self.data, self.rows[index]["file"]))

    def __getitem__(self, index):
        return to_tensor(self.pixels(index)), self.rows[index]["label"], index


class StepLog:
    """A JSON line a step, on the disk before the next step starts unless told otherwise."""

    def __init__(self, path, fsync):
        self.file = open(path, "w")
        self.fsync = fsync

    def line(self, **fields):
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()
        if self.fsync:
            os.fsync(self.file.fileno())

    def close(self):
        self.file.close()


def check_range(step, outputs, logits):
    """A model that was exported wrongly shows first as values that explode."""
    import torch

    for depth, values in enumerate([*outputs, logits]):
        if not torch.isfinite(values).all().item() or values.abs().max().item() > 1e4:
            sys.exit(f"step {step}: the output of layer {depth} is out of range")


def save_checkpoint(path, step, totals):
    import torch

    with open(path + ".new", "wb") as file:
        torch.save({"step": step, "logits": totals}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def load_model(data):
    import torch

    from model import Classifier

    model = Classifier()
    model.load_state_dict(torch.load(os.path.join(data, "weights.pt")))
    return model.eval()


def make_loader(args, dataset):
    from torch.utils.data import DataLoader

    more = {}
    if args.workers > 0:
        more = {
            "prefetch_factor": args.prefetch,
            "persistent_workers": args.persistent_workers,
        }
    return DataLoader(
        dataset,
        batch_size=args.batch,
        num_workers=args.workers,
        pin_memory=args.pin_memory,
        **more,
    )


class Evaluation:
    """The running result over all views."""

    def __init__(self, args, rows, model, report):
        import torch

        self.args = args
        self.rows = rows
        self.model = model
        self.report = report
        self.totals = torch.zeros(len(rows), model.head.out_features)
        self.step = 0
        self.log = StepLog(os.path.join(args.out, "steps.jsonl"), args.fsync)

    def due(self, every):
        return every > 0 and self.step % every == 0

    def run_view(self, loader, view):
        batches = iter(loader)
        while True:
            start = time.time()
            batch = next(batches, None)
            now = time.time()
            self.report.step("input", start, now)
            if batch is None:
                return
            self.run_step(batch, view, now)

    def run_step(self, batch, view, start):
        import torch

        images, labels, indices = batch
        logits, outputs = self.model(images.flip(-1) if view == "mirrored" else images)
        computed = time.time()
        self.report.step("compute", start, computed)
        self.step += 1
        if self.due(self.args.range_check_every):
            check_range(self.step, outputs, logits)
        checked = time.time()
        self.report.step("range_check", computed, checked)
        self.totals[indices] += logits.detach()
        if self.due(self.args.log_every):
            loss = torch.nn.functional.cross_entropy(logits, labels).item()
            hits = (logits.argmax(dim=1) == labels).float().mean().item()
            self.log.line(step=self.step, loss=loss, accuracy=hits, time=checked)
        logged = time.time()
        self.report.step("logging", checked, logged)
        if self.due(self.args.checkpoint_every):
            path = os.path.join(self.args.out, "checkpoint.pt")
            save_checkpoint(path, self.step, self.totals)
            self.report.step("checkpoint", logged, time.time())


def write_predictions(out, rows, totals):
    classes = totals.argmax(dim=1).tolist()
    hits = sum(found == row["label"] for found, row in zip(classes, rows))
    result = {
        "images": len(rows),
        "accuracy": hits / len(rows),
        "predictions": {row["file"]: found for found, row in zip(classes, rows)},
    }
    with open(os.path.join(out, "predictions.json"), "w") as file:
        file.write(json.dumps(result, indent=0) + "\n")
    return result["accuracy"]


def import_everything():
    """What the team's other scripts use; they share this file as their start."""
    import asyncio  # noqa: F401
    import multiprocessing.managers  # noqa: F401
    import numpy.testing  # noqa: F401
    import PIL.ImageDraw  # noqa: F401
    import PIL.ImageFilter  # noqa: F401
    import PIL.ImageFont  # noqa: F401
    import sqlite3  # noqa: F401
    import torch.distributed.optim  # noqa: F401
    import torch.utils.benchmark  # noqa: F401
    import torch.utils.mobile_optimizer  # noqa: F401
    import xmlrpc.client  # noqa: F401


def main():
    args = parse_arguments()
    threads = set_threads(args.threads)
    import torch

    from report import Report

    if not args.lazy_imports:
        import_everything()
    report = Report()
    report.add("import", STARTED, time.time())
    with report.phase("startup"):
        torch.set_num_threads(threads)
        os.makedirs(args.out, exist_ok=True)
        with open(os.path.join(args.data, "labels.json")) as file:
            rows = json.load(file)["images"]
        rows = rows[: args.limit] if args.limit else rows
        model = load_model(args.data)
    if args.verify:
        with report.phase("verify"):
            verify_inputs(args.data, rows)
    with report.phase("startup"):
        cache = open_cache(args.cache, args.data, rows) if args.cache else None
        loader = make_loader(args, Images(args.data, rows, cache))
        evaluation = Evaluation(args, rows, model, report)
    with torch.inference_mode(args.inference_mode):
        for view in VIEWS:
            evaluation.run_view(loader, view)
    with report.phase("teardown"):
        evaluation.log.close()
        accuracy = write_predictions(args.out, rows, evaluation.totals)
    report.work(len(rows))
    report.metric("accuracy", accuracy)
    report.write()
    print(f"{len(rows)} images, accuracy {accuracy:.4f}, {time.time() - STARTED:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
