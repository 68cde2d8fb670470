# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What a request means in an inventory: two datacenters, clusters, hosts, switches, port groups and VMs."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import params, scope
from pyVmomi import vim

ENTRY = {name: option.get("default") for name, option in params.ARGUMENTS["vms"]["options"].items()}
TASK = {name: option.get("default") for name, option in params.ARGUMENTS.items()}
ROOT = vim.Folder("root")


def row(kind, moid, name, parent=None, **more):
    return Row(kind(moid), {"name": name, "parent": parent, **more}, {})


def datacenter(name, parent=ROOT):
    """A datacenter with a cluster of two hosts, a host that stands alone, a switch, and what is on it."""
    center = vim.Datacenter(f"dc-{name}")
    folders = {kind: vim.Folder(f"folder-{kind}-{name}") for kind in ("host", "network", "vm")}
    cluster, alone = vim.ClusterComputeResource(f"gpu-{name}"), vim.ComputeResource(f"alone-{name}")
    switch = vim.DistributedVirtualSwitch(f"dvs-{name}")
    of = {"config.distributedVirtualSwitch": switch}
    hosts = {number: vim.HostSystem(f"host-{name}-{number}") for number in (1, 2, 3)}
    return [
        row(vim.Datacenter, center._moId, name, parent),
        *(row(vim.Folder, one._moId, kind, center) for kind, one in folders.items()),
        row(vim.ClusterComputeResource, cluster._moId, "gpu", folders["host"]),
        row(vim.ComputeResource, alone._moId, f"esx-3.{name}", folders["host"]),
        *(
            row(vim.HostSystem, one._moId, f"esx-{number}.{name}", alone if number == 3 else cluster)
            for number, one in hosts.items()
        ),
        row(vim.DistributedVirtualSwitch, switch._moId, "dvs", folders["network"]),
        row(vim.DistributedVirtualPortgroup, f"pg-{name}", "pg-train", **of),
        row(vim.DistributedVirtualPortgroup, f"up-{name}", "uplinks", **of, **{"config.uplink": True}),
        row(vim.VirtualMachine, f"vm-{name}", "train", folders["vm"], **{"runtime.host": hosts[1]}),
        row(
            vim.VirtualMachine,
            f"golden-{name}",
            "golden",
            folders["vm"],
            **{"runtime.host": hosts[1], "config.template": True},
        ),
    ]


ONE = [row(vim.Folder, "root", "Datacenters"), *datacenter("a")]
BOTH = [*ONE, *datacenter("b")]


def found(rows, *entries, **task):
    entries = entries or ({"name": "new"},)
    return scope.scope_of(rows, {**TASK, **task, "vms": [{**ENTRY, **entry} for entry in entries]})


def refused(rows, *entries, **task):
    with pytest.raises(OperatorError) as error:
        found(rows, *entries, **task)
    return error.value


def test_without_names_all_hosts_are_meant_and_their_clusters_reported():
    clusters = {row_.get("name"): cluster for row_, cluster in found(BOTH).hosts.values()}
    assert clusters["esx-1.a"] == clusters["esx-2.b"] == "gpu"
    assert clusters["esx-3.a"] == "esx-3.a"
    assert len(clusters) == 6


def test_a_cluster_is_one_of_several_hosts_and_of_one_datacenter():
    assert set(found(ONE, cluster="gpu").hosts) == {"host-a-1", "host-a-2"}
    assert set(found(BOTH, cluster="gpu", datacenter="b").hosts) == {"host-b-1", "host-b-2"}
    assert set(found(BOTH, datacenter="/b").hosts) == {"host-b-1", "host-b-2", "host-b-3"}


@pytest.mark.parametrize(
    "rows, task, code, says",
    [
        (BOTH, {"cluster": "gpu"}, "cluster_ambiguous", "There are 2 clusters gpu in different datacenters."),
        (ONE, {"cluster": "gpus"}, "cluster_not_found", "There is no cluster gpus. Similar names: gpu."),
        (ONE, {"cluster": "esx-3.a"}, "cluster_not_found", "There is no cluster esx-3.a. There are: gpu."),
        (ONE, {"datacenter": "x"}, "datacenter_not_found", "There is no datacenter x. There are: a."),
        (
            [*ONE, row(vim.Folder, "sub", "sub", ROOT), row(vim.Datacenter, "dc-2", "a", vim.Folder("sub"))],
            {"datacenter": "a"},
            "datacenter_ambiguous",
            "Several datacenters are named a: /a, /sub/a.",
        ),
        (
            [ONE[0], row(vim.Datacenter, "dc-e", "empty", ROOT)],
            {},
            "no_hosts",
            "There is no host in vCenter that this user may see.",
        ),
        (ONE, {"switch": "dvx"}, "switch_not_found", "There is no distributed switch dvx. Similar names: dvs."),
        (BOTH, {"portgroup": "pg-train"}, "portgroup_ambiguous", "Port group pg-train is on 2 switches: dvs, dvs."),
        (
            ONE,
            {"portgroup": "pg-trains", "switch": "dvs"},
            "portgroup_not_found",
            "Switch dvs has no port group pg-trains. Similar names: pg-train.",
        ),
        (
            ONE,
            {"portgroup": "uplinks", "switch": "dvs"},
            "portgroup_not_found",
            "Switch dvs has no port group uplinks. There are: pg-train.",
        ),
        (
            [*ONE, row(vim.DistributedVirtualSwitch, "dvs-2", "other", vim.Folder("folder-network-a"))],
            {"portgroup": "pg-train", "switch": "other"},
            "portgroup_on_other_switch",
            "Port group pg-train is not on other, but on dvs.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
def test_a_name_that_is_wrong_is_refused_with_those_near_it(rows, task, code, says):
    error = refused(rows, **task)
    assert error.code == code
    assert error.found == says


def test_a_port_group_reports_its_switch_and_one_that_is_not_distributed_stays_a_name():
    assert found(ONE, portgroup="pg-train").switch == "dvs"
    assert found(BOTH, portgroup="pg-train", cluster="gpu", datacenter="b").switch == "dvs"
    assert found(ONE, switch="dvs").switch == "dvs"
    standard = found(ONE, portgroup="VM Network")
    assert (standard.switch, standard.portgroup) == ("", "VM Network")


def test_vms_are_found_by_name_and_path_and_templates_are_none():
    assert {number: path for number, (_row, path) in found(ONE, {"name": "train"}, {"name": "x"}).vms.items()} == {
        0: "/a/vm/train"
    }
    assert found(BOTH, {"path": "/b/vm/train"}).vms[0][0].moid == "vm-b"
    assert [one.moid for one in found(ONE).residents] == ["vm-a"]
    assert refused(BOTH, {"name": "train"}).code == "vm_ambiguous"
    assert refused(ONE, {"name": "golden"}).code == "vm_is_template"
    assert "train and /a/vm/train are the same VM" in refused(ONE, {"name": "train"}, {"path": "/a/vm/train"}).message


@pytest.mark.parametrize(
    "power, code", [("poweredOn", "vm_elsewhere"), ("suspended", "vm_elsewhere"), ("poweredOff", None)]
)
def test_a_vm_on_another_host_is_one_that_can_move_only_while_it_is_off(power, code):
    of = {"runtime.host": vim.HostSystem("host-a-3"), "runtime.powerState": power}
    rows = [*ONE, row(vim.VirtualMachine, "vm-9", "away", vim.Folder("folder-vm-a"), **of)]
    if code:
        assert refused(rows, {"name": "away"}, cluster="gpu").code == code
    else:
        assert found(rows, {"name": "away"}, cluster="gpu").vms[0][0].moid == "vm-9"
    assert found(rows, {"name": "away"}).vms[0][0].moid == "vm-9"


def test_a_host_that_a_vm_is_pinned_to_is_one_of_those_asked_for():
    assert found(ONE, {"name": "x", "host": "ESX-1.a"}).pins == {0: "host-a-1"}
    assert refused(ONE, {"name": "x", "host": "esx-3.a"}, cluster="gpu").code == "host_elsewhere"
    error = refused(ONE, {"name": "x", "host": "esx-1"})
    assert error.found == "There is no host esx-1. Similar names: esx-1.a, esx-3.a, esx-2.a."


def test_all_that_is_wrong_is_reported_at_once():
    error = refused(ONE, {"name": "golden", "host": "nowhere"}, portgroup="pg", switch="none")
    assert [problem["code"] for problem in error.data["problems"]] == [
        "switch_not_found",
        "vm_is_template",
        "host_not_found",
    ]


@pytest.mark.parametrize("count, more", [(8, ""), (9, " and 1 more"), (12, " and 4 more")])
def test_of_many_names_a_message_has_the_first_eight(count, more):
    names = [f"cluster-{number:02}" for number in range(count)]
    assert scope.near("xyz", names) == f"There are: {', '.join(names[:8])}{more}."
