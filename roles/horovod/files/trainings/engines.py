"""How the ranks of a training find each other and agree: Horovod, or what PyTorch has itself (torchrun).

Both stand behind the same few words, so that a training is written once. Beside PyTorch and, where it is asked for,
Horovod, only the standard library is used; PyTorch is imported late, so that a missing one is said in plain words.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import hashlib
import json
import os
import socket
import sys
import traceback

PREFIX = "AIREADY "
LAUNCHERS = ("OMPI_COMM_WORLD_RANK", "HOROVOD_RANK", "PMI_RANK", "RANK")  # where launchers say which rank this is
FAILED, REFUSED = 1, 2  # exit statuses: something went wrong in the training; it could not begin


class RefusedError(Exception):
    """The training cannot begin in this image or in this way; the text says why and what to do."""


def say(event, **data):
    """One line for machines."""
    report(PREFIX + json.dumps({"event": event, **data}))


def report(*lines):
    """Lines in one piece: ranks often share a pipe, and print without a buffer sends the end of a line apart."""
    sys.stdout.flush()
    rest = "".join(f"{line}\n" for line in lines).encode()
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest) :]


def arguments(description, **defaults):
    """The parser of options that all trainings have; each adds its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--engine", choices=("horovod", "torchrun"), default="horovod", help="who averages gradients")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU if there is one")
    parser.add_argument("--iterations", type=positive, default=defaults["iterations"], help="how often to report")
    parser.add_argument("--batch", type=positive, default=defaults["batch"], help="samples of each rank in one step")
    parser.add_argument("--learning-rate", type=float, default=defaults["learning_rate"])
    parser.add_argument("--seed", type=int, default=1, help="data and the order of samples follow from it")
    parser.add_argument("--threads", type=natural, default=0, help="of each rank on CPUs; 0: its share of the cores")
    parser.add_argument("--fp16-allreduce", action="store_true", help="send gradients in half precision")
    return parser


def positive(text):
    """A whole number of at least one, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def natural(text):
    """A whole number of at least zero, for argparse."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def threads_of(wanted, cores, ranks_here):
    """How many threads one rank uses, so that the ranks of a host do not take each other's cores."""
    return wanted or max(1, cores // max(1, ranks_here))


def run(training, options):
    """Start the engine, train, end; whatever goes wrong becomes one clear line and an exit status."""
    try:
        engine = start(options)
        training(engine, options)
        engine.stop()
    except RefusedError as problem:
        _fail(str(problem), REFUSED)
    except (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as problem:
        traceback.print_exc()
        _fail(f"{type(problem).__name__}: {problem}", FAILED)


def _fail(reason, status):
    reported = next((os.environ[name] for name in LAUNCHERS if os.environ.get(name, "").isdigit()), None)
    # Nobody may listen any more: the launcher can have died first.
    with contextlib.suppress(OSError):
        print(f"This rank has failed: {reason}", file=sys.stderr, flush=True)
        say("failed", rank=None if reported is None else int(reported), host=socket.gethostname(), reason=reason)
    # Without the usual tidying up: it would wait for the other ranks, which wait for this one.
    os._exit(status)


def start(options):
    """The engine that was asked for, when all its ranks have met."""
    try:
        import torch
    except ImportError as problem:
        raise RefusedError(
            f"PyTorch cannot be imported in this image: {problem}. Use an image that holds it."
        ) from None
    if options.device == "cuda" and not torch.cuda.is_available():
        raise RefusedError("A GPU is asked for and PyTorch sees none. Give one to the container, or use --device cpu.")
    engine = {"horovod": Horovod, "torchrun": Torchrun}[options.engine](torch, options)
    torch.set_num_threads(threads_of(options.threads, len(os.sched_getaffinity(0)), engine.ranks_here))
    event = {
        "rank": engine.rank,
        "size": engine.size,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "engine": engine.name,
        "framework": f"torch {torch.__version__}",
        "device": str(engine.device),
    }
    if engine.device.type == "cuda":
        event["device_name"] = torch.cuda.get_device_name(engine.device)
    say("rank", **event)
    return engine


class Engine:
    """What both engines are: a rank among others, with a device of its own."""

    def __init__(self, torch, options):
        self.torch = torch
        self.on_gpu = options.device == "cuda" or (options.device == "auto" and torch.cuda.is_available())
        self.device = torch.device("cpu")

    def take_device(self, place):
        """The GPU of this rank, by its place among the ranks of its host."""
        if not self.on_gpu:
            return
        count = self.torch.cuda.device_count()
        if place >= count:
            raise RefusedError(
                f"Rank {self.rank} is number {place + 1} on {socket.gethostname()}, where PyTorch sees {count} GPU(s). "
                "Start as many ranks on a host as it has GPUs."
            )
        self.torch.cuda.set_device(place)
        self.device = self.torch.device("cuda", place)

    def first(self, value):
        """The number that rank 0 has, the same to the last bit on every rank."""
        return self.mean(value if self.rank == 0 else 0.0) * self.size

    def newest(self, state, age):
        """The state of the rank whose age is the highest, on every rank."""
        raise RefusedError("Checkpoints need --engine torchrun.")

    def meet(self):
        """Until all ranks are here."""
        self.mean(0.0)

    def wait(self):
        """Wait for the GPU, because its work is asynchronous."""
        if self.device.type == "cuda":
            self.torch.cuda.synchronize(self.device)


class Horovod(Engine):
    """Ranks started by horovodrun or mpirun."""

    def __init__(self, torch, options):
        super().__init__(torch, options)
        try:
            import horovod
            import horovod.torch as hvd
        except ImportError as problem:
            raise RefusedError(
                f"Horovod cannot be imported in this image: {problem}. "
                "Use an image that holds Horovod for PyTorch, or --engine torchrun."
            ) from None
        hvd.init()
        self.hvd = hvd
        self.name = f"horovod {horovod.__version__}"
        self.rank, self.size, self.ranks_here = hvd.rank(), hvd.size(), hvd.local_size()
        self.local_rank = hvd.local_rank()
        self.take_device(self.local_rank)

    def distribute(self, model, optimizer, fp16=False):
        """Every rank gets the weights of rank 0, and gradients are averaged from here on."""
        hvd = self.hvd
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
        compression = hvd.Compression.fp16 if fp16 else hvd.Compression.none
        named = model.named_parameters()
        return model, hvd.DistributedOptimizer(optimizer, named_parameters=named, compression=compression)

    def mean(self, value):
        """The mean of a number over all ranks."""
        return float(self.hvd.allreduce(self.torch.tensor(value, dtype=self.torch.float64)))

    def stop(self):
        """Leave together with the others."""
        self.hvd.shutdown()


class Torchrun(Engine):
    """Ranks started by torchrun, which is python3 -m torch.distributed.run."""

    def __init__(self, torch, options):
        super().__init__(torch, options)
        missing = [name for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR") if name not in os.environ]
        if missing:
            raise RefusedError(
                f"{', '.join(missing)} is not in the environment, so this was not started by torchrun. "
                "Start it with python3 -m torch.distributed.run, or use --engine horovod."
            )
        if not torch.distributed.is_available():
            raise RefusedError(
                "This PyTorch is built without torch.distributed. Use another image, or --engine horovod."
            )
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.ranks_here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.take_device(self.local_rank)
        backend = "nccl" if self.on_gpu else "gloo"
        torch.distributed.init_process_group(backend)
        self.name = f"torch.distributed {backend}"

    def distribute(self, model, optimizer, fp16=False):
        """Every rank gets the weights of rank 0, and gradients are averaged from here on."""
        devices = [self.device] if self.on_gpu else None
        # Each rank keeps its own running statistics, as with Horovod; the two engines do the same work.
        model = self.torch.nn.parallel.DistributedDataParallel(model, device_ids=devices, broadcast_buffers=False)
        if fp16:
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            model.register_comm_hook(None, default_hooks.fp16_compress_hook)
        return model, optimizer

    def mean(self, value):
        """The mean of a number over all ranks."""
        total = self.torch.tensor(value, dtype=self.torch.float64, device=self.device)
        self.torch.distributed.all_reduce(total)
        return float(total) / self.size

    def newest(self, state, age):
        """The state of the rank whose age is the highest, on every rank."""
        ages = [None] * self.size
        self.torch.distributed.all_gather_object(ages, age)
        one = [state]
        self.torch.distributed.broadcast_object_list(one, src=ages.index(max(ages)))
        return one[0]

    def stop(self):
        """Leave together with the others."""
        self.torch.distributed.destroy_process_group()


def digest(model):
    """The sha256 of all weights by name: equal on two ranks if, and only if, every bit of them is."""
    total = hashlib.sha256()
    for name, weights in model.named_parameters():
        # DistributedDataParallel puts a word of its own in front of each name.
        total.update((name[len("module.") :] if name.startswith("module.") else name).encode())
        numbers = array.array("f", weights.detach().cpu().float().flatten().tolist())
        if sys.byteorder == "big":
            numbers.byteswap()
        total.update(numbers.tobytes())
    return total.hexdigest()
