"""A task that is killed in the middle leaves nothing that the next one does not bring to its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vsphere_twin.model import depot

from .drive import connection
from .vib_lab import ESX, installed, machine, ready, software

ANSIBLE = Path(sys.executable).with_name("ansible")
MARK = "AIREADY_TEST_RUN"
DUE = [{"what": "driver", "needs": "reboot"}]


def numbers():
    """The ids of all processes, as texts."""
    return {name for name in os.listdir("/proc") if name.isdigit()}


def marked(mark, earlier=frozenset()):
    """The ids of the processes that have this in their environment, without earlier ones."""
    for number in numbers() - earlier:
        with contextlib.suppress(OSError):
            if mark.encode() in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                yield int(number)


def kill_marked(mark):
    """Kill them, and what they start meanwhile."""
    while found := list(marked(mark)):
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_for_marked(mark):
    """Let them come to their end."""
    deadline = time.monotonic() + 60
    while list(marked(mark)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def killed_at(twin, tmp_path, params, request, count, orphans):
    """Run the task by Ansible, and kill it once a request was seen this often.

    Ansible's workers have sessions of their own. Where only Ansible is killed they go on as orphans for a while.
    """
    call = {**connection(twin, tmp_path / "sessions"), **params}
    command = [ANSIBLE, "localhost", "-m", "aiready.vsphere.nvaie_vib", "-a", json.dumps(call)]
    environment = {
        **os.environ,
        "ANSIBLE_HOME": str(tmp_path / "home"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        MARK: str(tmp_path),
    }
    with (tmp_path / "output").open("wb") as output:
        task = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            while twin.requests[request] < count and task.poll() is None:
                time.sleep(0.005)
        finally:
            task.kill()
            task.wait()
            if orphans == "killed":
                kill_marked(f"{MARK}={tmp_path}")
    assert twin.requests[request] >= count, (tmp_path / "output").read_text()


@pytest.mark.parametrize(
    "request_name, count",
    [("PUT /folder", 1), ("MoveDatastoreFile_Task", 1), ("ExecuteSoap", 8), ("ExecuteSoap", 10)],
    ids=["while copying", "while renaming", "while removing the old driver", "while installing"],
)
@pytest.mark.parametrize("orphans", ["killed", "left alone"])
def test_the_next_run_ends_what_a_killed_one_began(twin, drive, tmp_path, request_name, count, orphans):
    local = tmp_path / depot.file_name("nvaie", "550.54.16", "800")
    local.write_bytes(depot.build("nvaie", "550.54.16", "800"))
    running = twin(seed=ready(family="graphics"))
    call = {"host": ESX, "file": str(local), "datastore": "datastore-01", "replace": True}
    killed_at(running, tmp_path, call, request_name, count, orphans)
    answer = drive(running)("nvaie_vib", **call)
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["pending"] == DUE
    assert software(running) == installed(runs=("graphics", "550.54.16"))
    wait_for_marked(f"{MARK}={tmp_path}")
    store = next(iter(machine(running).datastores.values()))
    with running.world.lock:
        files = [path for path in store.files.paths("aiready", deep=True) if store.files.get(path) is not None]
    assert files == [f"aiready/{local.name}"]
