# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Lines of capacity from small data centres, with or without the numbers of a vCenter."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import check, params, report
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.server import CLUSTER, Reported
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope

from unit.plugins.modules import described

SILENT = check.silent("vCenter 8.0.3 reports no capacity")


def scope(*hosts):
    """All hosts in one cluster."""
    parent = SimpleNamespace(_wsdlName=CLUSTER, _GetMoId=lambda: "domain-c1")
    return Scope(hosts={host.moid: (SimpleNamespace(get=lambda path: parent), host.cluster) for host in hosts})


def requested(**task):
    """A request of gpu_capacity_info."""
    return params.request_of(described.checked({**described.LOGIN, **task}, params.ARGUMENTS))


def capacity(*hosts, ask=SILENT, **task):
    return report.capacity_of(ask, scope(*hosts), hosts, requested(**task))


def telling(**numbers):
    """Ask a vCenter that has these numbers by MoID, and knows no others."""
    known = {moid.replace("_", "-"): found for moid, found in numbers.items()}
    asked = []

    def ask(kind, moid, wanted):
        asked.append((kind, moid))
        return {one: Reported(known[moid]) if moid in known else Reported(why="unknown") for one in wanted}

    ask.asked = asked
    return ask
