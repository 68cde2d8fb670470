"""The container engine that guests run on: found, or installed from the distribution and started."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
from pathlib import Path

from .turn import turn

INSTALLED_BY = ("debian", "ubuntu")
PACKAGES = ("docker.io", "mmdebstrap")
STATE = Path("/var/lib/aiready-lab")  # where the engine that was started here notes its process and its log
SOCKET = Path("/var/run/docker.sock")
WAIT_S = 60
LIMIT_S = 600
FREEZE_S = 60  # the runtime gives up within a second when processes keep starting


class EngineProblem(RuntimeError):
    """Reason why there are no guests, in lines for a person: cause and fix."""

    def __init__(self, *lines):
        super().__init__("\n".join(lines))


def require_library():
    """EngineProblem where the library for engines is not installed, which only guests need."""
    if importlib.util.find_spec("docker") is None:
        raise EngineProblem(
            "Guests need the Python package docker, which is not installed.",
            "Install it with: pip install 'vsphere-twin[guests]'",
        )


def have(say, install=False):
    """Return a client of the engine of this machine; a stopped engine is started, and with `install` installed
    first.
    """
    client, problem = _connected()
    if client is not None:
        return client
    if os.environ.get("DOCKER_HOST"):
        raise EngineProblem(*problem)  # the requested engine is not the one that could be started here
    with turn(say):
        return running() or _made_to_run(say, install)


def _made_to_run(say, install):
    problem = _connected()[1]
    if shutil.which("dockerd") is None:
        _require_way_to_install(install, problem)
        say(f"There is no Docker here. Installing {' and '.join(PACKAGES)} from the distribution.")
        _install()
    elif os.geteuid() != 0:
        raise EngineProblem(*problem)
    say("Docker is installed and does not run. Starting it.")
    _start(say)
    return _awaited()


def running():
    """A client of the engine if one answers; nothing is started."""
    return _connected()[0]


def freeze(container):
    """Freeze the container. A busy one may need several attempts."""
    import docker.errors

    until = time.monotonic() + FREEZE_S
    while True:
        try:
            return container.pause()
        except docker.errors.APIError as problem:
            if "unable to freeze" not in str(problem) or time.monotonic() > until:
                raise
            time.sleep(0.2)


def _connected():
    """(client, None), or (None, why not)."""
    import docker
    import docker.errors

    try:
        client = docker.from_env(timeout=120)
        client.ping()
    except (docker.errors.DockerException, OSError) as problem:
        return None, _why_not(problem)
    if client.info().get("OSType") != "linux":
        return None, ("The engine here runs no Linux containers.", "Guests of the lab need them.")
    return client, None


def _why_not(problem):
    where = os.environ.get("DOCKER_HOST") or f"unix://{SOCKET}"
    if "PermissionError" in str(problem) or "Permission denied" in str(problem):
        return (
            f"Docker runs, and this user may not use it: {where} refuses.",
            "Add the user to the group docker and log in again, or start this as root.",
        )
    return (
        f"No Docker answers at {where}.",
        "Install Docker and start it; as root on Debian or Ubuntu `python -m vsphere_twin.guests setup` does that.",
    )


def _require_way_to_install(install, problem):
    if not install:
        raise EngineProblem(*problem)
    if os.geteuid() != 0:
        raise EngineProblem(*problem, "It cannot be installed from here, because this is not root.")
    if not _distribution().intersection(INSTALLED_BY) or shutil.which("apt-get") is None:
        raise EngineProblem(*problem, "It is installed from here only on Debian and Ubuntu.")


def _distribution():
    """Return the distribution of this machine, and those it is like."""
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return set()
    rows = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {word for key in ("ID", "ID_LIKE") for word in rows.get(key, "").strip('"').split()}


def _install():
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES, "iptables"]):
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if done.returncode != 0:
            last = (done.stdout + done.stderr).splitlines()[-8:]
            raise EngineProblem(
                f"Docker could not be installed: {' '.join(argv)} ended with status {done.returncode}.",
                *(f"  {line}" for line in last),
            )


def _start(say):
    if Path("/run/systemd/system").is_dir():
        argv = ["systemctl", "start", "docker"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if done.returncode != 0:
            raise EngineProblem("Docker could not be started.", f"  {done.stderr.strip()}", "See journalctl -u docker.")
        return
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / "dockerd.log").open("ab") as log:
        # In a session of its own: it continues after the lab, as a service would.
        process = subprocess.Popen(
            ["dockerd"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env=_of_a_service(),
        )
    (STATE / "dockerd.pid").write_text(f"{process.pid}\n", encoding="utf-8")
    say(f"dockerd runs as process {process.pid}; its log is {STATE / 'dockerd.log'}.")


def _of_a_service():
    """The environment of a service: nothing that marks it as a part of the command that starts it."""
    own = {"HOME", "LANG", "PATH"}
    return {
        name: value
        for name, value in os.environ.items()
        if name in own or name.startswith(("DOCKER", "LC_")) or name.upper().endswith("_PROXY")
    }


def _awaited():
    until = time.monotonic() + WAIT_S
    while True:
        client, problem = _connected()
        if client is not None:
            return client
        if time.monotonic() > until:
            log = STATE / "dockerd.log"
            last = log.read_text(errors="replace").splitlines()[-8:] if log.is_file() else []
            raise EngineProblem(f"Docker does not answer {WAIT_S} s after its start.", *problem, *last)
        time.sleep(0.5)
