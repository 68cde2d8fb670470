# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import graphics, passthrough, passthrough_spec, pci
from ansible_collections.aiready.vsphere.plugins.module_utils.host import passthrough_rules as rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.device_mode import Mode
from pyVmomi import vim

from . import worlds
from .worlds import FREE, FUNCTION, GPU, HBA, ONBOARD, RDMA, T4


def given(address, **more):
    return passthrough.Given(**{"id": address, "capable": True, "configured": False, "active": False, **more})


def states(**more):
    found = {address: given(address) for address in (GPU, FUNCTION, T4, ONBOARD, RDMA, HBA)}
    return {**found, FREE: given(FREE, sriov_capable=True, vfs_max=8, **more)}


def around(**more):
    gpu = graphics.Device(GPU, "A100", "sharedDirect", "sharedDirect")
    known = {"functions": frozenset([FUNCTION]), "storage": {HBA: "vmhba2"}, "gpus": {GPU: gpu}, **more}
    return rules.Surroundings(tree=worlds.tree(), network=worlds.network(), **known)


def entry(address, state=None, **more):
    usual = {"label": None, "sriov_vfs": None, "take_from_vgpu": False}
    return passthrough.DeviceRequest(**{"id": address, "state": state, **usual, **more})


def plan(*entries, apply_now=False, now=None, **known):
    now = now or states()
    checked = rules.check("esx", now, around(**known), entries)
    wanted = rules.wanted(now, around(**known), checked, apply_now)
    return [
        (change.path, change.before, change.after, change.needs)
        for address in checked
        for change in passthrough.compare(now[address], wanted[address])
    ]


def test_gpus_behind_nvswitches_are_not_given_away_and_ports_beside_them_are(monkeypatch):
    bridges = [pci.Device(f"0000:{bus}:00.0", 0x10DE, 0x22A3, 0x06, "GH100 NVSwitch") for bus in ("c0", "c1")]
    tree = pci.Tree([*worlds.tree().all(), *bridges])
    monkeypatch.setattr(worlds, "tree", lambda: tree)
    with pytest.raises(OperatorError) as raised:
        plan(entry(GPU, "enabled", take_from_vgpu=True))
    assert "is on a host with 2 NVSwitches, and vSphere does not support passthrough" in raised.value.message
    assert plan(entry(FREE, "enabled")) == [(f"passthrough.{FREE}", "disabled", "enabled", "reboot")]


def test_a_free_port_is_given_away_at_the_next_boot():
    assert plan(entry(FREE, "enabled")) == [(f"passthrough.{FREE}", "disabled", "enabled", "reboot")]


def test_where_the_host_can_bind_anew_it_is_given_away_at_once():
    assert plan(entry(FREE, "enabled"), apply_now=True)[0][3] is None
    assert plan(entry(FREE, "enabled"), apply_now=True, rebinds=False)[0][3] == "reboot"


def test_what_is_configured_and_waits_is_no_change_but_pending():
    waiting = states(configured=True)
    assert plan(entry(FREE, "enabled"), now=waiting) == []
    assert passthrough.pending(waiting.values()) == [{"what": f"passthrough.{FREE}", "needs": "reboot"}]


def test_taking_back_what_never_became_active_waits_for_nothing():
    assert plan(entry(FREE, "disabled"), now=states(configured=True))[0][2:] == ("disabled", None)


def test_label_and_functions_are_changes_of_their_own():
    assert plan(entry(FREE, "enabled", label="roce"))[1] == (f"passthrough.{FREE}.label", None, "roce", None)
    assert plan(entry(FREE, sriov_vfs=4)) == [(f"sriov.{FREE}", 0, 4, "reboot")]
    running = states(vfs_configured=4, vfs_active=4)
    assert plan(entry(FREE, sriov_vfs=4), now=running) == []
    assert plan(entry(FREE, sriov_vfs=0), now=running) == [(f"sriov.{FREE}", 4, 0, "reboot")]


@pytest.mark.parametrize(
    "requested, words",
    [
        (
            entry(ONBOARD, "enabled"),
            "vmnic0, an uplink of vSwitch0 with the VMkernel adapters vmk0 (management, vmotion)",
        ),
        (entry(RDMA, "enabled"), "vmnic2, an uplink of dvs-train with the VMkernel adapters vmk1 (no service)"),
        (entry(HBA, "enabled"), "the storage adapter vmhba2"),
        (entry(GPU, "enabled"), "Set `take_from_vgpu`"),
        (entry(FUNCTION, "enabled"), "is a virtual function"),
        (entry("0000:ff:00.0", "enabled"), "There is no passthrough device 0000:ff:00.0"),
        (entry(T4, sriov_vfs=16), "T4, for which SR-IOV must not be enabled in vCenter"),
        (entry(RDMA, sriov_vfs=4), "has no SR-IOV"),
        (entry(FREE, sriov_vfs=16), "at most 8 virtual functions, 16 requested"),
        (entry(FREE, "enabled", sriov_vfs=4), "passthrough and virtual functions together"),
    ],
)
def test_what_must_not_be_given_away_is_refused_with_the_reason(requested, words):
    with pytest.raises(OperatorError) as refused:
        plan(requested)
    assert words in refused.value.message


def test_virtual_functions_are_not_offered_as_alternatives():
    with pytest.raises(OperatorError) as refused:
        plan(entry("0000:ff:00.0", "enabled"))
    assert FREE in refused.value.message
    assert FUNCTION not in refused.value.message
    assert refused.value.failure["gone"] == ["0000:ff:00.0"]


def test_a_gpu_is_taken_from_vgpu_when_the_task_says_so():
    assert plan(entry(GPU, "enabled", take_from_vgpu=True))


def test_a_device_that_is_given_away_already_is_not_judged_again():
    now = states()
    now[ONBOARD] = given(ONBOARD, configured=True, active=True)
    assert plan(entry(ONBOARD, "enabled"), now=now) == []


def test_a_device_that_is_named_twice_is_refused():
    with pytest.raises(OperatorError, match="named twice"):
        plan(entry(FREE, "enabled"), entry("3a:00.1", "disabled"))


def test_an_a100_shows_sixteen_functions_and_none_of_them_is_a_device():
    rows = [{"Address": GPU, "VMkernelName": "vmgfx0"}]
    rows += [{"Address": f"0000:39:0{n // 8}.{n % 8}", "VMkernelName": f"PF_0.57.0_VF_{n}"} for n in range(1, 17)]
    rows += [{"Address": RDMA, "VMkernelName": "vmnic2"}, {"Address": ONBOARD}]
    assert len(rules.functions_of(rows)) == 16
    assert not rules.functions_of(rows) & {GPU, RDMA, ONBOARD}


def test_the_request_holds_only_what_changes_and_leaves_the_label_alone():
    now = states(label="roce")
    wanted = rules.wanted(now, around(), {FREE: entry(FREE, "enabled")}, True)
    (sent,) = passthrough_spec.configs(now, wanted, [GPU, FREE], True)
    assert (sent.id, sent.passthruEnabled, sent.applyNow, sent.hardwareLabel) == (FREE, True, True, None)
    functions = rules.wanted(now, around(), {FREE: entry(FREE, sriov_vfs=4)}, False)
    (sent,) = passthrough_spec.configs(now, functions, [FREE], False)
    assert isinstance(sent, vim.host.SriovConfig)
    assert (sent.sriovEnabled, sent.numVirtualFunction) == (True, 4)


def test_what_waits_for_a_boot_is_not_predicted_as_active_by_a_task_that_changes_nothing():
    waiting = given(FREE, configured=True)
    assert passthrough.requested_one(waiting, entry(FREE, "enabled"), True).active is False


def test_functions_that_are_left_over_wait_for_the_boot_that_removes_them():
    left = given(FREE, vfs_configured=0, vfs_active=4)
    assert passthrough.pending([left]) == [{"what": f"sriov.{FREE}", "needs": "reboot"}]


def test_numbers_of_functions_count_only_while_sriov_is_on():
    info = vim.host.SriovInfo(
        id=FREE, dependentDevice=FREE, passthruEnabled=False, passthruCapable=True, passthruActive=False,
        sriovEnabled=False, sriovCapable=True, sriovActive=False, numVirtualFunctionRequested=4, numVirtualFunction=4,
        maxVirtualFunctionSupported=8,
    )  # fmt: skip
    state = passthrough.devices_of([info])[FREE]
    assert (state.vfs_configured, state.vfs_active, state.vfs_max) == (0, 0, 8)


def test_a_gpu_that_is_shared_direct_only_until_the_next_restart_is_protected_too():
    gpu = graphics.Device(GPU, "A100", "shared", "sharedDirect")
    with pytest.raises(OperatorError, match="take_from_vgpu"):
        plan(entry(GPU, "enabled"), gpus={GPU: gpu})


def test_as_many_functions_as_the_firmware_has_may_be_wanted():
    assert plan(entry(FREE, sriov_vfs=8)) == [(f"sriov.{FREE}", 0, 8, "reboot")]


def test_the_number_of_a_t4_counts_only_for_devices_of_nvidia():
    tree = pci.Tree([pci.Device(FREE, 0x15B3, rules.T4, 0x02, "an adapter")])
    surroundings = rules.Surroundings(tree=tree, network=worlds.network())
    assert rules.check("esx", {FREE: states()[FREE]}, surroundings, [entry(FREE, sriov_vfs=4)])


def test_a_device_that_takes_the_management_port_along_is_refused():
    now = states()
    now[FREE] = given(FREE, dependent=ONBOARD)
    with pytest.raises(OperatorError, match=f"{ONBOARD}, which goes along with {FREE} .* is vmnic0, an uplink"):
        plan(entry(FREE, "enabled"), now=now)


def by_rest(address, state, mode, apply_now=False, **known):
    now = states()
    now[address] = given(address, mode=mode, configured=state == "disabled", active=state == "disabled")
    checked = rules.check("esx", now, around(**known), [entry(address, state, take_from_vgpu=True)])
    wanted = rules.wanted(now, around(**known), checked, apply_now)
    return rules.over_rest("esx", now, around(**known), wanted, apply_now)


GPU_MODES = ("host", "direct_path", "vgpu_same_size", "vgpu_mixed_size", "system_select")


def test_passthrough_of_a_device_with_a_mode_goes_over_rest():
    port, gpu = Mode("host", ("host", "direct_path")), Mode("direct_path", GPU_MODES)
    assert by_rest(FREE, "enabled", port) == {FREE: ["direct_path"]}
    assert by_rest(FREE, "disabled", port) == {FREE: ["host"]}
    # A GPU returns to its graphics type, and without a driver to no use.
    assert by_rest(GPU, "disabled", gpu) == {GPU: ["vgpu_same_size"]}
    assert by_rest(GPU, "disabled", Mode("direct_path", ("none", "direct_path"))) == {GPU: ["none"]}


def test_soap_is_used_without_a_mode_and_for_what_takes_effect_at_once():
    port = Mode("host", ("host", "direct_path"))
    assert by_rest(FREE, "enabled", None) == {}
    assert by_rest(FREE, "enabled", port, apply_now=True) == {}
    assert by_rest(FREE, "enabled", port, method="soap") == {}


def test_a_device_whose_mode_the_host_picks_needs_rest():
    mode = Mode("system_select", GPU_MODES)
    assert by_rest(GPU, "enabled", mode, apply_now=True) == {GPU: ["direct_path"]}
    with pytest.raises(OperatorError) as caught:
        by_rest(GPU, "enabled", mode, method="soap")
    assert "SOAP cannot change it" in caught.value.message
    with pytest.raises(OperatorError) as caught:
        by_rest(GPU, "enabled", None, method="rest")
    assert "vCenter reports no device mode" in caught.value.message


def test_a_port_that_does_not_list_the_mode_is_refused():
    with pytest.raises(OperatorError) as caught:
        by_rest(FREE, "enabled", Mode("host", ("host",)))
    assert caught.value.code == "device_mode_not_configurable"
