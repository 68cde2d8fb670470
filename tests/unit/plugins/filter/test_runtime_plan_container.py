"""The container that proves an engine has its problem in words, with a hint for the fix."""

from __future__ import annotations

import pytest

from unit.plugins.filter.test_runtime_plan import plan

ON_HOST = "GPU 0: NVIDIA A100 (UUID: GPU-57abc772-1dd3)\n  MIG 1g.5gb Device 0: (UUID: MIG-aa11-22/7/0)\n"
JOURNAL = "Check the journal of the engine."


@pytest.mark.parametrize(
    "container, problem",
    [
        ({"rc": 0, "stdout": ON_HOST}, ""),
        (
            {"rc": 0, "stdout": "GPU 0: NVIDIA A100 (UUID: GPU-57abc772-1dd3)\n"},
            f"a container of proof:1 does not see MIG-aa11-22/7/0. {JOURNAL}",
        ),
        ({"rc": 0}, f"a container of proof:1 does not see GPU-57abc772-1dd3, MIG-aa11-22/7/0. {JOURNAL}"),
        ({}, f"a container of proof:1 did not run (not tried): no error output. {JOURNAL}"),
        (
            {"rc": 125, "stderr": "a\nunknown runtime", "stderr_lines": ["a", "unknown runtime"]},
            "a container of proof:1 did not run (125): unknown runtime. "
            "Check with `nvidia-smi` that the driver of the guest is loaded.",
        ),
    ],
    ids=["all", "one is missing", "none", "not run", "failed"],
)
def test_the_container_proves_that_it_sees_every_gpu_of_the_guest(container, problem):
    found = plan(seen={"host_gpus": {"stdout": ON_HOST}, "container": container}, proof_image="proof:1")["container"]
    assert found["problem"] == problem


def test_what_the_container_saw_is_reported():
    seen = {"container": {"rc": 0, "stdout_lines": ["GPU 0: A ", "  MIG 1g: B"]}}
    assert plan(seen=seen)["container"]["success"] == "A container sees every GPU: GPU 0: A; MIG 1g: B"
    reported = plan(seen=seen, gpu=False)["container"]["success"]
    assert reported == "A container runs. GPUs were not tested, because container_runtime_gpu is off."


@pytest.mark.parametrize(
    "pull, problem",
    [
        ({"rc": 0}, ""),
        ({"rc": 124}, f"It took longer than 1800 seconds. {JOURNAL}"),
        ({}, f"The engine printed no error. {JOURNAL}"),
        ({"rc": 1, "stderr_lines": []}, f"The engine printed no error. {JOURNAL}"),
        (
            {"rc": 1, "stderr": "no such host", "stderr_lines": ["dial:", "no such host"]},
            "no such host Check that the guest reaches the registry.",
        ),
    ],
    ids=["pulled", "too slow", "not tried", "silent", "failed"],
)
def test_an_image_that_cannot_be_pulled_has_its_reason(pull, problem):
    start = "cannot pull the image proof:1. " if problem else ""
    assert plan(seen={"pull": pull}, proof_image="proof:1")["container"]["pull_problem"] == start + problem


@pytest.mark.parametrize(
    "words, hint",
    [
        ("write /var/lib: no space left on device", "Free space"),
        ("x509: certificate signed by unknown authority", "ca_file"),
        ("Error: unauthorized: access denied", "a login"),
        ("manifest unknown: manifest unknown", "the tag of the image"),
        ("repository proof not found", "the tag of the image"),
        ("dial tcp: lookup reg.example: no such host", "reaches the registry"),
        ("http: server gave HTTP response to HTTPS client", "`insecure`"),
        ("nvidia-container-cli: initialization error", "`nvidia-smi`"),
        ("exec: executable file not found in $PATH", "does not contain the program"),
        ("no space left on device: denied", "Free space"),
        ("something else", "journal"),
    ],
)
def test_the_trouble_of_an_engine_comes_with_a_hint(words, hint):
    found = plan(seen={name: {"rc": 1, "stderr": words} for name in ("pull", "container")})["container"]
    assert hint in found["pull_problem"]
    assert hint in found["problem"]
