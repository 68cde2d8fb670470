"""Checks of DCGM and of GPUDirect Storage, from the output of the tools to the row."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import dcgm, gds

from . import stack_texts as texts
from .world import World

ALL = {"dcgm_diag": 1, "dcgm_health": True, "gds": True, "gds_file": "/data/x"}


def verdict(check, values, gpus=1, **intent):
    """(verdict, measured, why) of the row of one guest."""
    lab = World(1, "sriov", stack=ALL, gpus_per_guest=gpus, **intent)
    gpu = {"name": "NVIDIA A100-40C"}
    lab.set("guest.driver", driver="550.54.15", gpus=[gpu] * gpus)
    if check == "guest.gds_read":
        lab.add("guest.gds", "job-01", **gds.check(texts.GDS_OK))
    lab.add(check, "job-01", **values)
    row = next(row for row in lab.judged()["rows"] if row["check"] == check)
    return row["verdict"], row["measured"], row["why"]


def test_a_diagnostic_of_dcgm_4_is_read():
    reported = dcgm.diag(texts.HEALTHY_DIAG)
    assert (reported["why"], reported["version"], reported["driver"], reported["gpus"]) == (
        "",
        "4.2.3",
        "550.54.15",
        [0, 1],
    )
    assert [(one["name"], one["category"], one["status"]) for one in reported["tests"]] == [
        ("software", "Deployment", "pass"),
        ("memory", "Hardware", "pass"),
    ]


# Results of a single GPU have another name in some releases.
@pytest.mark.parametrize("key", ["gpu_ids", "gpu_id"])
def test_a_diagnostic_of_dcgm_3_is_read(key):
    reported = dcgm.diag(
        texts.DIAG_3.replace('{"gpu_ids" : "0"', f'{{"{key}" : "0"').replace('"gpu_ids" : "1"', f'"{key}" : "1"')
    )
    assert (reported["why"], reported["version"], reported["driver"], reported["gpus"]) == (
        "",
        "3.3.5",
        "535.129.03",
        [0, 1],
    )
    assert [one["status"] for one in reported["tests"]] == ["pass", "pass", "fail"]
    assert reported["tests"][2]["findings"] == [
        {"status": "fail", "gpu": "1", "text": "Too many retired pages.", "setting": False}
    ]


@pytest.mark.parametrize(
    "read, text, why, code",
    [
        (
            dcgm.diag,
            texts.NO_ENGINE,
            "dcgmi diag failed: unable to establish a connection to the specified host: localhost.",
            "no_dcgm",
        ),
        (
            dcgm.health,
            texts.NO_WATCHES,
            "dcgmi health failed: Health watches not enabled. Please enable watches.",
            "no_watches",
        ),
        (
            dcgm.diag,
            json.dumps({"DCGM Diagnostic": {"runtime_error": "Unable to run diagnostic on unsupported GPU 0."}}),
            "dcgmi diag failed: Unable to run diagnostic on unsupported GPU 0.",
            None,
        ),
        (gds.stats, "", "nvidia-fs failed: The kernel module nvidia_fs is not loaded.", None),
        (gds.read, "file open error : permission denied\n", "gdsio failed: file open error : permission denied.", None),
    ],
)
def test_a_tool_that_fails_is_no_measurement(read, text, why, code):
    reported = read(text)
    assert (reported["why"], (reported["error"] or {}).get("code")) == (why, code)


@pytest.mark.parametrize("read", [dcgm.diag, dcgm.health, gds.check, gds.read, gds.stats])
@pytest.mark.parametrize("text", ["no output of these tools", '{"DCGM Diagnostic": {"test_categories": {}}}', "[]"])
def test_another_text_is_not_understood(read, text):
    assert not read(text)["understood"]


UNKNOWN = texts.diag(texts.SOFTWARE, texts.case("memory", texts.result(0, "Not Run"), texts.result(1, "Pass")))
DIAGNOSTICS = {
    "healthy": (texts.HEALTHY_DIAG, 2, "pass", "2 of 2 tests passed", ""),
    "a GPU that no test covers": (texts.HEALTHY_DIAG, 3, "fail", "2 of 2 tests passed", "covered 2 of 3 GPUs"),
    "DCGM 3 with a bad GPU": (texts.DIAG_3, 2, "fail", "2 of 3 tests passed", "GPU Memory of DCGM failed: Too many"),
    "bad memory": (
        texts.diag(texts.SOFTWARE, texts.case("memory", texts.result(1, "Fail", texts.MEMORY), status="Fail")),
        2,
        "fail",
        "1 of 2 tests passed",
        "memory of DCGM failed: GPU 1: uncorrectable memory error.",
    ),
    "only a setting": (
        texts.diag(texts.case("software", texts.result(0, "Fail", texts.PERSISTENCE), status="Fail"), gpus=1),
        1,
        "warn",
        "0 of 1 tests passed",
        "software of DCGM reports a setting: Persistence Mode",
    ),
    "a setting and bad memory": (
        texts.diag(texts.case("software", texts.result(0, "Fail", texts.PERSISTENCE, texts.MEMORY), status="Fail")),
        1,
        "fail",
        "0 of 1 tests passed",
        "uncorrectable memory error",
    ),
    "a test with an unknown word": (UNKNOWN, 2, "fail", "1 of 2 tests passed", "memory of DCGM has no result"),
    "everything skipped": (
        texts.diag(texts.case("memory", texts.result(0, "Skip"), status="Skip")),
        1,
        "not_run",
        None,
        "DCGM skipped all tests: memory.",
    ),
    "a part skipped": (
        texts.diag(texts.SOFTWARE, texts.case("pcie", texts.result(0, "Skip"), status="Skip")),
        2,
        "pass",
        "1 of 2 tests passed",
        "DCGM skipped pcie.",
    ),
}


@pytest.mark.parametrize("text, gpus, expected, measured, why", DIAGNOSTICS.values(), ids=DIAGNOSTICS)
def test_rows_of_the_diagnostic(text, gpus, expected, measured, why):
    reported = dcgm.diag(text)
    found = verdict("guest.dcgm", {**reported, "level": 1}, gpus)
    assert found[:2] == (expected, measured)
    assert why in found[2]


@pytest.mark.parametrize(
    "text, expected, why",
    [
        (texts.HEALTH, ("pass", "Healthy"), ""),
        (
            texts.UNHEALTHY,
            ("fail", "Failure"),
            "DCGM reports GPU 1 Memory system: A DBE has occurred on GPU 1. Drain the GPU.",
        ),
        (texts.HEALTH.replace("Healthy", "Warning"), ("warn", "Warning"), "DCGM reports Warning."),
    ],
)
def test_rows_of_the_health_watches(text, expected, why):
    found = verdict("guest.dcgm_health", dcgm.health(text))
    assert (found[:2], found[2]) == (expected, why)


def checked(**changes):
    words = {"nvme": "Supported", "forced": "false", "gpu": "supports GDS", "platform": "succeeded", **changes}
    return gds.check(texts.GDSCHECK.format(**words))


def test_a_check_of_the_platform_is_read():
    reported = checked()
    assert (reported["version"], reported["module"], reported["storage"], reported["forced"]) == (
        "1.13.1.3",
        "2.24",
        ["NVMe"],
        False,
    )
    assert reported["gpus"] == [{"index": 0, "name": "NVIDIA H100 80GB HBM3", "supported": True}]


@pytest.mark.parametrize(
    "reported, expected, why",
    [
        (checked(), ("pass", "NVMe"), ""),
        (checked(nvme="nvfs, compat"), ("pass", "NVMe"), ""),
        (checked(nvme="compat"), ("fail", "no storage"), "nvidia_fs serves no storage"),
        (checked(gpu="does not support GDS"), ("fail", "NVMe"), "does not support NVIDIA H100 80GB HBM3."),
        (checked(forced="true"), ("fail", "NVMe"), "cuFile must use its compatibility mode"),
        (checked(platform="failed"), ("fail", "NVMe"), "gdscheck cannot verify the platform"),
    ],
)
def test_rows_of_the_platform(reported, expected, why):
    found = verdict("guest.gds", reported)
    assert found[:2] == expected
    assert why in found[2]


@pytest.mark.parametrize(
    "transfer, moved, expected, why",
    [
        ("GPUD", 16740, "pass", ""),
        # gdsio names the direct transfer in compatibility mode too.
        ("GPUD", 0, "fail", "was a copy through host memory: nvidia_fs counted nothing."),
        ("CPU_GPU", 3, "fail", "gdsio reports the transfer CPU_GPU instead of GPUD."),
    ],
)
def test_rows_of_the_read(transfer, moved, expected, why):
    reported = gds.read(texts.GDSIO.format(transfer=transfer))
    found = verdict("guest.gds_read", {**reported, "file": "/data/x", "moved": moved, "counter": "reads"})
    assert found[:2] == (expected, 3.27345)
    assert why in found[2]


def test_checks_that_the_site_does_not_request_are_left_out_with_the_option():
    rows = {row["check"]: row for row in World(1, "sriov").judged()["rows"]}
    assert {check: rows[check]["verdict"] for check in ("guest.dcgm", "guest.gds")} == {
        "guest.dcgm": "skipped",
        "guest.gds": "skipped",
    }
    assert rows["guest.dcgm"]["why"] == "The site does not request this check: site.stack.dcgm.diag is not set."
