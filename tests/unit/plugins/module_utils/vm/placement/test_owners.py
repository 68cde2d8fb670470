# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import owners


def vm(moid, host):
    values = {"name": moid, "runtime.host": SimpleNamespace(_GetMoId=lambda: host)}
    return SimpleNamespace(
        moid=moid, kind="VirtualMachine", ref=moid, get=lambda name, other=None: values.get(name, other)
    )


def test_a_vm_that_left_the_cluster_between_the_two_reads_is_left_out(monkeypatch):
    found = [vm("vm-1", "host-1"), vm("vm-2", "host-9")]
    host = SimpleNamespace(ref="host-1", get=lambda _name, _other=None: "esx-01")
    scope = SimpleNamespace(hosts={"host-1": (host, "gpu")}, residents=found)
    monkeypatch.setattr(owners, "_scope", lambda _tree, _params: scope)
    monkeypatch.setattr(owners.inventory, "Tree", lambda _rows: SimpleNamespace(path=lambda row: f"/dc/vm/{row.moid}"))
    monkeypatch.setattr(owners.properties, "retrieve", lambda *_given, **_options: found)
    vcenter = SimpleNamespace(content=SimpleNamespace(rootFolder=None))
    assert [(one["name"], one["host"]) for one in owners.owners(vcenter, {})] == [("vm-1", "esx-01")]
