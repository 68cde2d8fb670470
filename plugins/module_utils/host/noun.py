# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Common base of all nouns of one ESXi host: find it, read it, and verify the changes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item, S, W
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import (
    OperatorError,
    fail_if_invalid,
    not_proved,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, esxcli_ssh, hosts, session, tasks
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.hosts import HostFound
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_NAMES = ("host", "module", "service", "vmknic")


class HostNoun(Noun[W, S]):
    """One host and its settings of one kind.

    A subclass turns the options into a request (request), names the properties of the host that it needs, turns a
    found host into a state (look), and applies the changes of one item (change).
    """

    PROPERTIES: tuple[str, ...] = ()

    def __init__(self, params: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        self._params = params
        self._warn = warn
        # read sets both before anything uses them.
        self._vcenter: VCenter = None  # type: ignore[assignment]
        self._found: HostFound = None  # type: ignore[assignment]
        self._esxcli: Esxcli | SshEsxcli | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the properties that every reading of the host requests."""
        return ("configManager",) + self.PROPERTIES

    def request(self) -> W:
        """Return the request of the task."""
        raise NotImplementedError

    def look(self, found: HostFound, requested: W) -> S:
        """The state of a host, given its row."""
        raise NotImplementedError

    def change(self, item: Item[W, S]) -> None:
        """Make item.changes; sets item.touched before the first request that changes something."""
        raise NotImplementedError

    def read(self, items: Sequence[Item[W, S]]) -> None:
        self._vcenter = session.connect(self._params, self._warn)
        for item in items:
            self._found = hosts.find_host(self._vcenter, self._params["host"], self.paths)
            item.ids.update(name=self._found.name, moid=self._found.moid)
            item.now = self.look(self._found, item.requested)

    def apply(self, items: Sequence[Item[W, S]]) -> None:
        for item in items:
            try:
                self.change(item)
            except OperatorError as error:
                item.error = error

    def prove(self, items: Sequence[Item[W, S]]) -> None:
        for item in items:
            self._found = hosts.read_again(self._vcenter, self._found, self.paths)
            item.proved = self.look(self._found, item.requested)
            if item.error is not None and item.error.code not in tasks.LATE:
                item.touched = self.changed(item.now, item.proved)
            left = self.gap(item.proved, item.wanted)
            if not left and item.error is not None and item.error.code == "fate_unknown":
                # The answer was lost, but the requested state is present.
                item.error = None
            if left and item.error is None:
                item.error = not_proved(
                    f"Host {self._found.name}",
                    "the change did not take effect",
                    left,
                    "Check the host's events in vCenter, then run again",
                    "vSphere reported success, but this still differs",
                )

    def changed(self, now: S, proved: S) -> bool:
        """Whether a failed change has an effect: the host may reject all of it, or only its second request."""
        return bool(self.compare(now, proved))

    def gap(self, proved: S, wanted: S) -> list[Change]:
        """The differences that remain after the change."""
        return self.compare(proved, wanted)

    @property
    def label(self) -> str:
        return f"Host {self._found.name}"

    @property
    def esxcli(self) -> Esxcli | SshEsxcli:
        """esxcli of this host, opened when it is first needed."""
        if self._esxcli is None:
            self._esxcli = esxcli_ssh.open_esxcli(self._vcenter, self._found, self._params)
        return self._esxcli

    @contextlib.contextmanager
    def asking(self, wanted: str) -> Iterator[None]:
        """Convert faults of the vendor to errors; wanted states the failure."""
        try:
            yield
        except vmodl.MethodFault as fault:
            raise explain(fault, self.label, wanted) from fault

    def manager(self, name: str) -> Any:
        """Return one of the host's managers, such as graphicsManager."""
        managers = self._found.row.get("configManager")
        manager = getattr(managers, name) if managers is not None else None
        if manager is None:
            raise OperatorError(
                self.label,
                f"has no {name}",
                f"vCenter reports no {name} for this host",
                "Check the version of the host and the permissions of the user",
                "manager_missing",
            )
        return manager

    def close(self) -> None:
        if self._vcenter is not None:
            self._vcenter.close()


def run_for_host(module: AnsibleModule, noun: HostNoun[W, S], problems: Iterable[str] = ()) -> None:
    """Everything below a module's main: one host, one result."""
    _pyvmomi.require(module)
    fail_if_invalid(module, [*_blank(module.params), *problems])
    host = module.params["host"]
    item: Item[W, S] = Item(host, noun.request(), {"name": host, "moid": None})
    try:
        run(module, noun, [item], "host", single=True)
    finally:
        noun.close()


def _blank(params: Mapping[str, Any]) -> list[str]:
    """A name that a template made of nothing must not be taken for one."""
    return [
        f"{name} is empty; it must name something."
        for name in _NAMES
        if isinstance(params.get(name), str) and not params[name].strip()
    ]
