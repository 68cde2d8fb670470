# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The login of one user at one registry."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import re
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import auth_file, config_file, registry
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.auth_file import LoginState
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import LoginRequest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

ADDRESS = re.compile(r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
# Folders in which engines search the CA certificate of a registry.
AUTHORITIES = ("/etc/docker/certs.d", "/etc/containers/certs.d")


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters."""
    problems: list[str] = []
    if ADDRESS.fullmatch(params["registry"]) is None:
        problems.append(
            f"`registry`: {params['registry']} is not a host name with an optional port. Remove https:// and paths."
        )
    if params["state"] == "present" and ":" in (params["username"] or ""):
        problems.append("`username`: it contains a colon, which the login file does not allow.")
    if params["state"] == "present" and not params["username"]:
        problems.append("`username`: it is empty.")
    if params["state"] == "present" and not params["password"]:
        problems.append("`password`: it is empty.")
    if params["config_file"] and not params["config_file"].startswith("/"):
        problems.append(f"`config_file`: {params['config_file']} is not an absolute path.")
    return problems


class RegistryLogin(Noun[LoginRequest, LoginState]):
    """One entry in a file of logins."""

    def __init__(self, requested: LoginRequest, files: Files, ask: type[registry.Registry] = registry.Registry) -> None:
        self._requested = requested
        self._files = files
        self._ask = ask
        self._key = registry.login_key(requested.registry)
        self._login: registry.Login | None = None
        if requested.state == "present":
            self._login = registry.Login(
                requested.registry, cast("str", requested.username), cast("str", requested.password)
            )
        self._user = cast("pwd.struct_passwd", None)
        self._path = ""

    def read(self, items: Sequence[Item[LoginRequest, LoginState]]) -> None:
        (item,) = items
        item.ids.update(machine.ids(self._files))
        item.label = f"The login at {self._requested.registry}"
        self._user = _user(item.label, self._requested.user)
        place = auth_file.PLACES[self._requested.engine]
        self._path = self._requested.config_file or os.path.join(self._user.pw_dir, place)
        item.ids["path"] = self._path
        with self._as_user():
            item.now = self._state()
        if self._is_to_be_asked(item.now):
            item.ids["checked"] = self._registry().takes(cast("registry.Login", self._login))

    def want(self, item: Item[LoginRequest, LoginState]) -> LoginState:
        if self._login is None:
            # A login that is not there leaves its file alone.
            mode = item.now.mode if not item.now.username else auth_file.MODE
            return LoginState(mode=mode)
        return LoginState(self._login.username, self._login.password, auth_file.MODE)

    def compare(self, now: LoginState, wanted: LoginState) -> list[Change]:
        return auth_file.compare(now, wanted)

    def apply(self, items: Sequence[Item[LoginRequest, LoginState]]) -> None:
        (item,) = items
        item.touched = True
        with self._as_user():
            said = auth_file.with_login(self._tree(), self._key, self._login)
            folder = os.path.dirname(self._files.at(self._path))
            with contextlib.suppress(OSError):
                # A failure here is reported when the file is written.
                os.makedirs(folder, mode=0o700, exist_ok=True)
            self._files.write(self._path, auth_file.as_text(said), mode=auth_file.MODE)

    def prove(self, items: Sequence[Item[LoginRequest, LoginState]]) -> None:
        (item,) = items
        with self._as_user():
            item.proved = self._state()
        if auth_file.compare(item.proved, item.wanted) and item.error is None:
            item.error = OperatorError(
                item.label,
                "is not in the desired state after the change",
                f"Another program may write {self._path}.",
                "Check which program writes the file, then run the task again.",
                "not_proved",
                path=self._path,
            )

    def project(self, state: LoginState) -> dict[str, Any]:
        return auth_file.project(state)

    def _tree(self) -> dict[str, Any]:
        said = auth_file.tree(self._path, config_file.read(self._files, self._path))
        auth_file.refuse_helpers(self._path, said, self._key)
        return said

    def _state(self) -> LoginState:
        return auth_file.login_in(self._tree(), self._key, self._files.mode(self._path))

    def _is_to_be_asked(self, now: LoginState) -> bool:
        if self._login is None or self._requested.check == "never":
            return False
        same = (now.username, now.password) == (self._login.username, self._login.password)
        return self._requested.check == "always" or not same

    def _registry(self) -> registry.Registry:
        address = self._requested.registry
        named = [self._requested.ca_file] if self._requested.ca_file else []
        known = [path for place in AUTHORITIES for path in sorted(glob.glob(f"{place}/{glob.escape(address)}/*.crt"))]
        return self._ask(
            address,
            insecure=self._requested.insecure,
            ca_files=named + known,
            proxy=self._requested.proxy,
            no_proxy=self._requested.no_proxy,
        )

    @contextlib.contextmanager
    def _as_user(self) -> Iterator[None]:
        """Act as the user on files in the home folder: links of the user must not lead root elsewhere."""
        if os.geteuid() != 0 or self._user.pw_uid == 0:
            yield
            return
        groups = os.getgroups()
        os.initgroups(self._user.pw_name, self._user.pw_gid)
        os.setegid(self._user.pw_gid)
        os.seteuid(self._user.pw_uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(groups)


def _user(label: str, name: str | None) -> pwd.struct_passwd:
    """Return the owner of the login."""
    try:
        user = pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())
    except KeyError:
        raise OperatorError(
            label,
            f"cannot be saved for the user {name or os.geteuid()}",
            "The user does not exist on this guest.",
            "Create the user first, or set `user` to another one.",
            "user_missing",
            user=name,
        ) from None
    if os.geteuid() not in (0, user.pw_uid):
        raise OperatorError(
            label,
            f"cannot be saved for the user {name}",
            "The task does not run as root or as this user.",
            "Use `become: true`.",
            "no_permission",
            user=name,
        )
    return user
