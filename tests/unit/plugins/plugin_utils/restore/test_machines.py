"""The inverse of every module of the stage machines, by tables: changes and request, and what restores them."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import machines
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.machines import INVERSE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import PLANNED, Step

from .test_steps import entry

UUID = "52b6d2a1"
PATH = "/dc1/vm/training/job-01"
IDS = {"name": "job-01", "moid": "vm-42", "instance_uuid": UUID, "path": PATH}
VM = {"instance_uuid": UUID}
LEFT = {"memory_reservation": "ignore", "mmio": "ignore", "cpu_reservation": "ignore"}
ON_RDMA = "pg-rdma on dvs-train"


def vm(*changes, module="vm_config", request=None, **more):
    given = {"stage": "machines", "host": "localhost", "label": "job-01", "ids": IDS}
    asked = {"vms": [{"name": "other"}, {"name": "job-01", **(request or {})}], "power": "cycle"}
    return machines.plain(entry(*changes, module=module, request=asked, **{**given, **more}))


def inverse(module, *entries):
    """(steps, what cannot be restored)."""
    found = INVERSE[module](list(entries))
    return [one for one in found if isinstance(one, Step)], [one.what for one in found if not isinstance(one, Step)]


@pytest.mark.parametrize(
    "changes, parts, cannot",
    [
        pytest.param(
            [
                ("cpus", 4, 16),
                ("cores_per_socket", 1, 8),
                ("memory_gb", 16, 64),
                ("latency_sensitivity", "normal", "high"),
            ],
            {"shape": {**LEFT, "cpus": 4, "cores_per_socket": 1, "memory_gb": 16, "latency_sensitivity": "normal"}},
            [],
            id="size",
        ),
        pytest.param(
            [("cpu_reservation_mhz", 500, 40000)],
            {"shape": {"memory_reservation": "ignore", "mmio": "ignore", "cpu_reservation_mhz": 500}},
            [],
            id="reserved CPUs",
        ),
        pytest.param(
            [("cores_per_socket", None, 8), ("memory_gb", 0.5, 64), ("hardware_version", 19, 21)],
            {},
            ["cores_per_socket", "hardware_version", "memory_gb"],
            id="what no option sets",
        ),
        pytest.param(
            [
                ("numa.nodeAffinity", "0,1", "1"),
                ("pciPassthru.allowP2P", None, "TRUE"),
                ("numa.vcpu.preferHT", None, "1"),
            ],
            {
                "shape": {
                    **LEFT,
                    "numa_nodes": [0, 1],
                    "numa_method": "affinity",
                    "gpudirect": "disabled",
                    "advanced": {"numa.vcpu.preferHT": None},
                }
            },
            [],
            id="settings of the VMX file",
        ),
        pytest.param(
            [
                ("memory_reservation", "2048 MB", "all"),
                ("pciPassthru.use64bitMMIO", None, "TRUE"),
                ("pciPassthru.64bitMMIOSizeGB", None, "128"),
            ],
            {"shape": {**LEFT, "memory_reservation_mb": 2048, "mmio": "none"}},
            [],
            id="reserved memory and a first window",
        ),
        pytest.param(
            [("memory_reservation", "partial", "all"), ("pciPassthru.64bitMMIOSizeGB", "64", "128")],
            {"shape": {**LEFT, "memory_reservation_mb": 0, "mmio": "auto", "mmio_size_gb": 64}},
            [],
            id="no reserved memory and a larger window",
        ),
        pytest.param(
            [("memory_reservation", "all", "partial"), ("pciPassthru.use64bitMMIO", None, "TRUE")],
            {"shape": {**LEFT, "memory_reservation": "all"}},
            ["pciPassthru.use64bitMMIO"],
            id="a window that was half there",
        ),
        pytest.param(
            [("cores_per_numa_node", None, 8), ("numa_devices", [], ["grid_a100-40c: 0"])],
            {"shape": {**LEFT, "numa_nodes": []}},
            [],
            id="virtual NUMA nodes that were not there",
        ),
        pytest.param(
            [("cores_per_numa_node", 4, 8)], {}, ["cores_per_numa_node"], id="virtual NUMA nodes that were there"
        ),
        pytest.param(
            [("profiles", [], ["grid_a100-40c"]), ("pciPassthru0.cfg.enable_uvm", None, "1")],
            {"vgpu": {"state": "absent"}},
            [],
            id="first vGPU",
        ),
        pytest.param(
            [("profiles", ["grid_a100-4c"], ["grid_a100-40c"]), ("pciPassthru0.cfg.enable_uvm", None, "1")],
            {"vgpu": {"profiles": ["grid_a100-4c"], "unified_memory": "disabled"}},
            [],
            id="another vGPU",
        ),
        pytest.param(
            [("pciPassthru0.cfg.enable_uvm", "0", "1")],
            {"shape": {**LEFT, "advanced": {"pciPassthru0.cfg.enable_uvm": "0"}}},
            [],
            id="unified memory alone",
        ),
        pytest.param(
            [("devices", [], ["static 0000:3b:00.0"])], {"passthrough": {"state": "absent"}}, [], id="first device"
        ),
        pytest.param(
            [
                (
                    "devices",
                    [
                        "dvx com.example.gpu",
                        "dynamic 10de:20f1 or 10de:20b0 labelled fabric A on node 1",
                        "group Nvidia:2@grid_a100x-40c%NVLink",
                        "static 0000:3b:00.0",
                    ],
                    [],
                )
            ],
            {
                "passthrough": {
                    "devices": [
                        {"kind": "dvx", "device_class": "com.example.gpu"},
                        {
                            "kind": "dynamic",
                            "allowed": ["10de:20f1", "10de:20b0"],
                            "label": "fabric A",
                            "numa_node": 1,
                        },
                        {"kind": "group", "group": "Nvidia:2@grid_a100x-40c%NVLink"},
                        {"kind": "static", "id": "0000:3b:00.0"},
                    ]
                }
            },
            [],
            id="devices that were there",
        ),
        pytest.param(
            [("devices", ["static 0000:3b:00.0, recorded for another device"], [])], {}, ["devices"], id="old device"
        ),
        pytest.param([("power_cycle", False, True), ("power_on_again", True, False)], {}, [], id="what passes"),
    ],
)
def test_settings_of_a_vm(changes, parts, cannot):
    steps, lost = inverse("vm_config", vm(*changes))
    assert ([one.args for one in steps], lost) == (
        [{"vms": [{**VM, **parts}], "power": "cycle"}] if parts else [],
        cannot,
    )
    assert {one.module for one in steps} <= {"vm_config"}


@pytest.mark.parametrize(
    "kind, requested, changes, part",
    [
        pytest.param(
            "pvrdma",
            ["pg-rdma"],
            [("new adapter 1", None, f"{ON_RDMA}, rocev2")],
            {"state": "absent"},
            id="the only one",
        ),
        pytest.param(
            "pvrdma",
            ["pg-rdma", "pg-old"],
            [("new adapter 1", None, ON_RDMA)],
            {"state": "present", "adapters": [{"portgroup": "pg-old", "connected": True}]},
            id="beside one that was there",
        ),
        pytest.param(
            "sriov",
            ["pg-sriov"],
            [
                ("new adapter 1", None, "pg-sriov on dvs-train"),
                ("SR-IOV network adapter 2", "pg-a on dvs, 0000:3b:00.0, 00:50:56:01:02:03, disconnected", None),
            ],
            {
                "state": "present",
                "adapters": [
                    {
                        "portgroup": "pg-a",
                        "switch": "dvs",
                        "physical_function": "0000:3b:00.0",
                        "mac": "00:50:56:01:02:03",
                        "connected": False,
                    }
                ],
            },
            id="instead of one that was there",
        ),
        pytest.param(
            "vmxnet3",
            ["pg-train"],
            [("new adapter 1", None, "pg-train on dvs-train")],
            {"state": "absent", "adapters": [{"portgroup": "pg-train", "switch": "dvs-train"}]},
            id="vmxnet3 beside unmanaged ones",
        ),
        pytest.param(
            "sriov",
            ["pg-sriov"],
            [("SR-IOV network adapter 2.portgroup", "pg-a on dvs", "pg-sriov on dvs-train")],
            {"state": "present", "adapters": [{"portgroup": "pg-a", "switch": "dvs", "connected": True}]},
            id="moved to another port group",
        ),
        pytest.param(
            "pvrdma",
            ["pg-rdma"],
            [("Network adapter 1.connected", False, True), ("Network adapter 1.protocol", "rocev1", "rocev2")],
            {"state": "present", "adapters": [{"portgroup": "pg-rdma", "connected": False, "protocol": "rocev1"}]},
            id="edited",
        ),
        pytest.param("sriov", ["a", "b"], [("Network adapter 1.portgroup", "c on d", "a on d")], None, id="one of two"),
        pytest.param("sriov", ["a"], [("Network adapter 1.mac", None, "00:50:56:01:02:03")], None, id="chosen address"),
    ],
)
def test_adapters_of_a_vm(kind, requested, changes, part):
    asked = {kind: {"adapters": [{"portgroup": one, "connected": True, "mac": None} for one in requested]}}
    steps, lost = inverse("vm_config", vm(*changes, request=asked))
    assert [one.args["vms"] for one in steps] == ([[{**VM, kind: part}]] if part else [])
    assert bool(lost) == (part is None)


def test_an_adapter_has_the_same_name_when_it_comes_and_when_it_goes():
    asked = {"pvrdma": {"adapters": [{"portgroup": "pg-rdma"}]}}
    came = vm(("new adapter 1", None, ON_RDMA), ("new adapter 2", None, ON_RDMA), request=asked)
    went = vm(("Network adapter 2", ON_RDMA, None), ("Network adapter 3", ON_RDMA, None), request=asked)
    assert [made.path for made in came.changes] == [f"adapter {ON_RDMA}", f"adapter {ON_RDMA} #2"]
    assert inverse("vm_config", came, went) == ([], [])


def test_modules_of_single_parts_are_restored_by_vm_config():
    asked = {"adapters": [{"portgroup": "pg-sriov"}], "state": "present"}
    nic = vm(("new adapter 1", None, "pg-sriov on dvs"), module="sriov_nic", request=asked)
    (step,), lost = inverse("sriov_nic", nic)
    assert (step.module, step.args["vms"], lost) == ("vm_config", [{**VM, "sriov": {"state": "absent"}}], [])


@pytest.mark.parametrize(
    "changes, stage, args, cannot",
    [
        ([("power", "off", "on")], "machines", [{"vms": [VM], "state": "off"}], []),
        ([("power", "on", "off", "power_on")], "machines", [{"vms": [VM], "state": "on"}], []),
        ([("power", "suspended", "on")], "machines", [], ["power"]),
        ([("power", "on", "off")], "hosts", [], []),
    ],
)
def test_power(changes, stage, args, cannot):
    steps, lost = inverse("vm_power", vm(*changes, module="vm_power", stage=stage))
    assert ([one.args for one in steps], lost) == (args, cannot)


NEW = [("exists", False, True), ("path", None, PATH), ("host", None, "esx-01"), ("owner", None, "lab")]


def test_a_new_vm_is_powered_off_and_deleted_by_its_instance_uuid():
    made = vm(*NEW, module="vm_clone")
    made.request.update(owner="lab", datacenter="dc1")
    (off, gone), lost = inverse("vm_clone", made)
    assert (off.module, off.args, off.whole) == ("vm_power", {"vms": [VM], "state": "off", "force": True}, True)
    assert gone.args == {
        "vms": [{"name": "job-01", "folder": "/dc1/vm/training", **VM}],
        "state": "absent",
        "planned": {"power": "off"},
        "owner": "lab",
        "datacenter": "dc1",
    }
    assert (gone.module, gone.back, gone.left, gone.whole, lost) == (
        "vm_clone",
        {"exists": False},
        {"exists": True},
        True,
        [],
    )


def test_without_the_permission_a_new_vm_is_listed():
    (one,) = machines.kept(INVERSE["vm_clone"]([vm(*NEW, module="vm_clone")]))
    assert (one.what, "restore_delete_vms" in one.why) == ("exists", True)


@pytest.mark.parametrize(
    "ids, more, changes, why",
    [
        ({"path": PATH}, {"state": PLANNED}, NEW, "no instance UUID"),
        (IDS, {}, [("exists", True, False)], "The run deleted the VM"),
        (IDS, {}, [("host", "esx-01", "esx-02")], "Move it in vCenter."),
        (IDS, {}, [("owner", None, "lab")], "No module removes the owner"),
    ],
)
def test_what_becomes_of_a_vm_for_good(ids, more, changes, why):
    (one,) = INVERSE["vm_clone"]([vm(*changes, module="vm_clone", ids=ids, **more)])
    assert why in one.why


def test_a_vm_that_restore_deleted_needs_nothing():
    assert inverse("vm_clone", vm(*NEW, module="vm_clone"), vm(("exists", True, False), module="vm_clone")) == ([], [])


CLUSTER = {"cluster": "domain-c8", "anti_affinity": False}


def drs(*changes, **request):
    asked = {"cluster": "gpu", "name": "apart", "vms": ["a", "b"], "mandatory": True, **request}
    ids = {"name": "gpu", "moid": "domain-c8", "vms": ["a", "b"]}
    return entry(*changes, module="drs_placement", label="gpu", ids=ids, request=asked, stage="machines")


CREATED = [("rule.vms", None, ["a", "b"]), ("rule.mandatory", None, True), ("rule.enabled", None, True)]


@pytest.mark.parametrize(
    "changes, args, cannot",
    [
        pytest.param(CREATED, [{**CLUSTER, "name": "apart"}], [], id="new rule"),
        pytest.param(
            [("rule.vms", ["a", "c"], ["a", "b"])],
            [{"cluster": "domain-c8", "name": "apart", "vms": ["a", "c"], "mandatory": True}],
            [],
            id="changed rule",
        ),
        pytest.param(
            [("rule.mandatory", False, True), ("rule.enabled", False, True)],
            [{"cluster": "domain-c8", "name": "apart", "vms": ["a", "b"], "mandatory": False}],
            ["rule.enabled"],
            id="disabled rule",
        ),
        pytest.param(
            [("automation.a", "cluster", "manual"), ("automation.b", "disabled", "manual")],
            [
                {**CLUSTER, "automation": "cluster", "vms": ["a"]},
                {**CLUSTER, "automation": "disabled", "vms": ["b"]},
            ],
            [],
            id="levels",
        ),
    ],
)
def test_drs(changes, args, cannot):
    steps, lost = inverse("drs_placement", drs(*changes))
    assert ([one.args for one in steps], lost) == (args, cannot)


def test_each_rule_of_a_cluster_has_its_step():
    steps, _lost = inverse("drs_placement", drs(*CREATED), drs(*CREATED, name="other"))
    assert [one.args["name"] for one in steps] == ["apart", "other"]


def test_a_part_of_a_rule_alone_is_not_restored():
    steps, lost = inverse("drs_placement", drs(*CREATED[1:]))
    assert (steps, lost) == ([], [])
