"""The training image from the product's recipe, and the built-in trainings in it: two ranks in one container."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from supervise.runs import ROOT
from vsphere_twin.guests import execs, training_image
from vsphere_twin.guests.lab import Lab

TRAININGS = ROOT / "roles/horovod/files/trainings"
LAUNCHERS = {
    "mpirun": ["mpirun", "--allow-run-as-root", "-np", "2", "-bind-to", "none", "-mca", "pml", "ob1"],
    "horovodrun": ["horovodrun", "--gloo", "-np", "2"],
    "torchrun": ["python3", "-m", "torch.distributed.run", "--nproc_per_node", "2"],
}
ENGINES = {"mpirun": "horovod", "horovodrun": "horovod", "torchrun": "torchrun"}
SHORT = ["--batch=2", "--image-size=32", "--warmup=1", "--steps=1", "--iterations=2", "--fp16-allreduce"]
LIMIT_S = 300


class Container:
    """A container of the training image."""

    def __init__(self, client):
        lab = Lab()
        image = training_image.training(client, print)
        name = lab.name("training-test")
        self._container = client.containers.run(
            image,
            ["sleep", "infinity"],
            name=name,
            labels=lab.labels,
            shm_size="256m",
            detach=True,
        )
        self._api = client.api
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(TRAININGS, arcname="trainings")
        self._container.put_archive("/srv", packed.getvalue())
        self.environment = client.images.get(image).attrs["Config"]["Env"]

    def run(self, *argv):
        """(exit status, stdout and stderr)."""
        done = execs.run(self._api, self._container.id, ["timeout", str(LIMIT_S), *argv])
        return done.status, done.text

    def train(self, launcher, training, *arguments):
        """(exit status, events by their kind, all lines)."""
        argv = [*LAUNCHERS[launcher]]
        argv += [] if launcher == "torchrun" else ["python3"]
        status, text = self.run(*argv, f"/srv/trainings/{training}.py", "--engine", ENGINES[launcher], *arguments)
        events = {}
        for line in text.splitlines():
            if "AIREADY " in line:
                event = json.loads(line.partition("AIREADY ")[2])
                events.setdefault(event.pop("event"), []).append(event)
        return status, events, text

    def close(self):
        self._container.remove(force=True, v=True)


@pytest.fixture(scope="module", name="image")
def _image(guests):
    container = Container(guests.twin.guests.client)
    yield container
    container.close()


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_loss_falls_and_the_weights_of_all_ranks_are_equal(image, launcher):
    status, events, text = image.train(launcher, "small")
    assert status == 0, text
    assert {(row["rank"], row["size"]) for row in events["rank"]} == {(0, 2), (1, 2)}
    assert len({row["weights"] for row in events["end"]}) == 1
    assert all(row["loss_last"] < row["loss_first"] / 2 for row in events["end"])
    assert sorted((row["rank"], row["iteration"]) for row in events["iteration"]) == [
        (rank, iteration) for rank in (0, 1) for iteration in range(40)
    ]


def test_ranks_see_different_pictures(image):
    _status, events, _text = image.train("mpirun", "small", "--iterations", "1")
    assert len({row["loss"] for row in events["iteration"]}) == 2


def test_open_mpi_is_quiet_about_memory_that_it_may_not_read(image):
    _status, _events, text = image.train("mpirun", "small", "--iterations", "2")
    assert "errno" not in text


def test_a_training_that_goes_wrong_says_which_rank_and_why(image):
    status, events, text = image.train("mpirun", "small", "--learning-rate", "1e30")
    assert status != 0
    assert "ArithmeticError: the loss is nan" in events["failed"][0]["reason"], text
    assert "end" not in events


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_benchmark_speaks_as_the_known_ones_do(image, launcher):
    status, events, text = image.train(launcher, "synthetic", *SHORT)
    assert status == 0, text
    said = [line.rpartition("]<stdout>:")[2] for line in text.splitlines()]
    assert [line.split(":")[0].split("...")[0] for line in said if "AIREADY" not in line and "img" in line.lower()] == [
        "Iter #0",
        "Iter #1",
        "Img/sec per CPU",
        "Total img/sec on 2 CPU(s)",
    ]
    assert {"Model: resnet50", "Batch size: 2", "Number of CPUs: 2", "Running benchmark..."} <= set(said)
    assert len({row["weights"] for row in events["end"]}) == 1


def test_the_benchmark_has_as_many_weights_as_resnet_50(image):
    count = "import sys; sys.path.insert(0, '/srv/trainings'); import synthetic, torch; "
    count += "print(sum(one.numel() for one in synthetic.model_of(torch, 1000).parameters()))"
    assert image.run("python3", "-c", count) == (0, "25557032\n")


def test_both_controllers_are_built(image):
    _status, text = image.run("horovodrun", "--check-build")
    assert [line.strip() for line in text.splitlines() if "[X]" in line] == [
        "[X] PyTorch",
        "[X] MPI",
        "[X] Gloo",
        "[X] MPI",
        "[X] Gloo",
    ]


@pytest.mark.parametrize("program", ["gcc", "g++", "cmake", "pip3"])
def test_what_built_it_stayed_behind(image, program):
    assert image.run("sh", "-c", f"command -v {program} || echo none") == (0, "none\n")


def test_a_server_for_ssh_is_there_and_no_key_of_one(image):
    assert image.run("ls", "/usr/sbin/sshd") == (0, "/usr/sbin/sshd\n")
    assert image.run("sh", "-c", "ls /etc/ssh/ssh_host_*")[0] != 0


def test_nothing_of_the_machine_that_built_it_is_in_it(image):
    assert [row for row in image.environment if row.split("=")[0].startswith(("PIP_", "HTTP", "http"))] == []
    assert image.run("sh", "-c", "ls /etc/pip.conf /etc/xdg/pip /build")[0] != 0
