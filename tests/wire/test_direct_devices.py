"""passthrough_device where VMs run, where others change them meanwhile, and where two want the same."""

from __future__ import annotations

import contextlib

import pytest
from pyVim.task import WaitForTask
from pyVmomi import vim

from .direct_lab import A100, CLASS, FABRIC, FIT, PORT, ROOT, SPARE, direct, enhanced, gpu, ports, site, static
from .lab import A100 as SHARED
from .lab import result
from .meanwhile import meanwhile
from .observe import bystanders, power_on, reconfigure, virtual_machine
from .rows.passthrough_device import GROUP, fixed, has, kind

pytestmark = pytest.mark.usefixtures("brisk")

GPU = "0000:39:00.0"
NEAR = [kind(A100), kind(PORT, "fabric")]
RUNNING = {**FIT, "power": "on", "tools": "none"}
ROOM = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "256"}


def held(running):
    """{address: name of the VM} that the model's first host has given away at this moment."""
    host = next(iter(running.world.of_kind("HostSystem")))
    return {address: holder.vm.name for address, holder in host.claimed.items()}


def model(running, name):
    return next(one for one in running.world.of_kind("VirtualMachine") if one.name == name)


def test_a_vm_starts_with_the_gpu_and_the_port_that_it_was_given(twin, drive):
    running = twin(seed=site({**FIT, "extra_config": ROOM}))
    answer = drive(running)("passthrough_device", name="train-01", devices=NEAR)
    assert result(answer)["after"]["pairs"] == [
        {"gpu": f"dynamic {A100}", "nic": f"dynamic {PORT} labelled fabric", "same_root": True}
    ]
    assert power_on(running, "train-01") is None
    assert held(running) == {GPU: "train-01", FABRIC: "train-01"}


@pytest.mark.parametrize("checkpoint", [True, False])
def test_vmotion_is_offered_where_the_class_of_a_device_saves_its_state_and_only_there(twin, drive, checkpoint):
    gpus = [enhanced(checkpoint=checkpoint)]
    other = {"name": "esx-02", "gpus": gpus, "nics": ports()}
    running = twin(seed=site({**FIT, "extra_config": ROOM}, gpus=gpus, nics=ports(), others=[other], release="9.1.0"))
    call = drive(running)
    answer = call("passthrough_device", name="train-01", devices=[{"kind": "dvx", "device_class": CLASS}])
    (device,) = result(answer)["after"]["devices"]
    assert device["vmotion"] is checkpoint
    (offered,) = call("esxi_host_info", host="esx-01")["host"]["dvx_classes"]
    assert (offered["device_class"], offered["vmotion"]) == (CLASS, checkpoint)
    assert power_on(running, "train-01") is None
    with virtual_machine(running, "train-01") as machine:
        (target,) = [one for one in machine.runtime.host.parent.host if one.name == "esx-02"]
        task = machine.Migrate(host=target, priority="defaultPriority")
        moved = contextlib.nullcontext() if checkpoint else pytest.raises(vim.fault.DeviceNotSupported)
        with moved:
            WaitForTask(task)


def test_older_servers_have_no_classes(twin, drive):
    running = twin(seed=site({**FIT, "hardware_version": 19}, gpus=[enhanced()], release="7.0.3"))
    call = drive(running)
    assert call("esxi_host_info", host="esx-01")["host"]["dvx_classes"] == []
    answer = call("passthrough_device", name="train-01", devices=[{"kind": "dvx", "device_class": CLASS}])
    assert "Enhanced DirectPath I/O needs vSphere 8.0, and host esx-01 has 7.0.3." in answer["msg"]


def test_a_vgpu_and_a_passthrough_port_go_together(twin, drive):
    running = twin(
        seed=site({**FIT, "vgpus": ["grid_a100-40c"], "extra_config": ROOM}, gpus=[{**SHARED, "root": ROOT}])
    )
    answer = drive(running)("passthrough_device", name="train-01", devices=fixed(FABRIC))
    assert result(answer)["after"]["pairs"] == [
        {"gpu": "vGPU grid_a100-40c", "nic": f"static {FABRIC}", "same_root": True}
    ]
    assert power_on(running, "train-01") is None


def test_a_port_of_another_root_is_given_and_reported_as_far(twin, drive):
    running = twin(seed=site(gpus=[gpu(root="0000:b6:02.0")]))
    answer = drive(running)("passthrough_device", name="train-01", devices=NEAR)
    assert not answer["failed"], answer["msg"]
    assert result(answer)["after"]["pairs"][0]["same_root"] is False


def test_what_is_not_a_passthrough_device_stays_as_it_is(twin, drive):
    running = twin(seed=site({**FIT, "vgpus": ["grid_a100-20c"], "extra_config": ROOM}))
    before = bystanders(running, "train-01")
    module = drive(running)
    for requested in ({"devices": fixed(FABRIC)}, {"state": "absent"}):
        answer = module("passthrough_device", name="train-01", **requested)
        assert not answer["failed"], answer["msg"]
    assert bystanders(running, "train-01") == before
    assert direct(running, "train-01")["train-01"]["devices"] == [("vgpu", "grid_a100-20c")]


def test_what_somebody_took_away_is_found_and_put_back_and_only_that(twin, drive):
    running = twin(seed=site())
    module = drive(running)
    module("passthrough_device", name="train-01", devices=fixed(FABRIC, SPARE))
    with virtual_machine(running, "train-01") as machine:
        (kept, lost) = [one for one in machine.config.hardware.device if one.backing.__class__ is static_backing()]
    remove = vim.vm.device.VirtualDeviceSpec(operation="remove", device=lost)
    reconfigure(running, "train-01", deviceChange=[remove])
    answer = module("passthrough_device", name="train-01", devices=fixed(FABRIC, SPARE))
    (change,) = result(answer)["changes"]
    assert change["before"] == [f"static {kept.backing.id}"]
    assert direct(running, "train-01") == {"train-01": has(static(FABRIC), static(SPARE))}
    with virtual_machine(running, "train-01") as machine:
        assert kept.key in [one.key for one in machine.config.hardware.device]


def static_backing():
    return vim.vm.device.VirtualPCIPassthrough.DeviceBackingInfo


def test_an_address_that_vsphere_writes_in_decimal_is_the_same_address(twin, drive):
    running = twin(seed=site())
    module = drive(running)
    module("passthrough_device", name="train-01", devices=fixed(FABRIC))
    with running.world.lock:
        machine = model(running, "train-01")
        (device,) = machine.passthrough_devices
        device.backing.id = "00000:058:00.0"
        running.world.touch(machine)
    assert not module("passthrough_device", name="train-01", devices=fixed(FABRIC))["changed"]


def test_a_static_device_with_the_same_address_on_another_host_is_recorded_anew(twin, drive):
    running = twin(seed=site(others=[{"name": "esx-02", "gpus": [gpu()], "nics": ports("fabric", "fabric")}]))
    module = drive(running)
    module("passthrough_device", name="train-01", devices=fixed(FABRIC))
    with virtual_machine(running, "train-01") as machine:
        (other,) = [one for one in machine.runtime.host.parent.host if one.name == "esx-02"]
        WaitForTask(machine.Migrate(host=other, priority="defaultPriority"))
    assert "The systemId does not match the current system" in power_on(running, "train-01")
    predicted, answer = [
        module("passthrough_device", check=check, name="train-01", devices=fixed(FABRIC)) for check in (True, False)
    ]
    (change,) = result(answer)["changes"]
    assert (change["before"], change["after"]) == (
        [f"static {FABRIC}, recorded for another device"],
        [f"static {FABRIC}"],
    )
    assert predicted == answer
    assert power_on(running, "train-01") is None
    running.requests.clear()
    assert not module("passthrough_device", name="train-01", devices=fixed(FABRIC))["changed"]
    assert running.requests["QueryConfigTarget"] == 0


def test_a_device_that_is_taken_between_the_check_and_the_start_is_reported_and_the_vm_runs_as_before(twin, drive):
    rival = {**FIT, "tools": "none", "pci_devices": [{"id": FABRIC}]}
    running = twin(seed=site(RUNNING, rival, nics=ports("fabric"), task_seconds={"ReconfigVM_Task": 0.4}))
    machine = model(running, "train-01")
    with meanwhile(lambda: machine.power == "poweredOff", lambda: power_on(running, "train-02")):
        answer = drive(running)("passthrough_device", name="train-01", devices=[kind(PORT, "fabric")], power="cycle")
    assert answer["failure"]["code"] == "power_on_refused"
    assert "cannot start with the new passthrough devices. vSphere refused to power it on:" in answer["msg"]
    assert "is not available on the host." in answer["msg"]
    assert "The previous configuration was restored, and the VM runs with it." in answer["msg"]
    assert direct(running, "train-01") == {"train-01": has(power="poweredOn")}
    assert held(running) == {FABRIC: "train-02"}


def test_a_device_that_its_vm_holds_is_not_taken_from_it_by_a_second_run(twin, drive):
    running = twin(seed=site(RUNNING))
    module = drive(running)
    requested = {"name": "train-01", "devices": [kind(PORT, "fabric")], "power": "cycle"}
    assert module("passthrough_device", **requested)["changed"]
    running.requests.clear()
    assert not module("passthrough_device", **requested)["changed"]
    assert running.requests["PowerOffVM_Task"] == running.requests["ReconfigVM_Task"] == 0
    assert held(running) == {FABRIC: "train-01"}


def test_two_vms_of_a_task_do_not_get_the_same_device(twin, drive):
    running = twin(seed=site(FIT, FIT, FIT))
    answer = drive(running)(
        "passthrough_device",
        vms=[{"name": name} for name in ("train-01", "train-02")] + [{"name": "train-03", "devices": fixed(SPARE)}],
        devices=fixed(FABRIC),
    )
    codes = [vm["failure"].get("code") for vm in answer["vms"]]
    assert codes == ["claimed_twice", "claimed_twice", None]
    assert "is also requested by VM train-02 of this task" in answer["vms"][0]["msg"]
    assert direct(running, "train-01", "train-03") == {"train-01": has(), "train-03": has(static(SPARE))}


def test_a_fleet_is_not_given_more_of_a_kind_than_its_host_has(twin, drive):
    running = twin(seed=site(FIT, FIT, FIT))
    vms = [{"name": f"train-{number:02}"} for number in (1, 2, 3)]
    answer = drive(running)("passthrough_device", vms=vms, devices=[kind(PORT, "fabric")])
    assert {vm["failure"]["code"] for vm in answer["vms"]} == {"too_few_devices"}
    assert "by VM train-01, train-02 and train-03, but 2 of its 2 are free." in answer["vms"][0]["msg"]
    answer = drive(running)("passthrough_device", vms=vms[:2], devices=[kind(PORT, "fabric")])
    assert not answer["failed"], answer["msg"]


def test_where_drs_places_a_vm_any_host_of_its_cluster_may_have_the_device(twin, drive):
    there = {"name": "esx-02", "gpus": [], "nics": ports("storage")}
    running = twin(seed=site(FIT, FIT, nics=ports("fabric"), others=[there]))
    module = drive(running)
    requested = {"vms": [{"name": "train-01"}, {"name": "train-02"}], "devices": [kind(PORT, "storage")]}
    answer = module("passthrough_device", **requested)
    assert {vm["failure"]["code"] for vm in answer["vms"]} == {"label_not_there"}
    answer = module("passthrough_device", placement="cluster", **requested)
    assert not answer["failed"], answer["msg"]
    assert direct(running, "train-01") == {"train-01": has(("dynamic", (PORT,), "storage"))}
    answer = module("passthrough_device", name="train-01", devices=[kind(PORT, "other")], placement="cluster")
    assert "No device 15b3:101d of host esx-01 is labelled other; the labels there are fabric." in answer["msg"]


def test_snapshots_are_refused_with_the_price_of_the_device(twin, drive):
    running = twin(seed=site())
    with virtual_machine(running, "train-01") as machine:
        WaitForTask(machine.CreateSnapshot_Task(name="before", memory=False, quiesce=False))
    answer = drive(running)("passthrough_device", name="train-01", devices=fixed(FABRIC))
    assert answer["failure"]["code"] == "snapshots"
    assert "Costs of a passthrough device at a fixed address for a VM: it has no vMotion," in answer["msg"]


def test_passthrough_that_is_only_configured_points_to_the_restart(twin, drive):
    running = twin(seed=site(nics=ports(None)))
    module = drive(running)
    module("pci_passthrough", host="esx-01", devices=[{"id": FABRIC, "state": "enabled"}])
    answer = module("passthrough_device", name="train-01", devices=fixed(FABRIC))
    assert answer["failure"]["code"] == "passthrough_pending"
    assert "is configured and pending a restart of the host." in answer["msg"]


def test_a_whole_fleet_is_looked_at_with_few_requests_and_an_unchanged_one_with_fewer(twin, drive):
    running = twin(seed=site(*[FIT] * 4, nics=ports(*["fabric"] * 4)))
    module = drive(running)
    requested = {"vms": [{"name": f"train-{number:02}"} for number in range(1, 5)], "devices": [kind(PORT, "fabric")]}
    assert module("passthrough_device", **requested)["changed"]
    assert running.requests["QueryConfigTarget"] == 1
    running.requests.clear()
    assert not module("passthrough_device", **requested)["changed"]
    assert running.requests["QueryConfigTarget"] == 0
    assert running.requests["RetrievePropertiesEx"] <= 3


def test_in_check_mode_a_vm_is_planned_that_is_not_there_yet(twin, drive):
    template = {"name": "golden", "template": True}
    running = twin(seed=site(template))
    planned = {"template": "golden", "host": "esx-01", "memory_reservation": "all"}
    requested = {"name": "train-09", "devices": fixed(FABRIC), "planned": planned}
    answer = drive(running)("passthrough_device", check=True, **requested)
    assert not answer["failed"], answer["msg"]
    assert (answer["changed"], result(answer, "train-09")["host"]) == (True, "esx-01")
    answer = drive(running)("passthrough_device", **requested)
    assert answer["failure"]["code"] == "vm_not_found"


def test_a_gpu_of_a_group_is_not_torn_out_of_it(twin, drive):
    running = twin(seed=site(gpus=[{**SHARED, "root": ROOT}]))
    module = drive(running)
    module("passthrough_device", name="train-01", devices=[{"kind": "group", "group": GROUP}])
    before = direct(running, "train-01")
    assert before["train-01"]["groups"] == [GROUP]
    answer = module("vgpu_profile", name="train-01", state="absent")
    assert (answer["failed"], answer["changed"]) == (False, False), answer.get("msg")
    assert direct(running, "train-01") == before


def test_a_group_and_its_settings_come_in_one_reconfiguration(twin, drive):
    running = twin(seed=site({}, gpus=[{**SHARED, "root": ROOT}]))
    module = drive(running)
    requested = {
        "name": "train-01",
        "shape": {"memory_reservation": "all", "gpudirect": "enabled", "direct_nics": 1, "gpus": ["grid_a100-40c"]},
        "passthrough": {"devices": [{"kind": "group", "group": GROUP}]},
    }
    assert module("vm_config", check=True, **requested)["changed"]
    assert direct(running, "train-01")["train-01"]["groups"] == []
    running.requests.clear()
    answer = module("vm_config", **requested)
    assert not answer["failed"], answer["msg"]
    assert running.requests["ReconfigVM_Task"] == 1
    found = direct(running, "train-01")["train-01"]
    assert (found["groups"], len(found["devices"])) == ([GROUP], 2)
    assert not module("vm_config", **requested)["changed"]


def test_old_vcenters_are_not_asked_for_what_they_do_not_know(twin, drive):
    running = twin(seed=site({**FIT, "hardware_version": 19}, release="7.0.3"))
    answer = drive(running)("passthrough_device", name="train-01", devices=fixed(FABRIC))
    assert not answer["failed"], answer["msg"]
    assert direct(running, "train-01")["train-01"]["devices"] == [static(FABRIC)]


@pytest.mark.parametrize(
    "params, says",
    [
        ({"name": "a", "devices": []}, "VM a: devices must name at least one device; use state=absent"),
        ({"name": "a", "devices": fixed("vmnic3")}, "vmnic3 is not a PCI address; write it as 0000:3b:00.0."),
        (
            {"name": "a", "devices": [{"kind": "dynamic"}]},
            "kind is dynamic but all of the following are missing: allowed",
        ),
        ({"vms": [{"name": "a"}, {"name": "a"}]}, "VM a is listed 2 times; list it once."),
    ],
    ids=["no device", "no address", "no kind", "twice"],
)
def test_wrong_parameters_are_reported_before_vcenter_is_asked(twin, drive, params, says):
    running = twin()
    answer = drive(running)("passthrough_device", **{"devices": fixed(FABRIC), **params})
    assert answer["failed"]
    assert says in answer["msg"]
    assert running.requests.total() == 0
