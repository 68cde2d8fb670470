"""The inverse of every module of the stage hosts, by tables: changes and request, and what restores them."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.hosts import INVERSE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Step
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.table import with_stage

from .test_steps import entry

HOST = {"host": "esx-01"}
GPU = "0000:17:00.0"
PLACES = {"kernel_settings": "profile/kernel", "module_options": "profile/modules"}


def inverse(module, *entries):
    """(arguments of the steps, what cannot be restored)."""
    found = INVERSE[module](list(entries))
    steps = [one for one in found if isinstance(one, Step)]
    return [one.args for one in steps], [one.what for one in found if not isinstance(one, Step)]


@pytest.mark.parametrize(
    "module, request_, changes, args, cannot",
    [
        pytest.param(
            "bios_settings",
            {"bmc_address": "bmc-01", "functions": {"sriov": "enabled"}, "registry": "optional"},
            [("bios.Sriov", "Disabled", "Enabled"), ("bios.job", None, "scheduled"), ("bios.Hidden", None, "x")],
            [{"attributes": {"Sriov": "Disabled"}, "registry": "optional"}],
            ["bios.Hidden"],
            id="BIOS without a value that the BMC hides",
        ),
        pytest.param(
            "esxi_maintenance",
            {**HOST, "state": "entered", "evacuation": "drs_vgpu"},
            [("gpu.VgpuMMAutomationTimeoutSecs", None, "-1"), ("in_maintenance", False, True)],
            [],
            ["gpu.VgpuMMAutomationTimeoutSecs"],
            id="DRS option that lets maintenance mode move vGPUs",
        ),
        pytest.param(
            "nvaie_vib",
            {**HOST, "depot": "[ds] d.zip", "method": "auto", "state": "present"},
            [("driver", None, "nvaie 550"), ("vibs.NVD", None, "550")],
            [{**HOST, "method": "auto", "state": "absent"}],
            [],
            id="first driver",
        ),
        pytest.param(
            "nvaie_vib",
            HOST,
            [("driver", "nvaie 535", "nvaie 550"), ("vibs.NVD", "535", "550")],
            [],
            ["driver"],
            id="replaced driver without a package",
        ),
        pytest.param(
            "esxi_module_options",
            {**HOST, "module": "nmlx5_core", "options": {"pfctx": "0x08"}, "enabled": True},
            [("nmlx5_core.pfctx", None, "0x08"), ("nmlx5_core.enabled", False, True)],
            [{**HOST, "module": "nmlx5_core", "options": {"pfctx": None}, "state": "merged", "enabled": False}],
            [],
            id="option that was not set, and the module",
        ),
        pytest.param(
            "pvrdma_host",
            {**HOST, "vmknic": "vmk1", "state": "present"},
            [("Net.PVRDMAVmknic", None, "vmk1"), ("firewall.pvrdma", "disabled", "enabled")],
            [{**HOST, "firewall": "disabled", "state": "absent"}],
            [],
            id="PVRDMA",
        ),
        pytest.param(
            "pvrdma_host",
            {**HOST, "vmknic": "vmk1", "state": "present"},
            [("Net.PVRDMAVmknic", "vmk2", "vmk1")],
            [{**HOST, "firewall": "unchanged", "state": "present", "vmknic": "vmk2"}],
            [],
            id="PVRDMA with another adapter and an open firewall",
        ),
        pytest.param(
            "vmkernel_mtu",
            {**HOST, "devices": ["vmk1"], "mtu": 9000, "switch": "raise"},
            [("mtu.dvs", 1500, 9000, None, "dvs"), ("mtu.vmk1", 1500, 9000)],
            [{**HOST, "devices": ["vmk1"], "mtu": 1500, "switch": "refuse"}],
            ["mtu.dvs"],
            id="MTU without the switch that hosts share",
        ),
        pytest.param(
            "host_graphics",
            {**HOST, "method": "auto", "restart": "xorg"},
            [
                ("graphics.default_type", "shared", "shared_direct"),
                (f"graphics.{GPU}", "shared", "shared_direct", "xorg_restart"),
                (f"graphics.{GPU}.vgpu_mode", "same_size", "mixed_size"),
                (f"graphics.{GPU}.device_mode", "system_select", "vgpu"),
                ("graphics.xorg", "running", "restarted"),
            ],
            [
                {
                    **HOST,
                    "method": "auto",
                    "restart": "none",
                    "default_type": "shared",
                    "devices": [
                        {"id": GPU, "type": "shared", "vgpu_mode": "same_size", "device_mode": "system_select"}
                    ],
                }
            ],
            [],
            id="graphics",
        ),
        pytest.param(
            "pci_passthrough",
            {**HOST, "devices": [], "apply": "reboot"},
            [
                (f"passthrough.{GPU}", "disabled", "enabled", "reboot"),
                (f"passthrough.{GPU}.label", None, "gpu"),
                ("sriov.0000:3b:00.0", 0, 4, "reboot"),
            ],
            [
                {**HOST, "devices": [{"id": GPU, "state": "disabled", "label": ""}], "apply": "reboot"},
                {**HOST, "devices": [{"id": "0000:3b:00.0", "sriov_vfs": 0}], "apply": "reboot"},
            ],
            [],
            id="passthrough",
        ),
        pytest.param(
            "pci_passthrough",
            {**HOST, "devices": [], "apply": "now"},
            [(f"passthrough.{GPU}.device_mode", "system_select", "direct_path")],
            [{**HOST, "devices": [{"id": GPU, "device_mode": "system_select"}], "apply": "reboot"}],
            [],
            id="device mode",
        ),
        pytest.param(
            "nic_firmware",
            {"devices": ["vmnic2"], "settings": {"SRIOV_EN": True}, "activation": "cold"},
            [("SRIOV_EN", "False(0)", "True(1)", "cold_power_cycle")],
            [{"devices": ["0000:3b:00.0"], "settings": {"SRIOV_EN": "0"}, "activation": "cold"}],
            [],
            id="parameter of the firmware",
        ),
        pytest.param(
            "cluster_configuration",
            {"cluster": "gpu", "places": PLACES, "settings": {}},
            [
                ("profile/kernel/atsSupport", "FALSE", "TRUE"),
                ("profile/kernel/other", None, 1),
                ("profile/modules/nmlx5_core/pfctx", "0x10", "0x08"),
                ("profile/other", 1, 2),
            ],
            [
                {
                    "cluster": "gpu",
                    "places": PLACES,
                    "settings": {
                        "kernel_settings": {"atsSupport": "FALSE", "other": None},
                        "module_options": {"nmlx5_core": {"pfctx": "0x10"}},
                    },
                    "uncovered": "report",
                }
            ],
            ["profile/other"],
            id="document of a cluster",
        ),
        pytest.param(
            "esxi_service",
            {**HOST, "service": "TSM-SSH", "state": "started"},
            [("running", False, True), ("borrowed", False, True)],
            [{**HOST, "service": "TSM-SSH", "state": "restored"}],
            [],
            id="service that a killed run left",
        ),
    ],
)
def test_inverse(module, request_, changes, args, cannot):
    ids = {"pci": "0000:3b:00.0"} if module == "nic_firmware" else {}
    assert inverse(module, entry(*changes, module=module, request=request_, ids=ids)) == (args, cannot)


@pytest.mark.parametrize(
    "changes, args, cannot",
    [
        pytest.param([("mode", "disabled", "enabled", "reboot")], [{"gpus": [GPU], "mode": "disabled"}], [], id="mode"),
        pytest.param(
            [("mode", "disabled", "enabled"), ("layout", [], ["0-3 3g"])],
            [{"gpus": [GPU], "mode": "disabled"}],
            [],
            id="mode and its instances",
        ),
        pytest.param([("layout", [], ["0-3 3g"])], [{"gpus": [GPU], "layout": [], "mode": "enabled"}], [], id="layout"),
        pytest.param(
            [("mode", "enabled", "disabled"), ("layout", ["0-3 3g.20gb", "4 1g.5gb+me [1c]"], [])],
            [
                {
                    "gpus": [GPU],
                    "layout": [
                        {"profile": "3g.20gb", "start": 0, "compute": []},
                        {"profile": "1g.5gb+me", "start": 4, "compute": ["1c"]},
                    ],
                    "mode": "enabled",
                    "vsphere": "instances",
                }
            ],
            [],
            id="instances that the run removed",
        ),
    ],
)
def test_mig(changes, args, cannot):
    by_hand = {"vsphere": "instances"} if any("vsphere" in one for one in args) else {}
    given = {"gpus": ["all"], "mode": "enabled", **by_hand}
    # A later run of the stage sets only the mode.
    entries = [
        entry(*changes, module="mig_partition", request=given, ids={"pci": GPU}),
        entry(module="mig_partition", request={"gpus": ["all"], "mode": "enabled"}, ids={"pci": GPU}),
    ]
    assert inverse("mig_partition", *entries) == (args, cannot)


def test_instances_that_a_restart_removed_were_not_changed_by_another():
    made = [entry(("layout", ["0-3 3g"], ["0-1 2g"]), module="mig_partition", request={}, ids={"pci": GPU})]
    (step,) = INVERSE["mig_partition"](made)
    # GPUs of the Hopper generation lose the mode, too.
    assert (step.also, step.follows) == ({"layout": ([],)}, ("mode",))


def test_mig_of_a_guest_is_named_with_its_earlier_layout():
    made = entry(("layout", ["0-3 3g"], []), module="mig_partition", stage="guests", host="train-01", ids={})
    (lost,) = INVERSE["mig_partition"]([made])
    assert (lost.what, lost.why) == ("layout", "Before the run, it was 0-3 3g. Set it in the guest with mig_partition.")


def test_every_fixed_mode_may_go_back_to_the_host():
    made = entry((f"graphics.{GPU}.device_mode", "system_select", "host"), module="host_graphics", request=HOST)
    (step,) = INVERSE["host_graphics"]([made])
    assert "vgpu_same_size" in step.also[f"graphics.{GPU}.device_mode"]


def test_a_module_in_a_playbook_of_the_user_has_the_stage_that_restores_it():
    stages = [
        with_stage(entry(module=name, stage="")).stage for name in ("mig_partition", "vm_config", "roce_qos", "x")
    ]
    assert stages == ["hosts", "machines", "fabric", ""]


def test_each_kernel_module_has_its_step():
    options = [
        entry((f"{name}.x", None, "1"), module="esxi_module_options", request={**HOST, "module": name, "options": {}})
        for name in ("nmlx5_core", "nmlx5_rdma")
    ]
    found, _cannot = inverse("esxi_module_options", *options)
    assert [args["module"] for args in found] == ["nmlx5_core", "nmlx5_rdma"]


def test_a_setting_that_came_back_is_compared_again_for_its_restart():
    ended = [entry(("kernel.ats", "FALSE", "TRUE")), entry(("kernel.ats", "TRUE", "FALSE"))]
    (step,) = INVERSE["esxi_kernel_setting"](ended)
    assert (step.back, step.left) == ({"kernel.ats": "FALSE"}, {"kernel.ats": "FALSE"})


def test_what_came_back_by_itself_is_no_loss():
    ended = [entry(("driver", "535", "550")), entry(("driver", "550", "535"))]
    assert inverse("nvaie_vib", *ended) == ([], [])
