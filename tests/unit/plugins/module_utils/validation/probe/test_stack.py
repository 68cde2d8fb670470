"""DCGM and GPUDirect Storage are measured where the request names them, and only there."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import probes

from .. import stack_texts as texts
from .healthy import healthy, requested

STATS = "/proc/driver/nvidia-fs/stats"
ALL = {"dcgm_level": 2, "dcgm_health": True, "gds": True, "gds_file": "/data/x"}
ANSWERS = {
    "dcgmi diag": texts.HEALTHY_DIAG,
    "dcgmi health": texts.HEALTH,
    "gdscheck": texts.GDS_OK,
    "gdsio": texts.GDSIO.format(transfer="GPUD"),
}


def measure(guest, **changes):
    found, outputs = probes.measured(requested(**{**ALL, **changes}), guest, guest.files)
    return {one["check"]: one for one in found}, outputs


@pytest.fixture
def guest(tmp_path):
    made = healthy(tmp_path, ANSWERS)
    made.files.write(STATS, texts.stats(reads=10, maps=2))
    made.files.write("/data/x", "x" * (3 << 20))
    return made


def test_nothing_of_the_stack_runs_unless_requested(guest):
    found, dummy = probes.measured(requested(), guest, guest.files)
    assert not {one["check"] for one in found} & {"guest.dcgm", "guest.gds", "guest.gds_read", "guest.dcgm_health"}


def test_the_diagnostic_has_the_level_of_the_site_and_its_time_limit(guest):
    found, outputs = measure(guest)
    one = found["guest.dcgm"]
    assert (one["status"], one["version"], one["readings"]["level"]) == ("done", "4.2.3", 2)
    assert one["command"] == ["dcgmi", "diag", "--run", "2", "--json"]
    assert guest.limits["dcgmi diag --run 2 --json"] == 900
    assert '"DCGM Diagnostic"' in outputs["guest.dcgm"]


def test_a_failed_test_of_the_diagnostic_is_a_measurement(tmp_path):
    text = texts.diag(texts.case("memory", texts.result(1, "Fail", texts.MEMORY)))
    found, dummy = measure(healthy(tmp_path, {"dcgmi diag": (226, text)}), checks=["guest.dcgm"])
    assert (found["guest.dcgm"]["status"], found["guest.dcgm"]["readings"]["tests"][0]["status"]) == ("done", "fail")


def test_the_health_watches_are_read_after_the_timed_runs_alone(guest):
    assert "guest.dcgm_health" not in measure(guest)[0]
    found, outputs = measure(guest, phase="after")
    assert found["guest.dcgm_health"]["readings"] == {"overall": "Healthy", "incidents": []}
    assert "guest.dcgm_health" in outputs
    assert "guest.dcgm" not in found


def test_the_read_test_reads_the_file_of_the_site_and_writes_nothing(guest):
    found, outputs = measure(guest)
    one = found["guest.gds_read"]
    words = "gdsio -f /data/x -d 0 -w 1 -s 3M -i 1M -x 0 -I 0 -T 5"
    assert " ".join(one["command"]) == words
    assert one["readings"]["counter"] == "reads"
    assert "Throughput" in outputs["guest.gds_read"]
    assert "NVFS statistics" in outputs["guest.gds_read"]


@pytest.mark.parametrize(
    "first, last, moved, counter",
    [
        (texts.stats(reads=10, maps=2), texts.stats(reads=25, maps=4), 15, "reads"),
        # A module that does not count reads still counts the mappings of GPU memory.
        (texts.stats(maps=2), texts.stats(maps=3), 1, "maps"),
        (texts.stats(maps=2), texts.stats(maps=2), 0, "maps"),
    ],
)
def test_the_counters_of_the_module_show_the_path(guest, first, last, moved, counter):
    guest.files.write(STATS, first)
    run = guest.run

    def then(argv, **options):
        done = run(argv, **options)
        if argv[0] == "gdsio":
            guest.files.write(STATS, last)
        return done

    guest.run = then
    reported = measure(guest)[0]["guest.gds_read"]["readings"]
    assert (reported["moved"], reported["counter"]) == (moved, counter)


@pytest.mark.parametrize(
    "change, check, status, why",
    [
        ({"dcgmi diag": (255, texts.NO_ENGINE)}, "guest.dcgm", "failed", "unable to establish a connection"),
        ({"dcgmi diag": (127, "")}, "guest.dcgm", "missing", "The program dcgmi is missing."),
        ({"gdsio": (1, texts.GDSIO.format(transfer="GPUD"))}, "guest.gds_read", "failed", "exited with status 1"),
    ],
)
def test_a_tool_that_fails_has_its_reason(guest, change, check, status, why):
    guest.answers.update(change)
    one = measure(guest)[0][check]
    assert one["status"] == status
    assert why in one["why"]


@pytest.mark.parametrize(
    "name, content, why",
    [("/data/none", None, "does not exist"), ("/data/small", "x", "has 1 bytes"), ("/data", None, "does not exist")],
)
def test_a_file_that_cannot_be_read_is_named(guest, name, content, why):
    if content is not None:
        guest.files.write(name, content)
    one = measure(guest, gds_file=name)[0]["guest.gds_read"]
    assert one["status"] == "failed"
    assert why in one["why"]


def test_the_tools_below_cuda_are_found(guest):
    guest.files.write("/usr/local/cuda/gds/tools/gdscheck.py", "")
    guest.answers["/usr/local/cuda/gds/tools/gdscheck.py -p"] = texts.GDS_OK
    assert measure(guest)[0]["guest.gds"]["command"] == ["/usr/local/cuda/gds/tools/gdscheck.py", "-p"]
