"""The evaluated model: a small vision transformer over 3x3 patches of a 96x96 image."""

import torch
from torch import nn

IMAGE_SIZE = 96
PATCH = 32
TOKENS = (IMAGE_SIZE // PATCH) ** 2
CLASSES = 10
WIDTH = 384
DEPTH = 4
HEADS = 8


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            self.qkv(self.norm1(x))
            .reshape(batch, tokens, 3, self.heads, width // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.project(mixed)
        return x + self.contract(nn.functional.gelu(self.expand(self.norm2(x))))


class Classifier(nn.Module):
    """Forward returns the logits and, for the range check, what each block put out."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.position = nn.Parameter(torch.randn(1, TOKENS, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(Block(WIDTH, HEADS) for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def features(self, images):
        side = IMAGE_SIZE // PATCH
        patches = (
            images.reshape(-1, 3, side, PATCH, side, PATCH)
            .permute(0, 2, 4, 1, 3, 5)
            .reshape(-1, TOKENS, 3 * PATCH * PATCH)
        )
        x = self.embed(patches) + self.position
        outputs = [x]
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        return self.norm(x).mean(dim=1), outputs

    def forward(self, images):
        pooled, outputs = self.features(images)
        return self.head(pooled), outputs
