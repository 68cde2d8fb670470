# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""One capture of a vCenter, from the first request to the zip file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Folder, origin
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.reader import Reader
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.params import CaptureRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter


def capture(vcenter: VCenter, request: CaptureRequest) -> dict[str, Any]:
    """Write the capture, and return what it has."""
    keep_names = "names" in request.keep
    mode = {"keep_names": keep_names, "event_days": request.event_days, "vcenter": origin(vcenter)}
    folder = Folder(request.dest, mode)
    about = vcenter.content.about
    reader = Reader(vcenter, folder, keep_names, request.event_days)
    try:
        reader.read()
        counts = {"texts": dict(reader.scrub.counts), "dropped": dict(reader.scrub.dropped)}
        found = folder.finish(
            dict(
                counts,
                anonymised=not keep_names,
                vcenter={"version": about.version, "build": about.build, "api_version": about.apiVersion},
            )
        )
    except vmodl.MethodFault as fault:
        raise explain(fault, vcenter.name, "cannot read the site") from fault
    except OSError as error:
        raise trouble.unwritten(request.dest, error) from error
    answered = sum(1 for one in folder.coverage.values() if one["answered"])
    return dict(
        counts,
        dest=request.dest,
        secret=folder.secret,
        resumed=folder.resumed,
        anonymised=not keep_names,
        left=found["left"],
        sources={"answered": answered, "unread": len(folder.coverage) - answered},
        refused={name: one["refused"] for name, one in sorted(folder.coverage.items()) if one["refused"]},
    )
