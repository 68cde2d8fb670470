# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What answers of looks become: findings, a table, a sentence."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import hosts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import machines as preflight_machines
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import once, refusal

from .world import FAILED, NOBODY_LEFT, preview

# As module_utils/vcenter/args.py words it.
UNSET = "{} is not set; give it to the task, to module_defaults, or by the environment variable {}."
NEXT = "Correct this, and run preflight again."


def shown(findings):
    return [(one.where, one.what, one.state) for one in findings]


@pytest.mark.parametrize(
    "answer, parts",
    [
        pytest.param(FAILED, ("It was wanted. It is not there.", "Bring it."), id="an operator's error"),
        pytest.param({"msg": "Timed out"}, ("Timed out.", NEXT), id="a text of another kind"),
        pytest.param({}, ("The task gave no result. Its output is above.", NEXT), id="nothing"),
        pytest.param({"msg": "", "module_stderr": "Killed"}, ("Killed.", NEXT), id="no message"),
        pytest.param(
            {"msg": "It was wanted. Version 8.0.3 is there. And more. Take `all`."},
            ("It was wanted. Version 8.0.3 is there. And more.", "Take `all`."),
            id="several sentences",
        ),
        pytest.param(
            {"msg": "A login was wanted. vCenter says no. Check the user. Users are locked after some tries."},
            ("A login was wanted. vCenter says no.", "Check the user. Users are locked after some tries."),
            id="advice of two sentences",
        ),
        pytest.param(
            {"msg": "Task failed: esx-01: it was to be asked. It could not be: connection reset."},
            ("It was to be asked. It could not be: connection reset.", NEXT),
            id="no advice",
        ),
        pytest.param(
            {"msg": "esx-01 has no ports vmnic7. It has vmnic0. Correct the ports, or set site_host."},
            (
                "esx-01 has no ports vmnic7. It has vmnic0.",
                "Correct the ports, or set site_host.",
            ),
            id="the failure first",
        ),
        pytest.param(
            {"msg": "grid_a100-16c does not exist. Choose another."},
            ("grid_a100-16c does not exist.", "Choose another."),
            id="a value first",
        ),
        pytest.param(
            {"msg": UNSET.format("password", "VMWARE_PASSWORD")},
            (
                "site_vcenter_password is not set.",
                "Set site_vcenter_password, or the environment variable VMWARE_PASSWORD.",
            ),
            id="keys of the site",
        ),
    ],
)
def test_a_refusal_keeps_the_order_of_its_sentences_and_has_what_to_do_apart(answer, parts):
    one = refusal("hosts", "esx-01", "driver", answer)
    assert (one.wanted, one.found, one.todo) == ("", *parts)


def test_what_many_modules_say_alike_is_reported_once():
    reported = [refusal("hosts", "esx-01", what, FAILED) for what in ("driver", "MTU")]
    reported.append(refusal("hosts", "esx-02", "driver", FAILED))
    assert [(one.where, one.what) for one in once(reported)] == [("esx-01", "driver"), ("esx-02", "driver")]


def on(vmknic="vmk1", **changes):
    """A host whose VMkernel adapter PVRDMA will use."""
    reported = {"device": "vmk1", "ip": "192.0.2.1", "netmask": "255.255.255.0", "vlan": 111, "portgroup": "pg-rdma"}
    return {"host": {"vmkernel": [{**reported, **changes}]}, "vmknic": vmknic}


@pytest.mark.parametrize(
    "other, found",
    [
        (on(ip="192.0.2.2"), []),
        (on(vmknic="", vlan=222), []),
        ({}, []),
        (
            on(ip="192.0.2.2", vlan=222, portgroup="pg-b"),
            ["esx-02 vmk1 is in VLAN 222 (pg-b), while esx-01 vmk1 is in VLAN 111 (pg-rdma)."],
        ),
        (on(), ["esx-02 vmk1 has the address 192.0.2.1, while esx-01 vmk1 has it too."]),
    ],
)
def test_vmkernel_adapters_that_do_not_reach_each_other_block(other, found):
    reported = list(hosts.data_path({"esx-01": on(), "esx-02": other}))
    assert [one.found for one in reported] == found
    assert {(one.where, one.what, one.state) for one in reported} <= {("esx-02", "address of vmk1", "blocks")}


def test_ports_that_are_shut_down_block_and_those_without_a_link_are_open():
    down = [{"port": "Ethernet1", "reason": "administratively down"}, {"port": "Ethernet2", "reason": "no link"}]
    answer = {"switch": {"platform": "eos", "version": "4.30", "changes": [], "ports_down": down}}
    reported = {one.what: (one.state, one.found) for one in hosts.switches({"leaf-01": answer})}
    assert reported["ports"] == ("blocks", "Ethernet1 is administratively down.")
    assert reported["links"] == ("open", "Ethernet2 has no link.")


def restart(kind):
    return {"kind": kind, "reasons": ["driver"], "cold_reasons": ["firmware"], "reboot": True}


BY_IMAGE = {"kind": "none", "reasons": [], "cold_reasons": [], "reboot": False, "remediated": True}


def allowed(**changes):
    return {**preview()["allowed"], **changes}


@pytest.mark.parametrize(
    "what, reported",
    [
        pytest.param(preview(), [("host", "ok"), ("BMC", "ok"), ("settings", "ok")], id="nothing is missing"),
        pytest.param({}, [("host", "open")], id="not looked at"),
        pytest.param({"answers": {"look": FAILED}}, [("vCenter's view of it", "blocks")], id="not known to vCenter"),
        pytest.param(
            preview(gaps=[{"step": "mtu", "text": "the MTU of vmk1 is 1500, requested 9000"}]),
            [("host", "ok"), ("BMC", "ok"), ("MTU", "will be changed")],
            id="a gap",
        ),
        pytest.param(
            preview(blockers=[{"what": "lockdown mode", "found": "It is strict.", "todo": "Add root."}]),
            [("lockdown mode", "blocks")],
            id="lockdown mode that keeps the stage out",
        ),
        pytest.param(
            preview(host={**preview()["host"], "in_maintenance": True}),
            [("maintenance mode", "open")],
            id="maintenance mode of an operator",
        ),
        pytest.param(
            preview(restart=restart("warm")), [("restart", "will be changed")], id="a restart that is allowed"
        ),
        pytest.param(
            preview(restart=restart("warm"), allowed=allowed(reboot="refuse")),
            [("restart", "blocks")],
            id="a restart that is not",
        ),
        pytest.param(
            preview(restart=BY_IMAGE, allowed=allowed(reboot="refuse")),
            [("restart", "blocks")],
            id="image, not allowed",
        ),
        pytest.param(preview(restart=BY_IMAGE), [("restart", "will be changed")], id="image"),
        pytest.param(
            preview(restart=restart("cold")), [("restart", "blocks")], id="a cold power cycle that is not allowed"
        ),
        pytest.param(
            preview(restart=restart("cold"), allowed=allowed(cold_cycle="allow", bmc=False)),
            [("restart", "blocks")],
            id="a cold power cycle without a BMC",
        ),
        pytest.param(
            preview(restart=restart("cold"), allowed=allowed(cold_cycle="allow")),
            [("restart", "will be changed")],
            id="a cold power cycle that is allowed",
        ),
        pytest.param(preview(unseen=["MIG"]), [("MIG", "open")], id="what only a shell reports"),
        pytest.param(preview(allowed=allowed(ssh=False)), [("SSH", "blocks")], id="SSH that is missing"),
        pytest.param(
            preview(answers={"bios": {**FAILED, "failure": {"code": "bmc_login_refused"}}}),
            [("BMC", "blocks"), ("host", "ok")],
            id="a BMC that does not let the user in",
        ),
        pytest.param(
            preview(answers={"bios": {**FAILED, "failure": {"code": "no_such_attribute"}}}),
            [("BIOS settings", "blocks")],
            id="a BIOS setting that is refused",
        ),
        pytest.param(
            preview(answers={"modules": {"results": [{"host": {}}, FAILED]}}),
            [("options of the network driver", "blocks")],
            id="one of several",
        ),
    ],
)
def test_a_host_is_reported_as_its_stage_sees_it(what, reported):
    findings = shown(hosts.hosts({"esx-01": what}))
    for part in reported:
        assert ("esx-01", *part) in findings


@pytest.mark.parametrize(
    "answer, reported",
    [
        ({}, [("switch", "open")]),
        (FAILED, [("switch", "blocks")]),
        ({"unreachable": True, "msg": "No route to host"}, [("switch", "blocks")]),
        ({"switch": {"platform": "eos", "changes": []}}, [("login", "ok"), ("RoCE", "ok")]),
        (
            {"switch": {"platform": "eos", "changes": [{"path": "Ethernet1.pfc"}]}},
            [("login", "ok"), ("RoCE", "will be changed")],
        ),
    ],
    ids=["not asked", "refused", "unreachable", "right", "differs"],
)
def test_a_switch_is_reported_as_its_stage_sees_it(answer, reported):
    assert shown(hosts.switches({"leaf-01": answer})) == [("leaf-01", *part) for part in reported]


def vm(name, changed=False, failed=False, **more):
    return {
        "name": name,
        "path": f"/dc/vm/{name}",
        "changed": changed,
        "failed": failed,
        "changes": [{"path": "cpus"}],
        **more,
    }


def machines(power="refuse", running=(), left=None, **answers):
    parts = ("placement", "clone", "config", "power", "removal", "drs")
    room = {"msg": "2 VMs on 2 hosts: 2 kept.", "placement": {"fits": True, "shortages": []}}
    given = {**dict.fromkeys(parts, {}), "placement": room, **answers}
    return {
        "power": power,
        "cluster": "gpu",
        "due": {"running": list(running)},
        "left": left or NOBODY_LEFT,
        "answers": given,
    }


SHORT = {
    "msg": "2 VMs on 0 hosts: 2 without a host.",
    "placement": {"fits": False, "shortages": [{"resource": "vGPUs", "wanted": 2, "free": 0}]},
}
AWAY = {
    "msg": "2 VMs on 1 host: 1 without a host.",
    "placement": {
        **SHORT["placement"],
        "hosts": [
            {"name": "esx-01", "usable": True, "why_not": None},
            {"name": "esx-02", "usable": False, "why_not": "it is in maintenance mode"},
        ],
    },
}
FAR = {
    "msg": "1 VM on 1 host.",
    "placement": {"fits": True, "shortages": []},
    "warnings": ["job-01: GPU and port are on different NUMA nodes."],
}
NO_ROOM = {"failed": True, "msg": "P: w. f. t.", "failure": {"code": "does_not_fit"}}
NO_GROUP = {"failed": True, "msg": "P: w. f. t.", "failure": {"code": "portgroup_not_found"}}


@pytest.mark.parametrize(
    "seen, hosts_change, reported",
    [
        pytest.param(machines(), False, [("gpu", "room for the VMs", "ok")], id="room"),
        pytest.param(
            machines(placement=SHORT), True, [("gpu", "room for the VMs", "open")], id="hosts that will offer more"
        ),
        pytest.param(machines(placement=SHORT), False, [("gpu", "room for the VMs", "blocks")], id="no room"),
        pytest.param(
            machines(placement=NO_ROOM),
            False,
            [("gpu", "room for the VMs", "blocks")],
            id="no room, as the stage reports",
        ),
        pytest.param(
            machines(placement=NO_GROUP), True, [("gpu", "room for the VMs", "blocks")], id="no such port group, ever"
        ),
        pytest.param(
            machines(clone={"vms": [vm("a", changed=True)]}, config={"vms": [vm("a", changed=True)]}),
            False,
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/a", "creation", "will be changed")],
            id="a new VM is reported once",
        ),
        pytest.param(
            machines(config={"vms": [vm("a", changed=True), vm("b")]}),
            False,
            [
                ("gpu", "room for the VMs", "ok"),
                ("/dc/vm/a", "settings and devices", "will be changed"),
                ("/dc/vm/b", "settings", "ok"),
            ],
            id="a VM that differs and one that does not",
        ),
        pytest.param(
            machines(config={"failed": True, "vms": [vm("a", failed=True, msg="VM a: w. f. t.", failure={})]}),
            True,
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/a", "settings and devices", "open")],
            id="what hosts will offer",
        ),
        pytest.param(
            machines(config={"failed": True, "vms": [vm("a", failed=True, msg="VM a: w. f. t.", failure={})]}),
            False,
            [("gpu", "room for the VMs", "ok"), ("/dc/vm/a", "settings and devices", "blocks")],
            id="what hosts do not offer",
        ),
        pytest.param(
            machines(running=["a"]),
            False,
            [("gpu", "room for the VMs", "ok"), ("a", "power", "blocks")],
            id="a running VM that may not be shut down",
        ),
        pytest.param(
            machines(power="cycle", running=["a"]),
            False,
            [("gpu", "room for the VMs", "ok"), ("a", "power", "will be changed")],
            id="a running VM that may",
        ),
        pytest.param({}, False, [("VMs", "VMs", "open")], id="not looked at"),
    ],
)
def test_vms_are_reported_as_their_stage_sees_them(seen, hosts_change, reported):
    assert shown(preflight_machines.machines(seen, hosts_change)) == reported


def test_gpu_and_port_on_different_numa_nodes_are_an_open_finding_beside_the_room():
    room, far = preflight_machines.machines(machines(placement=FAR), False)
    assert (room.what, room.state) == ("room for the VMs", "ok")
    assert (far.category, far.what, far.state) == ("capacity", "distance of GPU and port", "open")
    assert far.found == FAR["warnings"][0]
    assert "NUMA" in far.todo


@pytest.mark.parametrize(
    "hosts_change, state, todo",
    [(True, "open", "Run the stage hosts first"), (False, "blocks", "Free the missing resources")],
)
def test_host_in_maintenance_mode_is_named_where_room_is_missing(hosts_change, state, todo):
    (one,) = preflight_machines.machines(machines(placement=AWAY), hosts_change)
    assert (one.category, one.what, one.state) == ("capacity", "room for the VMs", state)
    assert one.found == (
        "2 VMs on 1 host: 1 without a host. vGPUs: 2 requested, 0 free. "
        "Hosts that accept no VM: esx-02: it is in maintenance mode."
    )
    assert todo in one.todo
