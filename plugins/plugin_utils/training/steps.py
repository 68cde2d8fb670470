# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The steps on one guest of a run: read, pull the image, start, poll, stop. Each is one command or two."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import build, container, look, result, scripts
from ansible_collections.aiready.vsphere.plugins.module_utils.training.launch import INSIDE
from ansible_collections.aiready.vsphere.plugins.module_utils.training.launch import ports as ports_of
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import CLIENTS
from ansible_collections.aiready.vsphere.plugins.module_utils.training.verdict import TIMED_OUT

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest

# Bytes of a launcher's output in one answer.
CHUNK = 1 << 20
LAST_LINES = 4


@dataclass(frozen=True)
class Answer:
    """The state that a guest reports for its part of a run."""

    running: bool
    gone: bool
    exit_status: int | None
    out_of_memory: bool
    status: int | None  # of the launcher, once it has ended
    size: int  # of its output, in bytes
    output: bytes
    room: int | None  # kilobytes that are free where the run is kept, if the guest reports it
    said: str  # by the container's first process
    ready: bool


class Steps:
    """The steps of one run, for any of its guests."""

    def __init__(self, request: TrainingRequest, run: str) -> None:
        self._request = request
        self._run = run
        self._client = CLIENTS[request.container_engine]
        self._name = container.name_of(run)
        self._folder = f"{request.work_dir}/{run}"

    def look(self, guest: Guest) -> look.Look:
        """Read the guest without changes."""
        request = self._request
        ports = " ".join(map(str, ports_of(request)))
        done = guest.script(scripts.LOOK, self._client, request.image, request.work_dir, ports)
        if done.rc != 0:
            raise _failed(guest, "cannot be read", done, "not_looked_at")
        return look.parse(guest.name, done.stdout)

    def pull(self, guest: Guest) -> None:
        """Pull the image."""
        done = guest.run([self._client, "pull", self._request.image])
        if done.rc != 0:
            raise _failed(guest, f"cannot pull the image {self._request.image}", done, "pull_failed")

    def counters(self, guest: Guest) -> dict[str, dict[str, tuple[int, int]]]:
        """The traffic counters of the interfaces."""
        return result.counters(guest.script(scripts.COUNTERS).stdout)

    def start(self, guest: Guest, argv: Sequence[str], files: Mapping[str, tuple[int, str]]) -> None:
        """Copy the files and start the container."""
        done = guest.script(scripts.DELIVER, self._folder, data=archive(files))
        if done.rc != 0:
            raise _failed(guest, f"cannot copy the files of the run to {self._folder}", done, "not_delivered")
        done = guest.run(argv)
        if done.rc != 0:
            raise _failed(guest, "cannot start the container of the run", done, "not_started")

    def build(self, guest: Guest) -> tuple[dict[str, Any] | None, str]:
        """The build options of Horovod; None if it reports none, with its output instead (empty: it is slow)."""
        done = guest.run([self._client, "exec", self._name, "/bin/sh", f"{INSIDE}/check"])
        said = "" if done.rc in (TIMED_OUT, 128 + 9) else " / ".join(done.text.splitlines()[-LAST_LINES:]) or "nothing"
        found = build.parse(done.stdout)
        return None if found is None else dict(found, output=done.stdout), said

    def launch(self, guest: Guest) -> None:
        """Start the launcher in the container."""
        done = guest.run([self._client, "exec", "--detach", self._name, "/bin/sh", f"{INSIDE}/start"])
        if done.rc != 0:
            raise _failed(guest, "cannot start the launcher in the container", done, "not_launched")

    def ask(self, guest: Guest, beat: str, offset: int, most: int) -> Answer:
        """The progress, and the output from this byte on."""
        done = guest.script(scripts.POLL, self._client, self._name, self._folder, beat, offset, most)
        return _answer(done.stdout)

    def stop(self, guest: Guest, run: str | None = None) -> int:
        """Remove the containers and files of a run; how many containers are left."""
        done = guest.script(scripts.STOP, self._client, self._request.work_dir, run or self._run)
        words = done.stdout.split()
        return cast(int, plain_text.whole(words[1], 0)) if len(words) == 2 and words[0] == "left" else 0


def _answer(text: str) -> Answer:
    lines = dict(line.partition(" ")[::2] for line in text.splitlines())
    state = lines.get("state", "gone").split()
    known = len(state) == 3
    return Answer(
        running=known and state[0] == "true",
        gone=not known,
        exit_status=plain_text.whole(state[1]) if known else None,
        out_of_memory=known and state[2] == "true",
        status=plain_text.whole(lines.get("status", "")),
        size=cast(int, plain_text.whole(lines.get("size", ""), 0)),
        output=plain_text.decoded(lines.get("output", "")),
        room=plain_text.whole(lines.get("room", "")),
        said=lines.get("said", "").strip(),
        ready=lines.get("ready") == "yes",
    )


def archive(files: Mapping[str, tuple[int, str]]) -> bytes:
    """A tar archive of {path: (mode, text)}, owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folders = {path.rpartition("/")[0] for path in files} - {""}
        for folder in sorted(folders):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path, (mode, text) in sorted(files.items()):
            data = text.encode()
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), mode
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _failed(guest: Guest, wanted: str, done: Completed, code: str) -> OperatorError:
    lines = [line for line in done.text.splitlines() if line.strip()]
    said = " / ".join(lines[-LAST_LINES:])
    known = next((words for words in KNOWN if words[0] in said.lower()), None)
    todo = known[1] if known is not None else "Run the command on the guest to see all of its output"
    # Only the start of a command: a script or many options do not help a reader.
    return OperatorError(
        guest.name,
        wanted,
        f"{done.argv[0].rpartition('/')[2]} ended with {done.rc}: {said or 'it printed nothing'}",
        todo,
        known[2] if known is not None else code,
        host=guest.name,
    )


# Errors of engines in lower case, with the fix.
KNOWN = (
    ("no space left", "Free space on the guest, for example with `docker system prune`", "no_space"),
    ("unauthorized", "Run container_registry_login to log in to the registry on the guest", "not_logged_in"),
    (
        "denied",
        "Run container_registry_login on the guest, and check that the account can pull this image",
        "not_logged_in",
    ),
    ("certificate", "Add the registry's certificate authority to the engine", "registry_not_trusted"),
    ("manifest unknown", "Check the name and the tag of the image", "no_such_image"),
    ("not found", "Check the name and the tag of the image, and that the registry can be reached", "no_such_image"),
    (
        "error setting rlimit",
        "Set a higher LimitMEMLOCK in the service of the engine, or use memlock: ignore",
        "memlock_refused",
    ),
    (
        "unable to apply caps",
        "Give the guest the capabilities IPC_LOCK and SYS_NICE, which a container as guest may lack",
        "capability_refused",
    ),
    (
        "could not select device driver",
        "Install the NVIDIA Container Toolkit and configure the engine for it, or use gpus: none",
        "no_gpu_runtime",
    ),
)
