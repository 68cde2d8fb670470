# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The file in which an engine keeps the logins of a user. Pure: texts and trees."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.registry import Login

MODE = 0o600
PLACES = {
    "docker": ".docker/config.json",
    # nerdctl reads docker's.
    "containerd": ".docker/config.json",
    # The usual folder below /run is gone after a restart.
    "podman": ".config/containers/auth.json",
}
SET, OTHER = "set", "another one"


@dataclass(frozen=True)
class LoginState:
    """Login of one registry in one file. The password is compared, and never shown."""

    username: str = ""
    password: str = ""
    mode: int | None = None

    def __repr__(self) -> str:
        return f"LoginState({self.username!r})"


def tree(path: str, text: str | None) -> dict[str, Any]:
    """Return the content of a file, {} if it does not exist."""
    if text is None or not text.strip():
        return {}
    try:
        said = json.loads(text)
    except ValueError as error:
        # json's own message has no part of the text in it.
        raise _broken(path, str(error)) from None
    if not isinstance(said, dict) or not isinstance(said.get("auths", {}), dict):
        raise _broken(path, "it holds no logins")
    return said


def _broken(path: str, why: str) -> OperatorError:
    return OperatorError(
        path,
        "is not a valid login file",
        f"The error is: {why}. The module changed nothing.",
        "Move the file away, then run the task again.",
        "logins_broken",
        path=path,
    )


def refuse_helpers(path: str, said: Mapping[str, Any], key: str) -> None:
    """Refuse a file that delegates logins to a program: engines then ignore the logins in the file."""
    helpers: Any = said.get("credHelpers") if isinstance(said.get("credHelpers"), dict) else {}
    helper = helpers.get(key) or said.get("credsStore")
    if helper:
        raise OperatorError(
            path,
            f"cannot save the login of {key}",
            f"The file delegates this login to the program docker-credential-{helper}.",
            "Use that program to log in, or remove `credsStore` and the `credHelpers` of the registry from the file.",
            "credential_helper",
            path=path,
            helper=helper,
        )


def login_in(said: Mapping[str, Any], key: str, mode: int | None) -> LoginState:
    """The login of one registry in a tree."""
    entry = said.get("auths", {}).get(key)
    if not isinstance(entry, dict):
        return LoginState(mode=mode)
    username, password = entry.get("username") or "", entry.get("password") or ""
    try:
        decoded = base64.b64decode(entry.get("auth") or "").decode()
    except (binascii.Error, UnicodeDecodeError):
        decoded = ""
    if ":" in decoded:
        username, password = decoded.split(":", 1)
    if entry.get("identitytoken"):
        password = entry["identitytoken"]
    return LoginState(username, password.strip("\0"), mode)


def with_login(said: Mapping[str, Any], key: str, login: Login | None) -> dict[str, Any]:
    """Return the tree with a login; without it if login is None. Everything else is unchanged."""
    auths = {name: entry for name, entry in said.get("auths", {}).items() if name != key}
    if login is not None:
        auths[key] = {"auth": login.basic}
    return dict(said, auths=auths)


def as_text(said: Mapping[str, Any]) -> str:
    return json.dumps(said, indent=4) + "\n"


def compare(now: LoginState, wanted: LoginState) -> list[Change]:
    changes: list[Change] = []
    if now.username != wanted.username:
        changes.append(Change("username", now.username or None, wanted.username or None))
    if now.password != wanted.password:
        before = (OTHER if wanted.password else SET) if now.password else None
        changes.append(Change("password", before, SET if wanted.password else None))
    if now.mode != wanted.mode and now.mode is not None:
        changes.append(Change("mode", f"{now.mode:04o}", f"{wanted.mode:04o}"))
    return changes


def project(state: LoginState) -> dict[str, str]:
    return {
        "username": state.username,
        "password": SET if state.password else "",
        "mode": f"{state.mode:04o}" if state.mode is not None else "",
    }
