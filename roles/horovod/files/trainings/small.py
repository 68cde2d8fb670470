"""A small training that really trains, on CPUs or GPUs, in well under a minute.

Small pictures of ten classes are made up from the seed, the same on every rank and in every release of PyTorch.
Each rank starts with weights of its own and sees its own share of the pictures. So the loss falls, and the weights are
equal at the end, only if weights are broadcast and gradients are averaged.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import socket
import time

import engines

SIDE = 12  # of a picture, in pixels
CLASSES = 10
PICTURES, HELD_OUT = 2048, 256
SHIFT, NOISE = 2, 0.9  # a class is hard enough that a model has to look at neighbouring pixels


def pictures(seed, count=PICTURES + HELD_OUT):
    """[(class, pixels)]: a pattern for each class, moved about a little, with noise."""
    chance = random.Random(f"pictures {seed}")
    patterns = [[[chance.gauss(0, 1) for _x in range(SIDE)] for _y in range(SIDE)] for _class in range(CLASSES)]
    made = []
    for number in range(count):
        kind = number % CLASSES
        down, right = chance.randint(-SHIFT, SHIFT), chance.randint(-SHIFT, SHIFT)
        pattern = patterns[kind]
        pixels = [
            pattern[(y + down) % SIDE][(x + right) % SIDE] + chance.gauss(0, NOISE)
            for y in range(SIDE)
            for x in range(SIDE)
        ]
        made.append((kind, pixels))
    return made


def share(numbers, rank, size):
    """The samples of one rank: none is another's, and all ranks have as many."""
    each = len(numbers) // size
    return numbers[rank::size][:each]


def batch_of(mine, iteration, size, seed):
    """The samples of one step. Each pass over the share is in an order of its own."""
    size = min(size, len(mine))
    steps = len(mine) // size
    turn, step = divmod(iteration, steps)
    order = list(mine)
    random.Random(f"order {seed} {turn}").shuffle(order)
    return order[step * size : (step + 1) * size]


def model_of(torch, width):
    """Two convolutions and a linear layer."""
    layers = torch.nn
    rest = SIDE // 4
    return layers.Sequential(
        layers.Conv2d(1, width, 3, padding=1),
        layers.ReLU(),
        layers.MaxPool2d(2),
        layers.Conv2d(width, 2 * width, 3, padding=1),
        layers.ReLU(),
        layers.MaxPool2d(2),
        layers.Flatten(),
        layers.Linear(2 * width * rest * rest, CLASSES),
    )


class Data:
    """The pictures as tensors on the device of this rank."""

    def __init__(self, engine, options):
        torch = engine.torch
        made = pictures(options.seed)
        self.kinds = torch.tensor([kind for kind, _pixels in made], device=engine.device)
        flat = torch.tensor([pixels for _kind, pixels in made], device=engine.device)
        self.pictures = flat.reshape(-1, 1, SIDE, SIDE)
        self.mine = share(list(range(PICTURES)), engine.rank, engine.size)
        if not self.mine:
            raise engines.RefusedError(f"{engine.size} ranks cannot share {PICTURES} pictures. Start fewer ranks.")

    def of(self, numbers):
        return self.pictures[numbers], self.kinds[numbers]


def train(engine, options):
    """All iterations, and what came of them."""
    torch = engine.torch
    torch.manual_seed(options.seed * 1000 + engine.rank)
    data = Data(engine, options)
    measure = torch.nn.functional.cross_entropy
    plain = model = model_of(torch, options.width).to(engine.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)
    kept = Checkpoint(engine, options, plain, optimizer)
    begin, first = kept.restore()
    model, optimizer = engine.distribute(model, optimizer, options.fp16_allreduce)
    held_out = data.of(list(range(PICTURES, PICTURES + HELD_OUT)))
    if first is None:
        first = engine.mean(look(torch, model, measure, held_out))
    for iteration in range(begin, options.iterations):
        begun = time.perf_counter()
        seen, kinds = data.of(batch_of(data.mine, iteration, options.batch, options.seed))
        optimizer.zero_grad()
        loss = measure(model(seen), kinds)
        loss.backward()
        optimizer.step()
        value = float(loss.detach())
        seconds = time.perf_counter() - begun
        if not math.isfinite(value):
            raise ArithmeticError(f"the loss is {value} in iteration {iteration}; a lower learning rate may help")
        engines.say(
            "iteration",
            rank=engine.rank,
            iteration=iteration,
            loss=round(value, 6),
            samples_per_s=round(len(kinds) / seconds, 1),
            seconds=round(seconds, 4),
        )
        kept.save(iteration, first)
    last = engine.mean(look(torch, model, measure, held_out))
    engines.say(
        "end", rank=engine.rank, weights=engines.digest(model), loss_first=round(first, 6), loss_last=round(last, 6)
    )
    kept.remove()
    if not last < first:
        raise ArithmeticError(f"the loss did not fall: {first:.4f} before the training and {last:.4f} after it")


class Checkpoint:
    """The state after an iteration in a folder, which the guests share, or of which each has its own."""

    def __init__(self, engine, options, model, optimizer):
        self.engine, self.model, self.optimizer = engine, model, optimizer
        self.every, self.file = options.checkpoint_every, None
        if options.checkpoint:
            os.makedirs(options.checkpoint, exist_ok=True)
            self.file = os.path.join(options.checkpoint, "small.pt")

    def restore(self):
        """(the iteration to begin with, the first loss of all): every rank continues from the newest checkpoint."""
        if self.file is None:
            return 0, None
        torch, found = self.engine.torch, None
        if os.path.exists(self.file):
            found = torch.load(self.file, map_location="cpu", weights_only=True)
        found = self.engine.newest(found, found["iteration"] if found else -1)
        if found is None:
            return 0, None
        self.model.load_state_dict(found["model"])
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": found["optimizer"], "param_groups": groups})
        return found["iteration"] + 1, float(found["first"])

    def save(self, iteration, first):
        """The weights are the same on all ranks, so that one rank of each guest writes them."""
        if self.file is None or (iteration + 1) % self.every or self.engine.local_rank:
            return
        torch = self.engine.torch
        # PyTorch 1.13 reads tensors and whole numbers alone from a file that it does not trust, and no fractions.
        state = {"iteration": iteration, "first": torch.tensor(first, dtype=torch.float64)}
        state.update(model=self.model.state_dict(), optimizer=self.optimizer.state_dict()["state"])
        new = f"{self.file}.{socket.gethostname()}"
        with open(new, "wb") as file:
            torch.save(state, file)
            # A guest that loses its power keeps a whole file, the former one or this one.
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.file)

    def remove(self):
        """A training that has ended leaves nothing to continue from. Another guest may share the folder."""
        self.engine.meet()
        if self.file is not None and not self.engine.local_rank:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file)


def look(torch, model, measure, sample):
    """The loss on pictures that are not trained on."""
    with torch.no_grad():
        return float(measure(model(sample[0]), sample[1]))


def parser():
    """The options of this training."""
    made = engines.arguments(__doc__.splitlines()[0], iterations=40, batch=64, learning_rate=0.03)
    made.add_argument("--width", type=engines.positive, default=32, help="of the model: how much there is to compute")
    made.add_argument("--checkpoint", default="", help="folder for checkpoints, from which a restart continues")
    made.add_argument("--checkpoint-every", type=engines.positive, default=10, help="iterations between two of them")
    return made


if __name__ == "__main__":
    engines.run(train, parser().parse_args())
