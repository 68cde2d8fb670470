# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""netplan: the merged content of all its files, and one file of this module that adds to it."""

from __future__ import annotations

import fnmatch
import sys
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import mac_of
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Kept, Service, our_addresses

try:
    import yaml
except ImportError:  # netplan brings it for the distribution's Python alone
    yaml = None

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link


FOLDER = "/etc/netplan"
# netplan warns of files that others can read.
MODE = 0o600


class Netplan(Service):
    NAME = "netplan"

    def claims(self, link: Link) -> str | None:
        files = [name for name in self.files.names(FOLDER) if name.endswith(".yaml")]
        if not files or self.commands.find("netplan") is None:
            return None
        return "owner" if self._definition(link)[0] else "able"

    def read(self, link: Link) -> Kept:
        name, said = self._definition(link)
        ours = (self._own(link).get("network", {}).get("ethernets") or {}).get(name) or {}
        return Kept(
            where=f"{FOLDER}: {name}" if name else "",
            mtu=said.get("mtu"),
            addresses=_addresses(said),
            ours=_addresses(ours),
            detail={"name": name, "said": said, "ours": ours},
        )

    def write(self, link: Link, kept: Kept, mtu: int | None, address: str | None) -> None:
        name, said, ours = kept.detail["name"], kept.detail["said"], dict(kept.detail["ours"])
        if name is None:
            name, ours = link.name, {"dhcp4": False, "dhcp6": False}
        elif not _only(name, said, link):
            # The definition is for several adapters: this one gets its own, with all that held for it. netplan's
            # files are taken in the order of these names, and ours has to be the first that fits.
            name = f"aiready-{link.name}"
            ours = dict(said, match={"macaddress": link.mac})
            ours["addresses"] = kept.addresses + [one for one in [address] if one and one not in kept.addresses]
        if ours.get("match") is None or name == kept.detail["name"]:
            ours["addresses"] = our_addresses(kept, address)
        if mtu is not None:
            ours["mtu"] = mtu
        ours = {key: value for key, value in ours.items() if value != []}
        text = yaml.safe_dump({"network": {"version": 2, "ethernets": {name: ours}}}, sort_keys=False)
        self.put(own_file(link), text, MODE)
        done = self.commands.run(["netplan", "generate"])
        if not done.ok:
            raise self.refused(link, "cannot save the settings with netplan", done)

    def activate(self, link: Link) -> Done:
        return self.commands.run(["netplan", "apply"], limit_s=120)

    def undo(self) -> None:
        super().undo()
        self.commands.run(["netplan", "generate"])

    def _own(self, link: Link) -> dict[str, Any]:
        return _parsed(link, self.files.text(own_file(link)) or "")

    def _definition(self, link: Link) -> tuple[str | None, dict[str, Any]]:
        """Return (name, content) of the effective definition for an adapter; (None, {}) if there is none."""
        done = self.commands.run(["netplan", "get"])
        if not done.ok:
            raise _unreadable(link, done.outcome)
        reported = _parsed(link, done.stdout)
        network = reported.get("network", reported)
        defined = (network or {}).get("ethernets") or {}
        fitting = [(name, said or {}) for name, said in defined.items() if _fits(name, said or {}, link)]
        # A definition for this adapter alone precedes one for many; the first of several is effective.
        fitting.sort(key=lambda pair: (not _only(pair[0], pair[1], link), pair[0]))
        return fitting[0] if fitting else (None, {})


def _parsed(link: Link, text: str) -> dict[str, Any]:
    if yaml is None:
        raise OperatorError(
            f"Adapter {link.name}",
            "cannot read its settings from netplan",
            f"The Python of this guest, {sys.executable}, has no YAML library",
            "Install python3-yaml, or set ansible_python_interpreter to the Python of the distribution",
            "library_missing",
        )
    try:
        said = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist
        raise _unreadable(link, f"The output of netplan is not YAML: {error}") from None
    return said if isinstance(said, dict) else {}


def _unreadable(link: Link, why: str) -> OperatorError:
    return OperatorError(
        f"Adapter {link.name}",
        "cannot read its settings from netplan",
        why,
        "Update netplan.io to 0.104 or newer, correct the settings that it names, then run the task again",
        "netplan_unreadable",
    )


def own_file(link: Link) -> str:
    """Sorts behind the usual files, since the last one that sets a value counts."""
    return f"{FOLDER}/95-aiready-{link.name}.yaml"


def _addresses(said: Mapping[str, Any]) -> list[str]:
    """Addresses of a definition; one with options is a mapping of the address to them."""
    listed = said.get("addresses") or []
    return [str(next(iter(one), "")) if isinstance(one, dict) else str(one) for one in listed]


def _fits(name: str, said: Mapping[str, Any], link: Link) -> bool:
    match = said.get("match")
    if not match:
        return name == link.name
    wanted = [mac_of(match["macaddress"]) == link.mac] if "macaddress" in match else []
    if "name" in match:
        wanted.append(fnmatch.fnmatch(link.name, str(match["name"])) or said.get("set-name") == link.name)
    return bool(wanted) and all(wanted)


def _only(name: str, said: Mapping[str, Any], link: Link) -> bool:
    match = said.get("match") or {}
    return not match or "macaddress" in match or match.get("name") == link.name
