"""Plans are what the hosts can give: what is planned starts, what is used is not planned again, what is there stays."""

from __future__ import annotations

import pytest
from pyVim.task import WaitForTask
from pyVmomi import vim

from .observe import virtual_machine, warned
from .placement_lab import A100, esx, far, lab, near, ready, requested, vmknic

RDMA = {"path": "pvrdma", "portgroup": "pg-rdma"}
SRIOV = {"path": "sriov", "portgroup": "pg-sriov"}


@pytest.fixture
def plan(twin, drive):
    """The plan for some VMs in a data centre."""

    def ask(seed, vms, **task):
        answer = drive(twin(seed=seed))("vm_placement_info", cluster="gpu", vms=vms, **task)
        assert not answer["failed"], answer["msg"]
        return answer["placement"]["vms"]

    return ask


def hosts(entries):
    return {entry["name"]: (entry["action"], entry["host"]) for entry in entries}


def gpus(entries):
    return {entry["name"]: [gpu["id"] for gpu in entry["gpus"]] for entry in entries}


MIG = {"mig": True}
MIXED = {"vgpu_mode": "mixedSize"}
CASES = {
    "sizes that do not mix": ([esx(1, [near(), far()]), esx(2)], ["40c", "20c", "20c", "10c", "10c"]),
    "MIG and time-sliced GPUs in one host": ([esx(1, [near(**MIG), far()])], ["3-20c", "2-10c", "1-5c", "1-5c", "40c"]),
    "sizes that mix": ([esx(1, [near(**MIXED)]), esx(2)], ["20c", "10c", "10c", "40c"]),
    "a host before 8.0 Update 3": ([esx(1, [near(**MIG), far()], release="8.0.2")], ["3-20c", "3-20c", "20c", "20c"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["spread", "packed"])
def test_every_vm_of_a_plan_starts_where_it_is_planned(twin, drive, case, policy):
    """The largest first: the host chooses the GPU by its own policy, which knows nothing of those to come."""
    there, profiles = CASES[case]
    vms = [requested(f"v{number}", profile) for number, profile in enumerate(profiles)]
    for kind in ("mig", "vgpu"):
        asked = [vm for vm in vms if (vm["profiles"][0].count("-") == 2) is (kind == "mig")]
        if not asked:
            continue
        answer = drive(twin(seed=lab(*there)))(
            "vm_placement_info", cluster="gpu", vms=asked, policy=policy, gpu_mode=kind
        )
        assert not answer["failed"], answer["msg"]
        placed = [
            ready(entry["name"], entry["host"], *[gpu["profile"].partition("-")[2] for gpu in entry["gpus"]])
            for entry in answer["placement"]["vms"]
        ]
        running = twin(seed=lab(*there, vms=placed))
        for entry in sorted(placed, key=lambda vm: -int(vm["vgpus"][0].rstrip("c").rpartition("-")[2])):
            with virtual_machine(running, entry["name"]) as machine:
                WaitForTask(machine.PowerOnVM_Task())
                assert machine.runtime.host.name == entry["host"]


def test_what_running_vms_have_is_not_planned_again(plan):
    seed = lab(esx(1, [near(), far()]), esx(2), vms=[ready("old", "esx-01", "20c", power="on")])
    entries = plan(seed, [requested("a", "40c"), requested("b", "40c"), requested("c", "20c")])
    assert [entry["action"] for entry in entries] == ["create"] * 3
    on_first = [entry for entry in entries if entry["host"] == "esx-01"]
    assert sorted(entry["name"] for entry in on_first)[-1] == "c"


def test_a_vm_that_runs_is_reported_with_the_gpu_that_vsphere_gave_it(twin, drive):
    running = twin(seed=lab(esx(1, [near(), far()]), vms=[ready("old", "esx-01", "40c", power="on")]))
    taken = next(gpu.pci_id for gpu in running.world.of_kind("HostSystem")[0].gpus if gpu.residents)
    answer = drive(running)("vm_placement_info", vms=[requested("old", "40c"), requested("new", "40c")])
    assert gpus(answer["placement"]["vms"])["old"] == [taken]
    assert gpus(answer["placement"]["vms"])["new"] != [taken]


def test_a_vm_that_is_off_with_a_vgpu_is_reported_as_a_rival(plan):
    seed = lab(esx(1), vms=[ready("rival", "esx-01", "40c")])
    (entry,) = plan(seed, [requested("a", "40c")])
    assert entry["why"] == "emptiest host; competes with rival (off)"


def test_a_vm_that_is_off_moves_off_a_host_without_room_and_no_other_does(plan):
    vms = [ready("busy", "esx-01", "40c", power="on"), ready("a", "esx-01"), ready("b", "esx-02")]
    entries = plan(lab(esx(1), esx(2, [near(), far()]), vms=vms), [requested("a", "40c"), requested("b", "40c")])
    assert hosts(entries) == {"a": ("move", "esx-02"), "b": ("keep", "esx-02")}
    assert entries[0]["why"] == "leaves esx-01 (vGPU profile)"


@pytest.mark.parametrize("free_gb, fits", [(50, True), (5, False)])
def test_a_vm_moves_to_a_host_that_does_not_see_its_datastore_only_if_its_files_fit_there(twin, drive, free_gb, fits):
    vms = [ready("busy", "esx-01", "40c", power="on"), ready("a", "esx-01", datastore="near")]
    stores = [{"name": name, "capacity_gb": 1000, "free_gb": free} for name, free in (("near", 900), ("far", free_gb))]
    running = twin(seed=lab(esx(1), esx(2), vms=vms, stores=stores))
    with running.world.lock:
        for host in running.world.of_kind("HostSystem"):
            unseen = "far" if host.name == "esx-01" else "near"
            host.datastores = {moid: one for moid, one in host.datastores.items() if one.name != unseen}
    answer = drive(running)("vm_placement_info", vms=[requested("a", "40c")], fit="report")
    (entry,) = answer["placement"]["vms"]
    assert (entry["action"], entry["host"], entry["datastore"]) == (
        ("move", "esx-02", "far") if fits else (None, None, None)
    )
    short = [one["resource"] for one in answer["placement"]["shortages"]]
    assert ("datastore GB" in short) is not fits


def test_functions_that_running_vms_have_are_gone(plan, twin, drive):
    held = [{"network": "pg-sriov", "type": "sriov"}]
    old = [ready(f"old-{number}", "esx-01", networks=[], adapters=held, power="on") for number in range(3)]
    answer = drive(twin(seed=lab(esx(1), vms=old)))(
        "vm_placement_info", vms=[requested("a", nics=1), requested("b", nics=1)], fit="report", **SRIOV
    )
    (short,) = answer["placement"]["shortages"]
    assert (short["resource"], short["wanted"], short["free"]) == ("virtual functions", 2, 1)


def test_a_port_and_a_gpu_that_are_given_away_are_planned_once(twin, drive):
    seed = lab(esx(1, [near(passthrough=True, label="train")]), esx(2, [near(passthrough=True)]))
    call = {"gpu_mode": "passthrough", "path": "passthrough", "gpudirect": True, "nic_label": "fabric"}
    module = drive(twin(seed=seed))
    both = module("vm_placement_info", vms=[{"name": "a", "gpus": 1}, {"name": "b", "gpus": 1}], **call)
    assert sorted(entry["host"] for entry in both["placement"]["vms"]) == ["esx-01", "esx-02"]
    third = module("vm_placement_info", vms=[{"name": name, "gpus": 1} for name in "abc"], **call)
    assert third["failure"]["code"] == "does_not_fit"
    labelled = module("vm_placement_info", vms=[{"name": "b", "gpus": 1}], gpu_label="train", **call)
    assert labelled["placement"]["vms"][0]["host"] == "esx-01"


def test_only_gpus_in_the_mode_of_enhanced_directpath_are_planned_for_it(twin, drive):
    enhanced = {"class": "com.example.gpu"}
    seed = lab(esx(1, [near(passthrough=True)]), esx(2, [near(dvx=enhanced)]), esx(3, [near()]), release="9.1.0")
    module = drive(twin(seed=seed))
    call = {"gpu_mode": "dvx", "vms": [{"name": "a", "gpus": 1}]}
    assert module("vm_placement_info", **call)["placement"]["vms"][0]["host"] == "esx-02"
    call["vms"].append({"name": "b", "gpus": 1})
    assert module("vm_placement_info", **call)["failure"]["code"] == "does_not_fit"
    whole = {**call, "gpu_mode": "passthrough", "vms": [{"name": "a", "gpus": 1}]}
    assert module("vm_placement_info", **whole)["placement"]["vms"][0]["host"] == "esx-01"


def enhanced(number, *roots, **more):
    """A host with a GPU and a port of Enhanced DirectPath I/O on these roots: gpu, port, or both of them."""
    gpus = [one(dvx={"class": "com.example.gpu"}) for one, what in roots if "gpu" in what]
    places = [one() for one, what in roots if "port" in what]
    ports = [
        {"device": f"vmnic{at}", "model": "cx6dx", "root": one["root"], "numa_node": one["numa_node"]}
        for at, one in enumerate(places, 1)
    ]
    onboard = {"device": "vmnic0", "model": "i350", "numa_node": 0, "uplink_of": "vSwitch0"}
    nics = [onboard, *({**port, "dvx": {"class": "com.example.port"}} for port in ports)]
    plain = {"vmkernel": [{"device": "vmk0", "network": "Management Network", "services": ["management"]}]}
    return esx(number, gpus, nics=nics, options={}, module_options={}, **plain, **more)


DVX = {"gpu_mode": "dvx", "path": "dvx", "gpudirect": True}


def direct(name, *given):
    return ready(name, "esx-01", hardware_version=20, pci_devices=[{"dvx": one} for one in given], power="on")


def test_a_gpu_and_a_port_of_enhanced_directpath_are_planned_on_one_root(twin, drive):
    seed = lab(
        enhanced(1, (near, "gpu"), (far, "port")),
        enhanced(2, (near, "gpu"), (far, ("gpu", "port"))),
        release="9.1.0",
    )
    module = drive(twin(seed=seed))
    (entry,) = module("vm_placement_info", vms=[{"name": "a", "gpus": 1}], **DVX)["placement"]["vms"]
    assert (entry["host"], entry["root"]) == ("esx-02", "0000:b6")
    assert "vSphere may choose other devices" in entry["why"]
    two = module("vm_placement_info", vms=[{"name": "a", "gpus": 1}, {"name": "b", "gpus": 1}], **DVX)
    assert two["failure"]["code"] == "does_not_fit"
    assert "all of them without gpudirect" in two["msg"]


def test_devices_of_running_vms_by_enhanced_directpath_are_used_and_a_pair_apart_is_named(twin, drive, capsys):
    """The twin gives a VM the first GPU and the first port, which are on different roots here."""
    seed = lab(
        enhanced(1, (near, "gpu"), (far, ("gpu", "port"))),
        vms=[direct("a", "com.example.gpu", "com.example.port")],
        release="9.1.0",
    )
    module = drive(twin(seed=seed))
    answer = module("vm_placement_info", vms=[{"name": "a", "gpus": 1}], **DVX)
    (entry,) = answer["placement"]["vms"]
    assert (entry["action"], entry["root"], [one["id"] for one in entry["gpus"]]) == ("keep", None, ["0000:39:00.0"])
    assert "a: GPUDirect is requested, but vSphere started these VMs" in warned(answer, capsys)
    other = module("vm_placement_info", vms=[{"name": "b", "gpus": 1}], **DVX)
    assert "passed-through ports: 1 requested, 0 free, 1 short" in other["msg"]
    devices = [{"kind": "dvx", "device_class": f"com.example.{one}"} for one in ("gpu", "port")]
    shown = module("passthrough_device", name="a", devices=devices, check=True)
    assert shown["vms"][0]["before"]["pairs"] == [
        {"gpu": "dvx com.example.gpu", "nic": "dvx com.example.port", "same_root": False}
    ]


def test_gpudirect_takes_the_gpu_beside_the_port(plan):
    seed = lab(esx(1, [far(), near()]))
    (apart,) = plan(seed, [requested("a", "40c")], gpudirect=True, **SRIOV)
    assert (apart["gpus"][0]["id"], apart["numa_nodes"], apart["root"]) == ("0000:39:00.0", [0], "0000:36")


def test_no_gpu_beside_a_port_is_a_reason_to_refuse_gpudirect_and_nothing_else(twin, drive):
    module = drive(twin(seed=lab(esx(1, [far()]))))
    refused = module("vm_placement_info", vms=[requested("a", "40c")], gpudirect=True, **SRIOV)
    assert "GPU and port on one PCIe root: 1 requested, 0 free, 1 short" in refused["msg"]
    assert "all of them without gpudirect" in refused["msg"]
    assert not module("vm_placement_info", vms=[requested("a", "40c")], **SRIOV)["failed"]


@pytest.mark.parametrize(
    "broken, reason",
    [
        ({"options": {}}, "Net.PVRDMAVmknic is not set"),
        ({"options": {"Net.PVRDMAVmknic": "vmk9"}}, "Net.PVRDMAVmknic is vmk9: There is no such VMkernel adapter"),
        ({"options": {"Net.PVRDMAVmknic": "vmk0"}}, "Net.PVRDMAVmknic is vmk0: It is on vSwitch0"),
        ({"rulesets": {}}, "its firewall ruleset pvrdma is closed"),
        (
            {"vmkernel": vmknic(portgroup="pg-other")},
            "its PVRDMA adapter vmk1 is in VLAN 222 (pg-other), while esx-01 vmk1 is in no VLAN (pg-rdma)",
        ),
        (
            {"vmkernel": vmknic(ip="198.51.100.7")},
            "its PVRDMA adapter vmk1 is in the subnet 198.51.0.0/16, while esx-01",
        ),
    ],
)
def test_a_host_on_which_pvrdma_would_fall_back_to_tcp_is_left_out_with_the_reason(twin, drive, broken, reason):
    module = drive(twin(seed=lab(esx(1), esx(2, **broken))))
    one = module("vm_placement_info", vms=[requested("a", "40c")], **RDMA)
    assert one["placement"]["vms"][0]["host"] == "esx-01"
    two = module("vm_placement_info", vms=[requested("a", "40c"), requested("b", "40c")], anti_affinity=True, **RDMA)
    assert "PVRDMA-ready hosts: 2 requested, 1 free, 1 short" in two["msg"]
    assert f"esx-02: {reason}" in two["msg"]


def test_hosts_whose_pvrdma_adapters_have_one_address_are_left_out_with_the_reason(twin, drive):
    alike = vmknic(ip="192.0.2.7")
    third = vmknic(ip="192.0.2.8")
    seed = lab(esx(1, vmkernel=alike), esx(2, vmkernel=alike), esx(3, vmkernel=third))
    module = drive(twin(seed=seed))
    one = module("vm_placement_info", vms=[requested("a", "40c")], **RDMA)
    assert one["placement"]["vms"][0]["host"] == "esx-03"
    two = module("vm_placement_info", vms=[requested("a", "40c"), requested("b", "40c")], anti_affinity=True, **RDMA)
    assert "esx-01: its PVRDMA adapter vmk1 has the address 192.0.2.7, while esx-02 vmk1 has it too" in two["msg"]


@pytest.mark.parametrize(
    "broken, reason",
    [({"maintenance": True}, "it is in maintenance mode"), ({"connection": "disconnected"}, "it is disconnected")],
)
def test_a_host_that_is_out_of_use_gets_no_vm(twin, drive, broken, reason):
    module = drive(twin(seed=lab(esx(1, **broken), esx(2))))
    answer = module("vm_placement_info", vms=[requested("a", "40c")])
    assert answer["placement"]["vms"][0]["host"] == "esx-02"
    assert [(one["usable"], one["why_not"]) for one in answer["placement"]["hosts"]] == [(False, reason), (True, None)]
    only = module("vm_placement_info", vms=[requested("a", "40c", host="esx-01")])
    assert only["failure"]["code"] == "does_not_fit"
    # Another host is usable, and yet the one that is not is named.
    two = module("vm_placement_info", vms=[requested("a", "40c"), requested("b", "40c")])
    assert f"Hosts that accept no VM: esx-01 ({reason})." in two["msg"]


def test_gpu_and_port_on_different_numa_nodes_are_an_error_where_the_site_is_strict(twin, drive):
    module = drive(twin(seed=lab(esx(1, [far()]))))
    task = {"path": "sriov", "portgroup": "pg-sriov", "vms": [requested("a", "40c", nics=1)]}
    plan = module("vm_placement_info", **task)
    assert plan["placement"]["vms"][0]["nodes_apart"] == {"gpus": [1], "nics": [0]}
    strict = module("vm_placement_info", gpu_nic_numa="strict", **task)
    assert strict["failure"]["code"] == "numa_apart"
    assert "is on NUMA node 1, and the port vmnic2 on NUMA node 0." in strict["msg"]
    near_by = drive(twin(seed=lab(esx(1, [near()]))))("vm_placement_info", gpu_nic_numa="strict", **task)
    assert near_by["placement"]["vms"][0]["nodes_apart"] is None


def test_gpu_and_port_on_different_numa_nodes_are_a_warning_where_gpudirect_was_requested(twin, drive, capsys):
    adapters = [{"network": "pg-sriov", "type": "sriov"}]
    running = ready("a", "esx-01", "40c", networks=[], adapters=adapters, power="on")
    module = drive(twin(seed=lab(esx(1, [far()]), vms=[running])))
    task = {"path": "sriov", "portgroup": "pg-sriov", "vms": [requested("a", "40c", nics=1)]}
    assert "NUMA node" not in warned(module("vm_placement_info", **task), capsys)
    answer = module("vm_placement_info", gpudirect=True, **task)
    assert "is on NUMA node 1, and the port vmnic2 on NUMA node 0." in warned(answer, capsys)


def test_the_memory_of_vms_that_run_counts_and_that_of_vms_that_are_off_does_not(twin, drive):
    small = {"hardware": {"memory_gb": 160}}
    vms = [ready("on", "esx-01", power="on"), ready("off", "esx-01")]
    module = drive(twin(seed=lab(esx(1, [near(), far()], **small), vms=vms)))
    two = [requested("a", "40c", memory_gb=47), requested("b", "40c", memory_gb=47)]
    # 160 GB less 16 for ESXi, 64 that are reserved, 47 for the first, and the overhead of each.
    answer = module("vm_placement_info", vms=two)
    assert "memory GB: 94 requested, 79 free, 15 short" in answer["msg"]
    assert not module("vm_placement_info", vms=two, host_overhead_gb=0)["failed"]


def test_a_host_is_filled_to_the_last_vm_that_vsphere_starts_and_no_further(twin, drive):
    there = esx(1, [near(), far()], hardware={"memory_gb": 400})
    vms = [requested(f"v{number}", "5c", memory_gb=24, cpus=8) for number in range(16)]
    plan = drive(twin(seed=lab(there)))("vm_placement_info", vms=vms, fit="report")["placement"]
    placed = [entry["name"] for entry in plan["vms"] if entry["host"]]
    # 384 GB would hold sixteen times 24 GB, if VMs had no overhead.
    assert len(placed) == 15
    running = twin(seed=lab(there, vms=[ready(name, "esx-01", "5c", memory_gb=24, cpus=8) for name in placed]))
    for name in placed:
        with virtual_machine(running, name) as machine:
            WaitForTask(machine.PowerOnVM_Task())


def test_new_vms_go_where_a_datastore_has_space_for_them(plan):
    stores = [
        {"name": "full", "capacity_gb": 1000, "free_gb": 50},
        {"name": "roomy", "capacity_gb": 1000, "free_gb": 250},
    ]
    entries = plan(lab(esx(1), esx(2), stores=stores), [requested("a", disk_gb=200), requested("b", disk_gb=40)])
    assert [entry["datastore"] for entry in entries] == ["roomy", "full"]


@pytest.mark.parametrize("size", [1, 60])
def test_a_plan_costs_two_requests_whatever_its_size(twin, drive, size):
    vms = [ready(f"old-{number}", "esx-01", power="on", memory_gb=1) for number in range(20)]
    running = twin(seed=lab(*[esx(number) for number in range(1, size // 10 + 2)], vms=vms))
    module = drive(running)
    call = {"vms": [requested(f"v{number}", memory_gb=1) for number in range(size)], **RDMA}
    assert not module("vm_placement_info", **call)["failed"]
    running.requests.clear()
    assert not module("vm_placement_info", **call)["failed"]
    assert running.requests == {"RetrievePropertiesEx": 2}


def test_the_plan_is_the_same_once_it_was_carried_out(twin, drive):
    """The second run of a play asks again when its VMs are there, and running on GPUs that vSphere chose."""
    where = [esx(1, [near(), far()]), esx(2, [near(), far()])]
    asked = [requested(name, "40c") for name in "abc"]
    first = drive(twin(seed=lab(*where)))("vm_placement_info", vms=asked, **RDMA)["placement"]["vms"]
    affinity = {entry["name"]: ",".join(map(str, entry["numa_nodes"])) for entry in first}
    vms = [
        ready(
            entry["name"],
            entry["host"],
            "40c",
            power="on",
            extra_config={**ready("", "")["extra_config"], "numa.nodeAffinity": affinity[entry["name"]]},
        )
        for entry in reversed(first)
    ]
    second = drive(twin(seed=lab(*where, vms=vms)))("vm_placement_info", vms=asked, **RDMA)["placement"]["vms"]
    assert hosts(second) == {name: ("keep", host) for name, (action, host) in hosts(first).items()}
    assert [entry["numa_nodes"] for entry in second] == [entry["numa_nodes"] for entry in first]


def test_a_vm_that_runs_with_a_gpu_away_from_its_port_is_left_running_and_reported(twin, drive, capsys):
    """Which of its GPUs a host gives is vSphere's choice: a second run of the same play must not fail over it."""
    old = [ready(name, "esx-01", "20c", power="on") for name in ("a", "b")]
    running = twin(seed=lab(esx(1, [near(), far()]), vms=old))
    answer = drive(running)(
        "vm_placement_info", vms=[requested("a", "20c"), requested("b", "20c")], gpudirect=True, **SRIOV
    )
    assert not answer["failed"], answer["msg"]
    roots = {entry["name"]: (entry["action"], entry["root"]) for entry in answer["placement"]["vms"]}
    (apart,) = [name for name, (action, root) in roots.items() if root is None]
    assert sorted(roots.values(), key=str) == [("keep", "0000:36"), ("keep", None)]
    reported = warned(answer, capsys)
    assert f"{apart}: GPUDirect is requested, but vSphere started these VMs with a GPU on another PCIe root" in reported


def test_a_whole_board_of_another_kind_is_no_place_for_the_profile(plan):
    seed = lab(esx(1, [{**A100, "board": "a100_pcie_80gb"}]), esx(2))
    (entry,) = plan(seed, [requested("a", "40c")])
    assert entry["host"] == "esx-02"


def test_a_vm_that_is_just_being_cloned_is_one_that_is_there(twin, drive):
    """It is in the inventory before it has a configuration."""
    seed = lab(esx(1), esx(2), vms=[{"name": "image", "host": "esx-02", "template": True}])
    running = twin(seed={**seed, "task_seconds": {"CloneVM_Task": 30}})
    with virtual_machine(running, "image") as image:
        host = next(one for one in image.runtime.host.parent.host if one.name == "esx-02")
        where = vim.vm.RelocateSpec(host=host, pool=host.parent.resourcePool)
        image.CloneVM_Task(folder=image.parent, name="a", spec=vim.vm.CloneSpec(location=where))
        answer = drive(running)("vm_placement_info", vms=[requested("a", "40c"), requested("b", "40c")])
    assert not answer["failed"], answer["msg"]
    assert hosts(answer["placement"]["vms"]) == {"a": ("keep", "esx-02"), "b": ("create", "esx-01")}
