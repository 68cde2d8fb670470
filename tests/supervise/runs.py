"""The folder and the file of a command, by which the next command finds what a killed one left."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import processes

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"
RUNS = BUILD / "runs"
# Where Python finds what tests and commands of this checkout import: their packages, the twin, and its labs for tests.
SOURCES = ("tests", "tests/twin/src", "tests/twin/tests/helpers")
PYTHONPATH = os.pathsep.join(str(ROOT / folder) for folder in SOURCES)
# What the twin keeps between labs, and the image that its registry holds (vsphere_twin/guests/settings.py).
OF_TWIN = {
    "VSPHERE_TWIN_STATE": str(BUILD),
    "VSPHERE_TWIN_TRAINING_IMAGE": str(ROOT / "roles/horovod/files/images/horovod-debian-cpu"),
}
# Names the file that a twin makes when it has made containers.
NOTE = "VSPHERE_TWIN_LABS"
# Names the file of the command in the environment of everything that it starts.
RUN = "AIREADY_RUN"
KEEPER = ".keeper"  # the suffix of a file beside it with the number of the process that keeps the command
LABS = ".labs"  # the suffix of a file beside it that says that containers were made
# Sockets below a folder for temporary files have paths of at most 107 bytes, and scripts of tools do not quote.
SHORT = 24
LABS_S = 300


class Run:
    """A command in progress. Its file is locked as long as a process lives that supervises it."""

    def __init__(self, file: Path, lock) -> None:
        self.file, self._lock = file, lock
        self.folder = Path(json.loads(file.read_text())["folder"])

    @classmethod
    def begin(cls) -> Run:
        """Remove what killed commands of this checkout left, and begin a new one."""
        RUNS.mkdir(parents=True, exist_ok=True)
        with (RUNS / "turn").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # one command at a time looks what is left
            remove_leftovers()
            token = secrets.token_hex(4)
            file = RUNS / f"{os.getpid()}-{token}.json"
            draft = file.with_suffix(".new")
            draft.write_text(json.dumps({"folder": str(base() / f"aiready-{token}")}))
            lock = draft.open()
            fcntl.flock(lock, fcntl.LOCK_EX)
            draft.rename(file)
        made = cls(file, lock)
        made.folder.mkdir()
        made.folder.chmod(0o711)  # tests act for other users below it
        return made

    def environment(self) -> dict[str, str]:
        """For everything that the command starts."""
        note = str(self.file.with_suffix(LABS))
        return {**os.environ, **OF_TWIN, RUN: str(self.file), NOTE: note, "TMPDIR": str(self.folder)}

    def kept_by(self, keeper: int) -> None:
        """Note who the parent of everything is that the command leaves."""
        self.file.with_suffix(KEEPER).write_text(str(keeper))

    def close(self) -> None:
        """Remove what the command left beside processes."""
        if remove_labs(self.file):
            remove(self.file, self.folder)
        self._lock.close()


def inside() -> bool:
    """Whether a command that is supervised started this process."""
    file = os.environ.get(RUN)
    return file is not None and is_live(Path(file))


def is_live(file: Path) -> bool:
    """Whether a process lives that supervises this command."""
    try:
        with file.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def base() -> Path:
    """Where folders for temporary files are made: at TMPDIR, unless tools cannot cope with that path."""
    chosen = tempfile.gettempdir()
    usable = len(os.fsencode(chosen)) <= SHORT and not set(chosen) & set(" \t\n'\"\\$`;&|<>()*?[]{}#~!%")
    return Path(chosen if usable and _open_to_all(Path(chosen).resolve()) else "/tmp")


def _open_to_all(folder: Path) -> bool:
    return all(one.is_dir() and one.stat().st_mode & 0o001 for one in (folder, *folder.parents))


def remove_leftovers() -> None:
    """End what commands of this checkout left that were killed; what a live command owns is not touched."""
    dead = [file for file in sorted(RUNS.glob("*.json")) if not is_live(file)]
    for draft in RUNS.glob("*.new"):
        draft.unlink()
    left = leftovers()
    if left:
        print(f"Ending {len(left)} processes that an earlier command left.", file=sys.stderr, flush=True)
        processes.end(leftovers)
    for file in dead:
        if remove_labs(file):
            with contextlib.suppress(OSError, ValueError, KeyError):
                remove(file, Path(json.loads(file.read_text())["folder"]))
            file.unlink(missing_ok=True)


def leftovers() -> set[int]:
    """Processes of this checkout's commands that no live command owns."""
    known, live = processes.parents(), {file for file in RUNS.glob("*.json") if is_live(file)}
    owners = {owner for file in live for owner in _owners(file)}
    ours = {os.getpid(), *_above(os.getpid(), known)}
    found = set()
    for one in known:
        if one in ours or processes.is_service(one):
            continue
        above = _above(one, known)
        if any(processes.is_service(other) for other in above if other not in ours):
            continue  # a container engine's own, which may serve containers of others
        env = processes.environment(one)
        run = os.fsdecode(env.get(RUN.encode(), b""))
        if run:
            if Path(run).parent == RUNS and Path(run) not in live:
                found.add(one)
        elif _at_home(env) and not owners.intersection(above) and not _of_gates(above):
            found.add(one)
    return found


def _at_home(env: dict[bytes, bytes]) -> bool:
    """Whether a gate started it: sanity tests pass on nothing of the environment but the home."""
    return Path(os.fsdecode(env.get(b"HOME", b"/"))).is_relative_to(BUILD / "home")


def _of_gates(above: list[int]) -> bool:
    return any(processes.runs_gates(one, ROOT) for one in above)


def _owners(file: Path) -> set[int]:
    """The front and the keeper of a live command."""
    found = {int(file.name.partition("-")[0])}
    with contextlib.suppress(OSError, ValueError):
        found.add(int(file.with_suffix(KEEPER).read_text()))
    return found


def _above(number: int, known: dict[int, int]) -> list[int]:
    found: list[int] = []
    while (number := known.get(number, 0)) > 1 and number not in found:
        found.append(number)
    return found


def remove_labs(file: Path) -> bool:
    """Remove the containers and networks of labs whose process has ended; False where some may be left."""
    labs, python = file.with_suffix(LABS), BUILD / "venv" / "bin" / "python"
    if not labs.exists():
        return True
    env = {**os.environ, **OF_TWIN, "PYTHONPATH": PYTHONPATH}
    try:
        done = subprocess.run(
            [str(python), "-m", "vsphere_twin.guests", "forgotten"],
            env=env,
            stdin=subprocess.DEVNULL,
            timeout=LABS_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    if done.returncode == 0:
        labs.unlink(missing_ok=True)
    return done.returncode == 0


def remove(file: Path, folder: Path) -> None:
    """The folder of a command, and its file."""
    if folder.name.startswith("aiready-"):
        shutil.rmtree(folder, ignore_errors=True)
    file.with_suffix(KEEPER).unlink(missing_ok=True)
    file.unlink(missing_ok=True)
