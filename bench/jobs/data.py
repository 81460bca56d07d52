"""Data of the right shape for a public job, in its own folder: made here, the same each time."""
import os
import pickle
import random
import struct
import sys


def words(count):
    luck = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(luck.choice(letters) for _ in range(luck.randint(2, 8))) for _ in range(400)]
    return [luck.choice(known) for _ in range(count)]


def nanogpt():
    import numpy

    text = " ".join(words(200_000))
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    ids = numpy.array([number[letter] for letter in text], dtype=numpy.uint16)
    folder = "data/shakespeare_char"
    os.makedirs(folder, exist_ok=True)
    ids[: len(ids) * 9 // 10].tofile(folder + "/train.bin")
    ids[len(ids) * 9 // 10 :].tofile(folder + "/val.bin")
    meta = {"vocab_size": len(letters), "itos": dict(enumerate(letters)), "stoi": number}
    with open(folder + "/meta.pkl", "wb") as file:
        pickle.dump(meta, file)


def rnn():
    os.makedirs("data/small", exist_ok=True)
    all_words = words(60_000)
    parts = (("train", 0, 40_000), ("valid", 40_000, 50_000), ("test", 50_000, 60_000))
    for name, begin, end in parts:
        with open("data/small/%s.txt" % name, "w") as file:
            for at in range(begin, end, 20):
                file.write(" ".join(all_words[at : at + 20]) + "\n")


def llmc():
    """A small GPT-2 with random weights and random tokens, in the formats of train_gpt2.c."""
    import numpy

    length, vocabulary, layers, heads, channels = 64, 512, 4, 4, 128
    luck = numpy.random.default_rng(1)
    count = vocabulary * channels + length * channels
    count += layers * (12 * channels * channels + 13 * channels) + 2 * channels
    header = [20240326, 3, length, vocabulary, layers, heads, channels, vocabulary]
    with open("gpt2_124M.bin", "wb") as file:
        file.write(struct.pack("<256i", *(header + [0] * (256 - len(header)))))
        luck.normal(0, 0.02, count).astype(numpy.float32).tofile(file)
    for folder in ("dev/data/tinyshakespeare", "dev/data/tinystories"):
        os.makedirs(folder, exist_ok=True)
        for name in ("tiny_shakespeare_train", "tiny_shakespeare_val", "TinyStories_train",
                     "TinyStories_val"):
            tokens = luck.integers(0, vocabulary, 33_000).astype(numpy.uint16)
            with open("%s/%s.bin" % (folder, name), "wb") as file:
                file.write(struct.pack("<256i", *([20240520, 1, len(tokens)] + [0] * 253)))
                tokens.tofile(file)


def mnist():
    """Pictures of noise with a bar where the digit's number says, in the format of MNIST."""
    import numpy

    luck = numpy.random.default_rng(1)
    folder = "../data/MNIST/raw"
    os.makedirs(folder, exist_ok=True)
    for name, count in (("train", 3_000), ("t10k", 500)):
        digits = luck.integers(0, 10, count).astype(numpy.uint8)
        pictures = luck.integers(0, 128, (count, 28, 28)).astype(numpy.uint8)
        for picture, digit in zip(pictures, digits):
            picture[2 + 2 * digit : 4 + 2 * digit] += 127
        with open("%s/%s-images-idx3-ubyte" % (folder, name), "wb") as file:
            file.write(struct.pack(">4i", 2051, count, 28, 28) + pictures.tobytes())
        with open("%s/%s-labels-idx1-ubyte" % (folder, name), "wb") as file:
            file.write(struct.pack(">2i", 2049, count) + digits.tobytes())


def pictures():
    """Photographs of noise, 320 by 240, as JPEG in two folders by class."""
    import numpy
    from PIL import Image

    luck = numpy.random.default_rng(1)
    for part, count in (("train", 48), ("val", 16)):
        for number in range(count):
            folder = "pictures/%s/%d" % (part, number % 2)
            os.makedirs(folder, exist_ok=True)
            small = luck.integers(0, 256, (24, 32, 3)).astype(numpy.uint8)
            Image.fromarray(small).resize((320, 240)).save("%s/%d.jpg" % (folder, number))


def dlrm():
    """Its data is made as it runs; a writer of TensorBoard that is not installed writes nothing."""
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        wanted = "from torch.utils.tensorboard import SummaryWriter"
        nothing = "class SummaryWriter:\n    def __init__(self, *args):\n        pass\n\n" \
                  "    def __getattr__(self, name):\n        return lambda *args: None\n"
        with open("dlrm_s_pytorch.py") as file:
            text = file.read()
        with open("dlrm_s_pytorch.py", "w") as file:
            file.write(text.replace(wanted, nothing))


if __name__ == "__main__":
    {"nanogpt": nanogpt, "rnn": rnn, "llmc": llmc, "mnist": mnist, "imagenet": pictures,
     "dlrm": dlrm}.get(sys.argv[1], lambda: None)()  # Others bring their data along.
