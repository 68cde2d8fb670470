# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Sessions shared between tasks and forks: one private file and one lock for each server and user."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import threading
import time
from dataclasses import asdict, dataclass, fields
from typing import Any, Callable, Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

FORMAT = 1
_POLL_S = 0.05
# A failure of another process during the wait counts for this one too: another login would only lock the account, and a
# hundred processes that detect one after the other that vCenter does not answer would wait for hours.
_REFUSALS = (
    *("wrong_password", "federated_login", "password_expired", "no_permission"),
    *("saml_token_expired", "saml_token_not_yet_valid", "saml_token_rejected"),
    *("vcenter_timeout", "vcenter_unreachable"),
)
_REFUSAL_PARTS = ("subject", "wanted", "found", "todo", "code")


@dataclass
class State:
    """Everything that the next task needs to go on without a login."""

    cookie: str
    version: str
    fingerprint: str
    instance_uuid: str
    about: dict[str, str]
    services: dict[str, list[str]]
    format: int = FORMAT


class SessionStore:
    """Store the file of one session. fresh() returns a new session."""

    def __init__(
        self,
        directory: str,
        key: str,
        patience_s: float,
        warn: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = os.path.join(directory, key + ".json")
        # False for a session that could not be written, so that no later process can use it.
        self.kept = True
        self._lock_path = os.path.join(directory, key + ".lock")
        self._patience_s = patience_s
        self._warn = warn
        self._sleep = sleep

    def load(self) -> State | None:
        """Return the session on disk; None if there is no usable one."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            return _decoded(file.read())

    def save(self, state: State) -> None:
        """Replace the file in one step, never readable for other users."""
        draft = f"{self.path}.{os.getpid()}.{threading.get_ident()}"
        try:
            with open(draft, "w", opener=_private_opener) as file:
                json.dump(asdict(state), file)
            os.replace(draft, self.path)
            self.kept = True
        except OSError as error:
            self.kept = False
            with contextlib.suppress(OSError):
                os.unlink(draft)
            self._warn(f"The vCenter session cannot be saved in {self.path} ({error}); every task logs in anew.")

    def fresh(self, stale: str | None, login: Callable[[], State]) -> State:
        """Return a session with another cookie than the stale one: from another process, or the result of login()."""
        began = time.time()
        while True:
            state = self._newer(stale, began)
            if state is not None:
                return state
            with self._lock() as held:
                if held:
                    return self._newer(stale, began) or self._login(login)
            if time.time() - began > self._patience_s:
                raise OperatorError(
                    self._lock_path,
                    "cannot get the lock for the login to vCenter",
                    f"Another process has held it for {self._patience_s} seconds",
                    "Check for hanging Ansible processes on this machine and end them",
                    "session_lock",
                )
            self._sleep(_POLL_S)

    def _newer(self, stale: str | None, began: float) -> State | None:
        state = self.load()
        if state is not None and state.cookie != stale:
            return state
        refusal = self._refusal()
        if refusal and refusal.pop("at") > began:
            raise OperatorError(**refusal)
        return None

    def _login(self, login: Callable[[], State]) -> State:
        try:
            state = login()
        except OperatorError as error:
            if error.code in _REFUSALS:
                self._note_refusal(error)
            raise
        self.save(state)
        return state

    @contextlib.contextmanager
    def _lock(self) -> Iterator[bool]:
        """Return whether the lock was free; it ends with the process, so a kill leaves no lock behind."""
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(open(self._lock_path, "a", opener=_private_opener))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError as error:
                self._warn(f"{self._lock_path} cannot be locked ({error}); other tasks may log in too.")
            yield True

    def _note_refusal(self, error: OperatorError) -> None:
        parts = {name: getattr(error, name) for name in _REFUSAL_PARTS}
        with contextlib.suppress(OSError), open(self._lock_path, "w", opener=_private_opener) as file:
            json.dump(dict(parts, at=time.time()), file)

    def _refusal(self) -> dict[str, Any] | None:
        try:
            with open(self._lock_path, opener=_private_opener) as file:
                refusal = json.load(file)
        except (OSError, ValueError):
            return None
        return refusal if isinstance(refusal, dict) and set(refusal) == set(_REFUSAL_PARTS) | {"at"} else None


def open_store(
    directory: str | None, server: str, user: str, speaks: str, patience_s: float, warn: Callable[[str], None]
) -> SessionStore | None:
    """The store for a server and user; None, with a warning, where nothing can be written."""
    directory = os.path.expanduser(directory or _default_directory())
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        found = os.lstat(directory)
    except OSError as error:
        warn(f"vCenter sessions cannot be saved in {directory} ({error}); every task logs in anew.")
        return None
    _demand_private(directory, found)
    if not os.access(directory, os.W_OK | os.X_OK):
        warn(f"vCenter sessions cannot be saved in {directory} (not writable); every task logs in anew.")
        return None
    identity = "\n".join((server.lower(), user, speaks))
    return SessionStore(directory, hashlib.sha256(identity.encode()).hexdigest()[:32], patience_s, warn)


def _default_directory() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.join(cache, "aiready.vsphere", "sessions")


def _demand_private(directory: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        problem = "It is a symbolic link" if stat.S_ISLNK(found.st_mode) else "It is not a directory"
    elif found.st_uid != os.geteuid():
        problem = f"It belongs to the user with id {found.st_uid}"
    elif stat.S_IMODE(found.st_mode) & 0o077:
        problem = f"Others may enter it (its mode is {stat.S_IMODE(found.st_mode):04o})"
    else:
        return
    raise OperatorError(
        directory,
        "is not a private directory for vCenter sessions",
        problem,
        "Give it to the user who runs Ansible, with mode 0700, or set `session_dir` to another one",
        "session_dir_unsafe",
    )


def _is_private(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _decoded(raw: bytes) -> State | None:
    """Return a State, or None for text that this version did not write."""
    try:
        data = json.loads(raw)
    except ValueError:
        return None
    names = {entry.name for entry in fields(State)}
    if not isinstance(data, dict) or set(data) != names or data["format"] != FORMAT:
        return None
    state = State(**data)
    texts = (state.cookie, state.version, state.fingerprint, state.instance_uuid)
    if not all(isinstance(text, str) for text in texts) or not state.cookie:
        return None
    return state if isinstance(state.about, dict) and isinstance(state.services, dict) else None
