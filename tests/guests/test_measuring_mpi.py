"""The lab's programs of OSU, run by Open MPI: what they print and refuse is read as that of the real ones is."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import osu

from vsphere_twin.guests import execs, training_image
from vsphere_twin.guests.lab import Lab

LIMIT_S = 300
PROGRAMS = {
    "osu_latency": ("Latency", "us", ["-m", "8:32", "-i", "20"], 3),
    "osu_bw": ("Bandwidth", "MB/s", ["-m", "65536:131072", "-i", "2", "-x", "1"], 2),
    "osu_allreduce": ("Allreduce Latency", "us", ["-f", "-m", "4", "-i", "20"], 3),
}


@pytest.fixture(scope="module", name="container")
def _container(guests):
    client, lab = guests.twin.guests.client, Lab()
    image = training_image.measuring(client, training_image.training(client, print), print)
    made = client.containers.run(
        image, ["sleep", "infinity"], name=lab.name("mpi-test"), labels=lab.labels, shm_size="256m", detach=True
    )
    yield client.api, made.id
    made.remove(force=True, v=True)


def run(container, ranks, *words):
    """(exit status, all that was printed) of so many ranks over TCP."""
    argv = ["timeout", str(LIMIT_S), "mpirun", "--allow-run-as-root", "--tag-output", "--oversubscribe"]
    argv += ["--mca", "btl", "tcp,self", "-np", str(ranks), *words]
    done = execs.run(*container, argv)
    return done.status, done.text


@pytest.mark.parametrize("looks", [False, True], ids=["plain", "with contents"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_printed_is_read(container, program, looks):
    test, unit, words, sizes = PROGRAMS[program]
    status, text = run(container, 2, program, *words, *(["-c"] if looks else []))
    reported = osu.parse(text)
    assert (status, reported["why"]) == (0, ""), text
    assert (reported["test"], reported["unit"], len(reported["rows"])) == (test, unit, sizes)
    assert reported["wrong"] == (0 if looks else None)
    assert all(row["value"] > 0 for row in reported["rows"])


@pytest.mark.parametrize(
    "ranks, words, reported",
    [
        (1, ["osu_latency"], "exactly two processes"),
        (3, ["osu_bw"], "exactly two processes"),
        (1, ["osu_allreduce"], "at least two processes"),
        (2, ["osu_latency", "-d", "cuda"], "Invalid option [-d]"),
    ],
    ids=["alone", "three", "nobody else", "an option that it has not"],
)
def test_what_cannot_be_measured_is_refused(container, ranks, words, reported):
    status, text = run(container, ranks, *words)
    assert status != 0
    assert reported in osu.parse(text)["why"]
