"""The built-in trainings: their arithmetic, and what they say when they cannot begin. PyTorch is not needed here."""

from __future__ import annotations

import argparse
import ast
import collections
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TRAININGS = ROOT / "roles/horovod/files/trainings"
FILES = sorted(TRAININGS.glob("*.py"))


@pytest.fixture(scope="module", name="of")
def _of():
    """Load a training as Python does when it is started: its folder comes first."""
    sys.path.insert(0, str(TRAININGS))
    names = ("engines", "small", "synthetic", "all_reduce", "ray_cluster")
    try:
        yield collections.namedtuple("Trainings", names)(*(_load(name) for name in names))
    finally:
        sys.path.remove(str(TRAININGS))
        for name in names:
            sys.modules.pop(name, None)


def _load(name):
    spec = importlib.util.spec_from_file_location(name, TRAININGS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_images_with_an_old_python_can_run_a_training(file):
    ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_a_rank_in_an_actor_of_ray_has_the_environment_of_torchrun(of):
    places = of.ray_cluster.places_of("10.0.0.1=2,10.0.0.2=1")
    assert [place[1:] for place in places] == [(0, 0, 2), (1, 1, 2), (2, 0, 1)]
    assert of.ray_cluster.environment_of(places[2], 3, "10.0.0.1", 29500) == {
        "RANK": "2",
        "WORLD_SIZE": "3",
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "29500",
    }


def test_a_rank_in_an_actor_of_ray_hands_on_its_lines_and_its_status(of):
    rank = of.ray_cluster.Rank({"RANK": "1"}, ["sh", "-c", "echo rank $RANK; exit 3"])
    rank._process.wait()
    assert rank.read() == (["rank 1"], 3)


def test_a_head_of_ray_that_does_not_start_ends_with_its_status(of, capfd):
    assert of.ray_cluster.main(["head", "--start", "sh -c 'exit 7'", "--", "true"]) == 7
    assert "ray start ended with 7" in capfd.readouterr().out


def test_a_worker_of_ray_waits_for_its_head_with_a_limit(of, capfd):
    argv = ["worker", "--address", "127.0.0.1:1", "--head-node", "127.0.0.1:1", "--wait", "0", "--start", "true"]
    assert of.ray_cluster.main(argv) == 3
    assert "The head of Ray does not answer at 127.0.0.1:1" in capfd.readouterr().out


def test_a_worker_of_ray_waits_until_the_node_of_the_head_is_there_too(of, capfd):
    with socket.create_server(("127.0.0.1", 0)) as server:
        head = f"127.0.0.1:{server.getsockname()[1]}"
        argv = ["worker", "--address", head, "--head-node", "127.0.0.1:1", "--wait", "0", "--start", "true"]
        assert of.ray_cluster.main(argv) == 3
    assert "The head of Ray does not answer at 127.0.0.1:1 after 0 seconds." in capfd.readouterr().out


def test_a_head_of_ray_whose_start_hangs_is_started_again(of, monkeypatch, tmp_path, capfd):
    stopped = []
    monkeypatch.setattr(of.ray_cluster, "LEAST_START_S", 1)
    monkeypatch.setattr(of.ray_cluster, "stop", lambda: stopped.append(1))
    monkeypatch.setattr(of.ray_cluster, "wait_for", lambda _options: ["10.0.0.1"])
    start = f"sh -c 'test -e {tmp_path}/again || {{ touch {tmp_path}/again; exec sleep 60; }}'"
    argv = ["head", "--nodes", "10.0.0.1", "--wait", "4", "--start", start, "--", "sh", "-c", "exit 5"]
    assert of.ray_cluster.main(argv) == 5
    assert stopped == [1]
    assert "ray start did not end within 1 seconds." in capfd.readouterr().out


def test_a_node_of_ray_whose_start_hangs_is_started_again(of, monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(of.ray_cluster, "LEAST_START_S", 1)
    monkeypatch.setattr(of.ray_cluster, "POLL_S", 0)
    stopped = []
    monkeypatch.setattr(of.ray_cluster, "stop", lambda: stopped.append(1))
    answers = iter([True, True, False])  # both ports; after the second start
    monkeypatch.setattr(of.ray_cluster, "reaches", lambda _address: next(answers))
    start = f"sh -c 'test -e {tmp_path}/again || {{ touch {tmp_path}/again; exec sleep 60; }}'"
    assert of.ray_cluster.main(["worker", "--address", "h:1", "--wait", "2", "--start", start]) == 0
    assert stopped == [1]
    assert "ray start did not end within 1 seconds." in capfd.readouterr().out


@pytest.mark.parametrize("joined, status", [(["10.0.0.1"], 3), (["10.0.0.1", "10.0.0.2"], 5)])
def test_a_head_of_ray_names_the_nodes_that_did_not_join(of, capfd, monkeypatch, joined, status):
    monkeypatch.setattr(of.ray_cluster, "wait_for", lambda _options: joined)
    nodes = ["head", "--nodes", "10.0.0.1,10.0.0.2", "--wait", "30", "--start", "true", "--", "sh", "-c", "exit 5"]
    assert of.ray_cluster.main(nodes) == status
    said = capfd.readouterr().out
    assert ("Ray has 1 of 2 nodes after 30 seconds. 10.0.0.2 did not join." in said) == (status == 3)


def test_the_end_of_a_head_of_ray_kills_its_server_alone(of, monkeypatch, tmp_path):
    (tmp_path / "gcs-of-test").symlink_to(shutil.which("sleep"))
    server, other = subprocess.Popen([tmp_path / "gcs-of-test", "60"]), subprocess.Popen(["sleep", "60"])
    monkeypatch.setattr(of.ray_cluster, "SERVER", "gcs-of-test")
    try:
        of.ray_cluster.end()
        assert (server.wait(10), other.poll()) == (-9, None)
    finally:
        server.kill()
        other.kill()


def test_a_head_of_ray_whose_nodes_cannot_be_counted_has_none(of):
    """There is no Ray here."""
    options = of.ray_cluster.argparse.Namespace(address="10.0.0.1:6379", wait=0, nodes="10.0.0.1")
    assert of.ray_cluster.wait_for(options) == []


def test_all_ranks_make_the_same_pictures_of_a_seed(of):
    made = of.small.pictures(5, 40)
    assert made == of.small.pictures(5, 40) != of.small.pictures(6, 40)
    assert len(made) == 40


def test_another_seed_makes_other_pictures(of):
    assert of.small.pictures(5, 40) != of.small.pictures(6, 40)


def test_every_class_has_its_share_of_the_pictures(of):
    counted = collections.Counter(kind for kind, _pixels in of.small.pictures(1, 200))
    assert counted == dict.fromkeys(range(of.small.CLASSES), 20)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
def test_no_picture_is_in_the_shares_of_two_ranks_and_shares_are_equal(of, size):
    shares = [of.small.share(list(range(100)), rank, size) for rank in range(size)]
    together = [number for one in shares for number in one]
    assert {len(one) for one in shares} == {100 // size}
    assert len(set(together)) == len(together)


def test_more_ranks_than_pictures_leave_nothing_for_anyone(of):
    assert of.small.share([0, 1, 2], 0, 4) == []


def test_a_pass_shows_every_picture_once(of):
    mine = list(range(0, 40, 2))
    seen = [number for step in range(4) for number in of.small.batch_of(mine, step, 5, seed=1)]
    assert sorted(seen) == mine


def test_the_next_pass_is_in_another_order(of):
    mine = list(range(20))
    assert of.small.batch_of(mine, 0, 20, seed=1) != of.small.batch_of(mine, 1, 20, seed=1)


def test_a_batch_larger_than_the_share_is_the_share(of):
    assert sorted(of.small.batch_of([3, 5, 8], 4, 64, seed=1)) == [3, 5, 8]


@pytest.mark.parametrize(
    "wanted,cores,ranks_here,threads",
    [
        pytest.param(0, 8, 2, 4, id="the cores are shared"),
        pytest.param(0, 2, 4, 1, id="at least one"),
        pytest.param(3, 2, 4, 3, id="what is asked for"),
        pytest.param(0, 4, 0, 4, id="a launcher that does not report"),
    ],
)
def test_threads_of_a_rank(of, wanted, cores, ranks_here, threads):
    assert of.engines.threads_of(wanted, cores, ranks_here) == threads


def test_the_spread_is_that_of_the_known_benchmark(of):
    # Rates and their summary from a published run with eight GPUs.
    rates = [1785.8, 1787.9, 1787.6, 1784.7, 1783.5, 1785.2, 1785.0, 1782.4, 1785.3, 1784.1]
    mean, around = of.synthetic.spread(rates)
    assert (f"{mean:.1f}", f"{around:.1f}") == ("1785.2", "3.1")


@pytest.mark.parametrize(
    "seconds,steps",
    [
        pytest.param(0.024, 42, id="a GPU of today"),
        pytest.param(0.2, 10, id="ten at least"),
        pytest.param(30.0, 10, id="a CPU"),
        pytest.param(0.0, 10, id="no warmup, nothing known"),
    ],
)
def test_an_iteration_lasts_long_enough_to_say_something(of, seconds, steps):
    assert of.synthetic.steps_of(seconds) == steps


def test_ranks_agree_on_a_number_of_the_first_one(of):
    # Each rank has measured another time; what all add up to is the number of rank 0 alone.
    reported = {0: 0.0237, 1: 0.0241, 2: 0.1}
    given = []
    for rank, value in reported.items():
        engine = of.engines.Engine.__new__(of.engines.Engine)
        engine.rank, engine.size = rank, len(reported)
        engine.mean = lambda number: given.append(number) or reported[0] / len(reported)
        assert engine.first(value) == pytest.approx(reported[0])
    assert given == [reported[0], 0.0, 0.0]


def test_what_is_reported_together_goes_out_in_one_piece(of, monkeypatch):
    pieces, write = [], os.write
    monkeypatch.setattr(of.engines.os, "write", lambda _file, data: pieces.append(data) or len(data))
    of.engines.report("Model: resnet50", "Batch size: 2")
    of.engines.say("end", rank=0)
    monkeypatch.setattr(of.engines.os, "write", write)
    assert pieces == [b"Model: resnet50\nBatch size: 2\n", b'AIREADY {"event": "end", "rank": 0}\n']


def test_trainings_print_by_what_keeps_lines_whole():
    calls = [node for path in FILES for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    printing = [ast.unparse(call) for call in calls if getattr(call.func, "id", "") == "print"]
    assert [call for call in printing if "stderr" not in call] == []


def test_an_event_is_one_line_in_one_piece(of, capfd):
    of.engines.say("end", rank=1, weights="ab")
    out = capfd.readouterr().out
    assert out == 'AIREADY {"event": "end", "rank": 1, "weights": "ab"}\n'


@pytest.mark.parametrize("text, size", [("8", 8), ("8k", 8192), ("8M", 8 * 2**20), ("1G", 2**30)])
def test_sizes_are_those_of_nccl_tests(of, text, size):
    assert of.all_reduce.bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "M", "0", "-1M", "1T"])
def test_what_is_no_size_is_refused(of, text):
    with pytest.raises(argparse.ArgumentTypeError, match="is no size"):
        of.all_reduce.bytes_of(text)


@pytest.mark.parametrize(
    "least, most, step, factor, on_gpu, sizes",
    [
        (8, 64, 1, 2, True, [8, 16, 32, 64]),
        (8, 20, 6, 1, True, [8, 12, 20]),
        (9, 9, 1, 2, True, [8]),
        (2, 2, 1, 2, True, [4]),
        (16, 8, 1, 2, True, []),
        (8 * 2**20, 2**30, 1, 2, False, [8 * 2**20, 16 * 2**20]),
        (64 * 2**20, 2**30, 1, 2, False, [64 * 2**20]),
    ],
    ids=["by a factor", "by a step", "whole floats", "one float", "none", "on CPUs", "large on CPUs"],
)
def test_a_sweep_has_the_sizes_of_nccl_tests(of, least, most, step, factor, on_gpu, sizes):
    assert of.all_reduce.sizes_of(least, most, step, factor, on_gpu) == sizes


@pytest.mark.parametrize("ranks, bus", [(1, 0.0), (2, 4.0), (4, 6.0), (8, 7.0)])
def test_the_bandwidth_of_the_bus_follows_from_the_ranks(of, ranks, bus):
    assert of.all_reduce.bandwidths(4 * 10**9, 1.0, ranks) == (4.0, bus)
    assert of.all_reduce.bandwidths(4, 0.0, ranks) == (0.0, 0.0)


class Floats:
    """The few words of a tensor that filling and comparing use; a slice is a view."""

    def __init__(self, base, begin=0, end=None):
        self.base, self.begin, self.end = base, begin, len(base) if end is None else end

    @property
    def values(self):
        return self.base[self.begin : self.end]

    def __len__(self):
        return self.end - self.begin

    def __getitem__(self, some):
        begin, end, _step = some.indices(len(self))
        return Floats(self.base, self.begin + begin, self.begin + end)

    def copy_(self, other):
        self.base[self.begin : self.end] = other.values

    def add_(self, more):
        self.base[self.begin : self.end] = [value + more for value in self.values]

    def __mul__(self, factor):
        return Floats([value * factor for value in self.values])

    def __add__(self, more):
        return Floats([value + more for value in self.values])

    def __ne__(self, other):
        return Floats([one != two for one, two in zip(self.values, other.values, strict=True)])

    __hash__ = None

    def sum(self):
        return sum(self.values)


def test_a_wrong_value_is_counted(of):
    pattern, ranks = Floats([0, 1, 2]), 3
    parts = [Floats([9] * 8) for _rank in range(ranks)]
    for rank, part in enumerate(parts):
        of.all_reduce.fill(part, pattern, rank)
    assert parts[1].values == [2, 3, 4, 2, 3, 4, 2, 3]
    reduced = [sum(values) for values in zip(*(part.values for part in parts), strict=True)]
    assert of.all_reduce.wrong_values(Floats(reduced), pattern, ranks) == 0
    reduced[0], reduced[7] = 0, reduced[7] + 1
    assert of.all_reduce.wrong_values(Floats(reduced), pattern, ranks) == 2


@pytest.mark.parametrize("wrong", [["-g", "2"], ["-d", "half"], ["-b", "1T"], ["-z", "1"], ["--engine", "horovod"]])
def test_an_option_of_nccl_tests_that_is_not_measured_is_refused(of, wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        of.all_reduce.parser().parse_args(wrong)
    assert stopped.value.code == 2
    assert wrong[0] in capsys.readouterr().err


def test_the_options_of_nccl_tests_have_their_letters(of):
    reported = of.all_reduce.parser().parse_args(["-b", "8M", "-e", "1G", "-f", "2", "-n", "2", "-w", "1", "-c", "0"])
    assert (reported.minbytes, reported.maxbytes, reported.stepfactor) == (2**23, 2**30, 2)
    assert (reported.iters, reported.warmup_iters, reported.check) == (2, 1, 0)


@pytest.mark.parametrize("training", ["small", "synthetic"])
@pytest.mark.parametrize(
    "wrong", [["--batch", "0"], ["--iterations", "-1"], ["--engine", "magic"], ["--threads", "-1"]]
)
def test_a_wrong_option_is_refused_before_anything_is_loaded(of, training, wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        getattr(of, training).parser().parse_args(wrong)
    assert stopped.value.code == 2
    assert wrong[0] in capsys.readouterr().err


TORCH = """
__version__ = "2.0"
class cuda:
    is_available = staticmethod(lambda: False)
class distributed:
    is_available = staticmethod(lambda: True)
device = str
"""
MISSING = "raise ImportError('No module named {0}')\n"


@pytest.fixture
def start(tmp_path):
    """Start a training with modules of these texts: (status, event, stderr)."""

    def run(*arguments, training="small.py", environment=None, **modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        kept = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        env = {**kept, "PYTHONPATH": str(tmp_path), **(environment or {})}
        argv = [sys.executable, str(TRAININGS / training), *arguments]
        done = subprocess.run(argv, check=False, env=env, capture_output=True, text=True, timeout=60)
        lines = done.stdout.splitlines()
        assert [line.partition(" ")[0] for line in lines] == ["AIREADY"]
        return done.returncode, json.loads(lines[0].partition(" ")[2]), done.stderr

    return run


REFUSALS = [
    pytest.param([], {"torch": MISSING.format("torch")}, "PyTorch cannot be imported in this image", id="no PyTorch"),
    pytest.param(
        [],
        {"torch": TORCH, "horovod": MISSING.format("horovod")},
        "Horovod cannot be imported in this image: No module named horovod. "
        "Use an image that holds Horovod for PyTorch, or --engine torchrun.",
        id="no Horovod",
    ),
    pytest.param(
        ["--engine", "torchrun"],
        {"torch": TORCH},
        "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR is not in the environment, so this was not started by torchrun. "
        "Start it with python3 -m torch.distributed.run, or use --engine horovod.",
        id="not under torchrun",
    ),
    pytest.param(
        ["--device", "cuda"],
        {"torch": TORCH},
        "A GPU is asked for and PyTorch sees none. Give one to the container, or use --device cpu.",
        id="no GPU",
    ),
]


@pytest.mark.parametrize("training", ["small.py", "synthetic.py"])
@pytest.mark.parametrize("arguments,modules,reason", REFUSALS)
def test_a_training_that_cannot_begin_says_why(start, training, arguments, modules, reason):
    status, event, reported = start(*arguments, training=training, **modules)
    assert status == 2
    assert event["event"] == "failed"
    assert event["reason"].startswith(reason)
    assert f"This rank has failed: {reason}" in reported


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_RANK", "HOROVOD_RANK", "RANK"])
def test_a_failure_names_its_rank_where_the_launcher_reported_it(start, name):
    _status, event, _reported = start(torch=MISSING.format("torch"), environment={name: "3"})
    assert event["rank"] == 3
