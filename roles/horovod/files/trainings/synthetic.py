"""A benchmark with a model shaped like ResNet-50 and made-up pictures, in the form of the known Horovod benchmarks.

The model has the layers and the 25,557,032 weights of ResNet-50, so that its gradients load the network as that model's
do; a narrower one, for machines without GPUs, is reported as what it is. The data are made once and stay in memory:
neither disks nor decoders are measured.
"""

from __future__ import annotations

import math
import statistics
import time

import engines

BLOCKS = (3, 4, 6, 3)  # of the four stages of ResNet-50
EXPANSION = 4
# A GPU of today does ten steps in a fifth of a second.
LEAST_STEPS, LEAST_S = 10, 1.0
WIDTH = 64  # channels of the first stage of ResNet-50


def block_of(nn, entering, width, stride):
    """A bottleneck: narrow, look around, widen; what came in is added at the end."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            leaving = width * EXPANSION
            self.way = nn.Sequential(
                nn.Conv2d(entering, width, 1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
                nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
                nn.Conv2d(width, leaving, 1, bias=False),
                nn.BatchNorm2d(leaving),
            )
            self.past = nn.Identity()
            if stride != 1 or entering != leaving:
                self.past = nn.Sequential(
                    nn.Conv2d(entering, leaving, 1, stride=stride, bias=False), nn.BatchNorm2d(leaving)
                )
            self.end = nn.ReLU(inplace=True)
            # A block begins as the identity (arXiv 1706.02677, 5.1): fp16 holds the gradients of the first steps.
            nn.init.zeros_(self.way[-1].weight)

        def forward(self, seen):
            return self.end(self.way(seen) + self.past(seen))

    return Block()


def model_of(torch, classes, first=WIDTH):
    """ResNet-50, layer by layer."""
    nn = torch.nn
    layers = [
        nn.Conv2d(3, first, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(first),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, stride=2, padding=1),
    ]
    entering = first
    for stage, blocks in enumerate(BLOCKS):
        width = first * 2**stage
        for number in range(blocks):
            layers.append(block_of(nn, entering, width, 2 if stage and number == 0 else 1))
            entering = width * EXPANSION
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(entering, classes))


def spread(rates):
    """(mean, half of the range in which 95 of 100 values are expected) of the rates."""
    return statistics.fmean(rates), 1.96 * statistics.pstdev(rates)


def steps_of(seconds):
    """How many steps an iteration has where one takes so long: enough that a moment's disturbance does not show."""
    return max(LEAST_STEPS, math.ceil(LEAST_S / seconds)) if seconds > 0 else LEAST_STEPS


def train(engine, options):
    """Warm up, then measure every iteration of so many steps."""
    torch = engine.torch
    torch.manual_seed(options.seed * 1000 + engine.rank)
    torch.backends.cudnn.benchmark = True
    model = model_of(torch, options.classes, options.width).to(engine.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate)
    model, optimizer = engine.distribute(model, optimizer, options.fp16_allreduce)
    pictures = torch.randn(options.batch, 3, options.image_size, options.image_size, device=engine.device)
    kinds = torch.randint(options.classes, (options.batch,), device=engine.device)

    def steps(count):
        loss = None
        for _step in range(count):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(pictures), kinds)
            loss.backward()
            optimizer.step()
        engine.wait()
        return None if loss is None else float(loss.detach())

    unit = "GPU" if engine.on_gpu else "CPU"
    report = engines.report if engine.rank == 0 else _hush
    name = "resnet50" if options.width == WIDTH else f"resnet50-width{options.width}"
    report(f"Model: {name}", f"Batch size: {options.batch}", f"Number of {unit}s: {engine.size}")
    report("Running warmup...")
    steps(options.warmup // 2)
    begun, timed = time.perf_counter(), options.warmup - options.warmup // 2
    steps(timed)
    warm = (time.perf_counter() - begun) / timed if timed else 0.0
    count = options.steps or steps_of(engine.first(warm))
    report("Running benchmark...")
    rates, losses = [], []
    for iteration in range(options.iterations):
        begun = time.perf_counter()
        losses.append(steps(count))
        seconds = time.perf_counter() - begun
        rates.append(options.batch * count / seconds)
        if not math.isfinite(losses[-1]):
            raise ArithmeticError(f"the loss is {losses[-1]} in iteration {iteration}; a lower learning rate may help")
        report(f"Iter #{iteration}: {rates[-1]:.1f} img/sec per {unit}")
        engines.say(
            "iteration",
            rank=engine.rank,
            iteration=iteration,
            loss=round(losses[-1], 6),
            samples_per_s=round(rates[-1], 1),
            seconds=round(seconds, 4),
        )
    mean, around = spread(rates)
    report(f"Img/sec per {unit}: {mean:.1f} +-{around:.1f}")
    report(f"Total img/sec on {engine.size} {unit}(s): {engine.size * mean:.1f} +-{engine.size * around:.1f}")
    ends = {"loss_first": round(losses[0], 6), "loss_last": round(losses[-1], 6)}
    engines.say("end", rank=engine.rank, weights=engines.digest(model), **ends)


def _hush(*_lines):
    """Only rank 0 speaks to people."""


def parser():
    """The options of this benchmark."""
    made = engines.arguments(__doc__.splitlines()[0], iterations=10, batch=32, learning_rate=0.01)
    made.add_argument("--warmup", type=engines.natural, default=10, help="steps before anything is measured")
    made.add_argument(
        "--steps", type=engines.natural, default=0, help="steps of one iteration; 0: as many as take a second, and ten"
    )
    made.add_argument("--image-size", type=engines.positive, default=224, help="pixels of a side")
    made.add_argument("--width", type=engines.positive, default=WIDTH, help="channels of the first stage")
    made.add_argument("--classes", type=engines.positive, default=1000)
    return made


if __name__ == "__main__":
    engines.run(train, parser().parse_args())
