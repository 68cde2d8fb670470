# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Change the driver of one host by esxcli: exactly the planned steps, in the order that leaves no conflict."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import plan, read, refusals

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import DriverRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.read import Reach
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.source import Local, Source
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.datastore_file import DatastoreFiles
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli import Esxcli
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.esxcli_ssh import SshEsxcli

_POLLS = 12
_PAUSE_S = 5.0


def by_esxcli(
    reach: Reach, files: DatastoreFiles, item: Item[DriverRequest, HostDriver], source: Source | None, keep_upload: bool
) -> OperatorError | None:
    """Remove the other drivers, install the desired one; the error of a request with an unknown result, or None."""
    plan.demand_maintenance(item.label, item.now)
    uploaded = source is not None and source.local is not None and provide(files, cast("Local", source))
    item.touched = True
    try:
        uncertain = _change(reach, item, source)
    except OperatorError:
        if uploaded and not keep_upload:
            # The error of the installation matters more than a remaining file.
            with contextlib.suppress(OperatorError):
                files.remove(cast("Local", source).place)
        raise
    if uploaded and not keep_upload:
        files.remove(cast("Local", source).place)
    return uncertain


def provide(files: DatastoreFiles, source: Local) -> bool:
    """Copy a local package to its datastore, unless the same file exists; return whether it was copied."""
    there = files.checksum(source.place)
    if there == source.checksum:
        return False
    if there is not None:
        raise plan.other_file_there(source, f"SHA-256 {there} instead of {source.checksum}")
    files.upload(source.local, source.place, source.checksum)
    return True


def prove(reach: Reach, item: Item[DriverRequest, HostDriver], uncertain: OperatorError | None) -> None:
    """Read the host until it has the desired state; an installation with a lost answer may still run."""
    item.proved = read.read_again(reach)
    missing = plan.gap(item.label, item.proved, item.wanted)
    polls = _POLLS if uncertain is not None else 0
    while missing is not None and polls:
        polls -= 1
        reach.vcenter.clock.sleep(_PAUSE_S)
        item.proved = read.read_again(reach)
        missing = plan.gap(item.label, item.proved, item.wanted)
    if missing is not None:
        raise uncertain or missing


def _change(reach: Reach, item: Item[DriverRequest, HostDriver], source: Source | None) -> OperatorError | None:
    """Repeat attempts as long as each one finds the host in another state than the one before."""
    there = item.now
    while True:
        try:
            return _attempt(reach.esxcli, there, item.wanted, source)
        except OperatorError as error:
            if error.code != "esxcli_failed":
                raise
            # Processes of a killed run continue for a while, and do the work of this run.
            before, there = there, read.read_again(reach)
            if plan.gap(item.label, there, item.wanted) is None:
                return None
            if there.vibs == before.vibs:
                raise refusals.advised(error) from error


def _attempt(
    esxcli: Esxcli | SshEsxcli, there: HostDriver, wanted: HostDriver, source: Source | None
) -> OperatorError | None:
    """The error of a request with an unknown result, or None."""
    kept = {vib.name for vib in wanted.vibs}
    gone = [vib.name for vib in there.vibs if vib.name not in kept]
    steps: list[tuple[str, Mapping[str, str | list[str]]]] = (
        [("software.vib.remove", {"vibname": gone})] if gone else []
    )
    if wanted.vibs and source is not None:
        # NVIDIA AI Enterprise user guide 5.0, chapter 2.7.1: the depot through vib install, which replaces too.
        steps.append(("software.vib.install", source.argument))
    for command, arguments in steps:
        try:
            esxcli.call(command, **arguments)
        except OperatorError as error:
            if error.code != "fate_unknown":
                raise
            return error
    return None
