# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The earlier driver of a host: its package, and the image of its cluster, which all hosts share. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.version import parse
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import PLANNED, Net, cannot, net, step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Union

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Cannot, Entry, Step

MODULE = "nvaie_vib"
# The object and the stage of all guests together, whose drivers no step restores.
GUESTS = "guests"
# Keys of the ids of an entry: the driver before the first entry, as options of the module, or why no step restores it.
EARLIER, LOST = "earlier_driver", "lost_driver"
DRIVER, VIBS, IMAGE, SEVERAL = "driver", "vibs.", "image.", ", "
SOURCES = ("depot", "url", "file")
_OF_SOURCE = (*SOURCES, "checksum")
_OF_FILE = ("datastore", "folder", "keep_upload")
_KEPT = ("host", "method", "esxcli_transport", "esxcli_timeout_s", "ssh_port", "ssh_user", "task_timeout_s")
# Failures of the module that only another package can end. The other settings of the host are restored.
OF_PACKAGE = (
    "checksum",
    "depot_not_found",
    "depot_path",
    "depot_unreadable",
    "no_driver_in_package",
    "no_file",
    "no_package",
    "not_a_component",
    "not_in_depot",
    "other_file_there",
    "other_version",
    "url_not_for_esxcli",
    "wrong_family",
)
_OTHER_IMAGE = (
    "Before the run, the host had another driver than the image of its cluster, and vCenter brings each host to the "
    "image. Set the image in vCenter."
)
_ONLY_IMAGE = (
    "The run changed the image of the cluster, and not the driver of the host. Set the image in vCenter, unless "
    "restore sets it for another host of the cluster."
)


class Packages:
    """The packages of drivers: those that the user names by the version, then those of earlier runs."""

    def __init__(self, entries: Sequence[Entry], named: Mapping[str, Any] | str) -> None:
        named = _of_lines(named) if isinstance(named, str) else named
        if named and not isinstance(named, dict):
            raise AnsibleFilterError(
                f"restore_driver is {named!r}, which is no mapping. Set it to the version of each earlier driver with "
                'its package, for example {"570.158.02": "[datastore-01] depots/NAME.zip"}.'
            )
        self._named = {str(version): _source(str(version), one) for version, one in (named or {}).items()}
        self._used: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in entries:
            installed = [made.after for made in entry.changes if made.path == DRIVER and made.after]
            source = _chosen(entry.request, _OF_SOURCE)
            if entry.module != MODULE or entry.state == PLANNED or not set(source) & set(SOURCES):
                continue
            if "file" in source:
                source.update(_chosen(entry.request, _OF_FILE))
            for driver in installed:
                # Each host may have a datastore of its own, so its own run has priority.
                self._used[entry.host, driver] = self._used["", driver] = source

    def of(self, host: str, driver: str) -> dict[str, Any]:
        """The options that name the package of a driver; empty if it is unknown."""
        version = driver.partition(" ")[2]
        for name in (version, version.partition("-")[0]):
            if name in self._named:
                return self._named[name]
        return self._used.get((host, driver)) or self._used.get(("", driver)) or {}


def prepared(entries: Sequence[Entry], due: Sequence[Entry], packages: Packages) -> list[Entry]:
    """The entries of the driver of one host, with the earlier driver, and with all changes of the cluster's image.

    Only the first host of a run changes the image.
    """
    last = entries[-1]
    before = next((made.before for entry in entries for made in entry.changes if made.path == DRIVER), None)
    cluster = last.ids.get("cluster")
    of_image = [
        replace(one, host=last.host, label=last.label, ids=last.ids, request=last.request, changes=changes)
        for one in due
        if one.module == MODULE and cluster and one.ids.get("cluster") == cluster
        for changes in [tuple(made for made in one.changes if made.path.startswith(IMAGE))]
        if changes
    ]
    own = [
        replace(one, changes=tuple(made for made in one.changes if not (cluster and made.path.startswith(IMAGE))))
        for one in entries
    ]
    every = sorted([*own, *of_image], key=lambda one: one.when)
    more: dict[str, Any] = {}
    if before is not None:
        family, _space, version = before.partition(" ")
        source = packages.of(last.host, before)
        images = [one for path, one in net(every, settled=True).items() if path.startswith(IMAGE)]
        why = _lost(before, source, images)
        more = {LOST: why} if why else {EARLIER: {"family": family, "version": version, **source}}
    return [replace(one, ids={**one.ids, **more}) for one in every]


def inverse(entries: Sequence[Entry]) -> list[Union[Step, Cannot]]:
    """The steps that restore the driver of a host."""
    settings = net(entries, settled=True)
    if not settings:
        return []
    ids, driver = entries[-1].ids, settings.get(DRIVER)
    earlier = ids.get(EARLIER)
    if earlier is None:
        if all(path.startswith(IMAGE) for path in settings):
            return [cannot(entries, path, _ONLY_IMAGE) for path, one in settings.items() if one.differs]
        if all(one.back is None for one in settings.values()):
            return [step(entries, {**_chosen(entries[-1].request, _KEPT), "state": "absent"}, settings)]
        why = ids.get(LOST) or (_unknown(driver.back) if driver is not None and driver.back else _OTHER_IMAGE)
        return [cannot(entries, DRIVER, why)] if any(one.differs for one in settings.values()) else []
    # The driver has the versions of its VIBs. The name of a VIB is unknown until it is installed.
    chosen = {path: one for path, one in settings.items() if not path.startswith(VIBS)}
    if driver is not None and any(entry.state == PLANNED for entry in entries):
        # A killed run may have removed one driver, and not have installed the other one.
        chosen[DRIVER] = replace(driver, also=(*driver.also, None))
    args = {
        **_chosen(entries[-1].request, _KEPT),
        **earlier,
        "state": "present",
        "downgrade": "allow",
        "replace": True,
        # The host had this driver.
        "other_release": "allow",
    }
    return [replace(step(entries, args, chosen), follows=(VIBS,))] if chosen else []


def advice(step_: Mapping[str, Any], failure: str) -> str:
    """What a user does about a package that the module cannot use."""
    version = str(step_["args"].get("version", ""))
    return f"{failure.rstrip('. ')}. {_option(version)}"


def cautions(changed: Iterable[tuple[str, Any, Any]]) -> list[str]:
    """A line for the hosts that return to an older branch. changed: (object, driver that the run left, earlier one)."""
    found: dict[tuple[int, int], list[str]] = {}
    for name, left, back in changed:
        new, old = (parse(str(one or "").partition(" ")[2]) for one in (left, back))
        if new is not None and old is not None and old.branch < new.branch:
            found.setdefault((new.branch, old.branch), []).append(name)
    return [
        f"caution: the host driver returns from R{new} to R{old} on {', '.join(names)}. A guest with a driver "
        f"newer than R{old} has no vGPU there. Set restore_guest_driver, which downgrades it before the hosts, see "
        "Rollback in docs/upgrade_driver.md."
        for (new, old), names in sorted(found.items())
    ]


def _lost(driver: str, source: Mapping[str, Any], images: Sequence[Net]) -> str:
    """Why no step restores the driver; empty if a step may. images: the changes of the image of the cluster."""
    if SEVERAL in driver:
        # A forced installation leaves them, and no package has them.
        return f"The run replaced several drivers, {driver}. Install them on the host."
    if images and all(one.back is None for one in images):
        return _OTHER_IMAGE
    return "" if images or source else _unknown(driver)


def _unknown(driver: str) -> str:
    return f"The run replaced {driver}, and the journal has no package of it. {_option(driver.partition(' ')[2])}"


def _option(version: str) -> str:
    short = version.partition("-")[0]
    return (
        f'Set restore_driver to the depot of that driver, for example {{"{short}": "[datastore-01] depots/NAME.zip"}}.'
    )


def _of_lines(text: str) -> dict[str, str]:
    """The packages in the answer of a survey of AWX: VERSION: PACKAGE on each line."""
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        version, separator, package = (part.strip() for part in line.partition(":"))
        if not (separator and package and version.replace(".", "").replace("-", "").isalnum()):
            raise AnsibleFilterError(
                f"restore_driver has the line {line!r}, which names no driver and its package. Write one line for each "
                "version, for example 570.158.02: [datastore-01] depots/NAME.zip."
            )
        found[version] = package
    return found


def _source(version: str, given: Any) -> dict[str, Any]:
    """The options of the module for a value of restore_driver."""
    if isinstance(given, str) and given.strip():
        return {"url" if given.startswith(("http://", "https://")) else "depot": given}
    known = (*_OF_SOURCE, *_OF_FILE)
    if isinstance(given, dict) and set(given) <= set(known) and len(set(given) & set(SOURCES)) == 1:
        if "file" in given and not given.get("datastore"):
            raise AnsibleFilterError(
                f"restore_driver has no datastore for the file of the driver {version}. The hosts install it from a "
                f'datastore. Set both, for example {{"file": "{given["file"]}", "datastore": "datastore-01"}}.'
            )
        return dict(given)
    raise AnsibleFilterError(
        f"restore_driver has no package for the driver {version}. Set it to a path on a datastore, to a URL, or to a "
        f"mapping with one of {', '.join(SOURCES)}, and with {', '.join((*_OF_FILE, 'checksum'))} if needed."
    )


def _chosen(request: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: request[name] for name in names if name in request}
