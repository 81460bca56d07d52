#!/usr/bin/python3
"""Writes the evaluation's inputs: seeded JPEGs, labels.json and the model's weights.

Runs once: a directory that is complete is left alone, one that is not is made again.
"""

import argparse
import hashlib
import json
import os
import sys

import numpy as np
from PIL import Image

SIZE = 480
QUALITY = 90
VERSION = 1


def picture(index, label, classes):
    """A grating whose angle, pitch and tint are the class's, under noise of the image's own."""
    random = np.random.default_rng(1_000_003 * VERSION + index)
    angle = np.pi * label / classes + random.normal(0, 0.03)
    pitch = 21 + 6 * (label % 3)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    along = x * np.cos(angle) + y * np.sin(angle)
    wave = np.sin(2 * np.pi * along / pitch + random.uniform(0, 2 * np.pi))
    hue = 2 * np.pi * label / classes
    tint = np.array([np.cos(hue), np.cos(hue - 2.1), np.cos(hue + 2.1)]) * 34
    noise = random.normal(0, 10, (SIZE, SIZE, 3))
    pixels = 128 + 45 * wave[:, :, None] + tint + noise
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def is_complete(directory, count):
    try:
        with open(os.path.join(directory, "labels.json")) as file:
            labels = json.load(file)
        return (
            labels["version"] == VERSION
            and len(labels["images"]) == count
            and os.path.exists(os.path.join(directory, "weights.pt"))
            and all(
                os.path.getsize(os.path.join(directory, row["file"])) == row["bytes"]
                for row in labels["images"]
            )
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_images(directory, count, classes):
    rows = []
    for index in range(count):
        # Not in class order, as real sets are not; one in 25 is mislabelled, as in real sets.
        label = (index * 7 + index // classes) % classes
        name = f"image{index:05d}.jpg"
        path = os.path.join(directory, name)
        picture(index, label, classes).save(path, quality=QUALITY)
        told = (label + 1) % classes if index % 25 == 24 else label
        rows.append(
            {"file": name, "label": told, "bytes": os.path.getsize(path), "sha256": digest(path)}
        )
    return rows


def write_weights(path, seed):
    """A seeded transformer whose head is fitted, as class means, on pictures not in the set."""
    import torch

    from evaluate import to_pixels, to_tensor
    from model import CLASSES, Classifier

    torch.manual_seed(seed)
    model = Classifier().eval()
    per_class = 8
    with torch.no_grad():
        pixels = [
            to_pixels(picture(1_000_000 + n, n % CLASSES, CLASSES))
            for n in range(per_class * CLASSES)
        ]
        features, _ = model.features(to_tensor(np.stack(pixels)))
        features = features.double()
        middle = features.mean(dim=0)
        centred = features - middle
        means = torch.stack([centred[label::CLASSES].mean(dim=0) for label in range(CLASSES)])
        # Whitened by the spread within the classes, which is what makes the margins wide.
        within = centred - means.repeat(per_class, 1)
        spread = within.T @ within / len(within)
        spread += torch.eye(len(spread), dtype=torch.double) * spread.diagonal().mean() * 0.1
        weight = torch.linalg.solve(spread, means.T).T
        scale = 10 / (centred @ weight.T).abs().max()
        weight = (weight * scale).float()
        model.head.weight.copy_(weight)
        model.head.bias.copy_(
            -(weight.double() @ middle).float() - 0.5 * (weight * means.float()).sum(dim=1)
        )
    torch.save(model.state_dict(), path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--count", type=int, default=128)
    args = parser.parse_args()
    if is_complete(args.directory, args.count):
        print(f"{args.directory}: {args.count} images are there")
        return 0
    from model import CLASSES

    os.makedirs(args.directory, exist_ok=True)
    labels = os.path.join(args.directory, "labels.json")
    if os.path.exists(labels):
        os.remove(labels)
    rows = write_images(args.directory, args.count, CLASSES)
    write_weights(os.path.join(args.directory, "weights.pt"), seed=7)
    # Last and by rename: its presence says that all the rest is there.
    with open(labels + ".new", "w") as file:
        json.dump({"version": VERSION, "images": rows}, file, indent=0)
    os.replace(labels + ".new", labels)
    size = sum(row["bytes"] for row in rows)
    print(f"{args.directory}: wrote {args.count} images, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
