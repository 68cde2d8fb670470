"""Run a playbook against a simulated data centre as an operator would, in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warm import client

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "inventories" / "lab"
# Seconds between polls of Ansible's workers. The default is a millisecond, which costs a tenth of a run.
POLL_S = 0.02
RECAP = re.compile(r"^\S+\s+:\s+ok=\d+\s+changed=(?P<changed>\d+)\s+unreachable=(?P<unreachable>\d+)\s+failed=")
GRACE_S = 5
# Names a folder with another ansible-playbook than that of the Python that runs the twin.
PROGRAMS = "REHEARSAL_PROGRAMS"
# Set where playbooks are forks of a server that has imported Ansible already.
WARM = "REHEARSAL_WARM"
# With it, a module that Ansible pipes to a new Python is read by a system call for each of its 300,000 bytes.
UNBUFFERED = "PYTHONUNBUFFERED"


Started = subprocess.Popen | client.Process


@dataclass(frozen=True)
class Run:
    """Result of a playbook."""

    status: int
    output: str
    seconds: float

    @property
    def changed(self) -> int:
        """Tasks that changed something, over all hosts; every host has its line in the recap."""
        found = [RECAP.match(line) for line in self.output.splitlines()]
        return sum(int(line["changed"]) for line in found if line)

    def failed_on(self, host: str) -> str:
        """Return all messages on the failure of a host, on one line."""
        # Ansible writes results of some failures over many lines, up to an empty one.
        said = re.findall(rf"^(?:fatal|failed): \[{re.escape(host)}(?s:.*?)(?=\n\n|\Z)", self.output, re.MULTILINE)
        return " ".join(" ".join(said).split())

    @property
    def text(self) -> str:
        """The output with the line breaks of the terminal taken out, for comparison with a message."""
        return " ".join(self.output.split())


@contextlib.contextmanager
def forked() -> Iterator[None]:
    """Meanwhile playbooks are forks of a server that has imported Ansible already."""
    before = os.environ.get(WARM)
    os.environ[WARM] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[WARM]


def environment(work: Path, **more: str) -> dict[str, str]:
    """Return an environment without the user's own Ansible or vCenter settings."""
    config = work / "ansible.cfg"
    config.write_text(f"[defaults]\ninternal_poll_interval = {POLL_S}\n")
    others = ("ANSIBLE_", "VMWARE_", "AIREADY_", UNBUFFERED)
    env = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    programs = os.environ.get(PROGRAMS) or str(Path(sys.executable).parent)
    env.update(
        PATH=os.pathsep.join([programs, env.get("PATH", os.defpath)]),
        ANSIBLE_CONFIG=str(config),
        ANSIBLE_HOME=str(work / "ansible"),
        ANSIBLE_PERSISTENT_CONTROL_PATH_DIR=str(_sockets(work)),
        ANSIBLE_LOCAL_TEMP=str(work / "ansible" / "tmp"),
        ANSIBLE_REMOTE_TEMP=str(work / "ansible" / "tmp"),
        ANSIBLE_COLLECTIONS_PATH=str(ROOT / ".build" / "collections"),
        ANSIBLE_INJECT_FACT_VARS="false",
        # All six switches at once.
        ANSIBLE_FORKS="10",
        ANSIBLE_RETRY_FILES_ENABLED="false",
        ANSIBLE_NOCOLOR="1",
        # A tenth of the time of tasks on the controller: nothing is copied first.
        ANSIBLE_PIPELINING="true",
        # If many programs share a disk, a login and sudo may take longer than ten seconds.
        ANSIBLE_TIMEOUT="60",
        ANSIBLE_PERSISTENT_COMMAND_TIMEOUT="120",
        ANSIBLE_PERSISTENT_CONNECT_TIMEOUT="120",
        AIREADY_LAB=str(work),
        AIREADY_SESSION_DIR=str(work / "sessions"),
        # Otherwise all tests would share the journal in the user's folder of results.
        AIREADY_JOURNAL=str(work / "journal"),
    )
    env.update(more)
    return env


def _sockets(work: Path) -> Path:
    """A folder for the sockets of connections to switches: their paths may only have about 100 characters."""
    return Path(tempfile.gettempdir()) / f"pc-{hashlib.sha256(os.fsencode(work)).hexdigest()[:10]}"


def write_endpoint(twin, work: Path) -> None:
    """Write the address of the twin, as the inventory of the lab reads it."""
    (work / "endpoint.json").write_text(json.dumps(twin.endpoint()))


def run(
    playbook: str | Path,
    *arguments: str,
    env: dict[str, str],
    inventory: str | Path = LAB,
    echo: Callable[[str], None] = lambda line: None,
    kill_after_s: float | None = None,
) -> Run:
    """Run ansible-playbook without a terminal; it never outlives this call, whatever ends it.

    kill_after_s ends it with all its workers by SIGKILL, as a machine does that loses its power.
    """
    start = time.monotonic()
    process = _started(["ansible-playbook", "--inventory", str(inventory), str(playbook), *arguments], env)
    lines = []
    killer = threading.Timer(kill_after_s or 0, kill, (process,))
    if kill_after_s is not None:
        killer.start()
    try:
        for line in process.stdout or ():
            lines.append(line)
            echo(line.rstrip("\n"))
        status = process.wait()
    finally:
        killer.cancel()
        _stop(process)
    return Run(status, "".join(lines), time.monotonic() - start)


def _started(command: list[str], env: dict[str, str]) -> Started:
    forked = client.start(command, ROOT, env) if WARM in os.environ and PROGRAMS not in os.environ else None
    return forked or subprocess.Popen(
        _unbuffered(command, env),
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _unbuffered(command: list[str], env: dict[str, str]) -> list[str]:
    """The command of a new process that prints each line at once. Its modules do not inherit this option."""
    program = shutil.which(command[0], path=env["PATH"]) or command[0]
    return [str(Path(program).with_name("python")), "-u", program, *command[1:]]


def kill(process: Started) -> None:
    """A process and all that it has started, at once: a worker of Ansible has a session of its own."""
    for pid in [process.pid, *_started_by(process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _started_by(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, children.read_text(encoding="utf-8").split()):
                yield child
                yield from _started_by(child)


def _stop(process: Started) -> None:
    """End the playbook and its workers; after a normal end there is nothing left to do."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.stdout:
        process.stdout.close()
