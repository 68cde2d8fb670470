# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode as modes
from ansible_collections.aiready.vsphere.plugins.module_utils.host import graphics, graphics_spec
from pyVmomi import vim

ONE, TWO = "0000:17:00.0", "0000:65:00.0"


def gpu(address=ONE, configured="shared", active="shared", mode="sameSize", active_mode="none", **more):
    return graphics.Device(address, "NVIDIA A100", configured, active, mode, active_mode, **more)


def host(*devices, default="shared", policy="performance", active_policy="performance", version=(8, 0, 3)):
    return graphics.Graphics(default, policy, active_policy, devices or (gpu(),), version)


def requested(default_type=None, assignment_policy=None, devices=(), restart="none"):
    entries = [graphics.DeviceRequest(**{"type": None, "vgpu_mode": None, **entry}) for entry in devices]
    return graphics.GraphicsRequest(default_type, assignment_policy, entries, restart)


def plan(now, **requests):
    wanted = graphics.want("esx", now, requested(**requests))
    return {change.path: (change.after, change.needs) for change in graphics.compare(now, wanted)}


SHARED_DIRECT = [{"id": "all", "type": "shared_direct"}]


def test_default_and_device_are_settings_of_their_own():
    assert plan(host(), default_type="shared_direct") == {"graphics.default_type": ("shared_direct", None)}
    assert plan(host(), devices=SHARED_DIRECT) == {f"graphics.{ONE}": ("shared_direct", "xorg_restart")}


def test_a_device_without_a_type_of_its_own_follows_the_default():
    now = host(gpu(own=False))
    assert plan(now, default_type="shared_direct") == {
        "graphics.default_type": ("shared_direct", None),
        f"graphics.{ONE}": ("shared_direct", "xorg_restart"),
    }


def test_a_type_that_is_configured_and_not_active_is_pending_and_no_change():
    now = host(gpu(configured="sharedDirect"))
    assert plan(now, devices=SHARED_DIRECT) == {}
    assert graphics.pending(now) == [{"what": f"graphics.{ONE}", "needs": "xorg_restart"}]


def test_xorg_is_restarted_only_when_something_waits_for_it():
    assert plan(host(gpu(configured="sharedDirect")), restart="xorg") == {"graphics.xorg": ("restarted", None)}
    assert plan(host(), restart="xorg") == {}
    made = plan(host(), devices=SHARED_DIRECT, restart="xorg")
    assert made == {f"graphics.{ONE}": ("shared_direct", None), "graphics.xorg": ("restarted", None)}


def test_after_the_restart_everything_is_predicted_as_active():
    wanted = graphics.want("esx", host(), requested(devices=SHARED_DIRECT, restart="xorg"))
    (device,) = graphics.project(wanted)["devices"]
    assert (device["active"], device["mode"]) == ("shared_direct", "same_size")
    assert graphics.pending(wanted) == []


def test_the_policy_waits_too():
    assert plan(host(), assignment_policy="consolidation") == {
        "graphics.assignment_policy": ("consolidation", "xorg_restart")
    }
    back = host(policy="consolidation")
    assert plan(back, assignment_policy="performance") == {"graphics.assignment_policy": ("performance", None)}


@pytest.mark.parametrize("active", ["basic", "direct"])
def test_a_gpu_that_is_not_shared_at_all_waits_for_nothing(active):
    assert graphics.pending(host(gpu(configured="sharedDirect", active=active))) == []


def test_all_leaves_out_what_is_given_away():
    now = host(gpu(active="direct"), gpu(TWO))
    assert set(plan(now, devices=SHARED_DIRECT)) == {f"graphics.{TWO}"}


@pytest.mark.parametrize(
    "now, devices, words",
    [
        (host(gpu(active="basic")), SHARED_DIRECT, "has no driver"),
        (host(gpu(active="direct")), [{"id": ONE, "type": "shared"}], "is in passthrough mode"),
        (host(), [{"id": TWO, "type": "shared"}], f"there are: {ONE} (NVIDIA A100)"),
        (host(version=(8, 0, 2)), [{"id": ONE, "vgpu_mode": "mixed_size"}], "ESXi 8.0.2; vgpu_mode exists from 8.0.3"),
        (graphics.Graphics("shared", "performance", "performance"), SHARED_DIRECT, "shows no NVIDIA graphics device"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_way_out(now, devices, words):
    with pytest.raises(OperatorError) as refused:
        plan(now, devices=devices)
    assert words in refused.value.message


def test_a_gpu_is_gone_only_from_a_host_that_lists_others():
    for now, gone in ((host(), ["0000:ff:00.0"]), (graphics.Graphics("shared", "performance", "performance"), [])):
        with pytest.raises(OperatorError) as refused:
            plan(now, devices=[{"id": "0000:ff:00.0", "type": "shared_direct"}])
        assert refused.value.failure["gone"] == gone


def test_a_gpu_without_a_driver_that_is_as_wanted_is_left_alone():
    assert plan(host(gpu(configured="sharedDirect", active="basic")), devices=SHARED_DIRECT) == {}


def test_running_vms_are_in_the_way_of_their_gpu_and_of_xorg():
    busy = host(gpu(vms=("train-01",)), gpu(TWO))
    free = graphics.want("esx", busy, requested(devices=[{"id": TWO, "type": "shared_direct"}]))
    graphics.refuse_in_use("esx", busy, free)
    for requests in (
        {"devices": SHARED_DIRECT},
        {"devices": [{"id": TWO, "type": "shared_direct"}], "restart": "xorg"},
    ):
        with pytest.raises(OperatorError, match="train-01"):
            graphics.refuse_in_use("esx", busy, graphics.want("esx", busy, requested(**requests)))


def test_a_device_is_named_in_any_spelling_of_its_address():
    assert plan(host(), devices=[{"id": "00000000:17:00.0", "type": "shared_direct"}])


def test_the_request_keeps_the_types_of_devices_that_are_not_named():
    device_type = vim.host.GraphicsConfig.DeviceType
    current = vim.host.GraphicsConfig(
        hostDefaultGraphicsType="shared",
        sharedPassthruAssignmentPolicy="performance",
        deviceType=[device_type(deviceId=TWO, graphicsType="sharedDirect", vgpuMode="mixedSize")],
    )
    now = host(gpu(), gpu(TWO, configured="sharedDirect", mode="mixedSize"))
    wanted = graphics.want("esx", now, requested(devices=[{"id": ONE, "type": "shared_direct"}]))
    sent = graphics_spec.config(current, now, wanted)
    assert {entry.deviceId: (entry.graphicsType, entry.vgpuMode) for entry in sent.deviceType} == {
        ONE: ("sharedDirect", None),
        TWO: ("sharedDirect", "mixedSize"),
    }
    assert current.deviceType[0].deviceId == TWO


def test_mixed_sizes_can_be_set_from_the_first_release_that_has_them():
    wanted = requested(devices=[{"id": ONE, "type": None, "vgpu_mode": "mixed_size"}])
    assert graphics.want("esx", host(version=(8, 0, 3)), wanted).devices[0].mode == "mixedSize"


FREE = ("host", "direct_path", "vgpu_same_size", "vgpu_mixed_size", "system_select")


def moded(current="host", configurable=FREE, **more):
    return gpu(device_mode=modes.Mode(current, configurable), **more)


def over_rest(now, method="auto", **requests):
    wanted = graphics.want("esx", now, replace(requested(**requests), method=method))
    soap = graphics.over_soap(now, wanted, method)
    by_soap = [change.path for change in graphics.compare(now, soap)]
    return [mode for _device, mode in graphics.over_rest(now, wanted, method)], by_soap


def test_types_and_sizes_of_a_gpu_with_a_mode_go_over_rest():
    shared = moded("vgpu_same_size", configured="sharedDirect", active="sharedDirect")
    assert over_rest(host(moded()), devices=SHARED_DIRECT) == (["vgpu_same_size"], [])
    assert over_rest(host(shared), devices=[{"id": ONE, "vgpu_mode": "mixed_size"}]) == (["vgpu_mixed_size"], [])
    assert over_rest(host(shared), devices=[{"id": ONE, "type": "shared"}]) == (["host"], [])


def test_soap_has_what_rest_has_not():
    path = f"graphics.{ONE}"
    assert over_rest(host(moded()), "soap", devices=SHARED_DIRECT) == ([], [path])
    assert over_rest(host(gpu()), devices=SHARED_DIRECT) == ([], [path])
    # A GPU of type Shared has no size in REST.
    assert over_rest(host(moded()), devices=[{"id": ONE, "vgpu_mode": "mixed_size"}]) == ([], [f"{path}.vgpu_mode"])
    both = over_rest(host(moded()), default_type="shared_direct", devices=SHARED_DIRECT)
    assert both == (["vgpu_same_size"], ["graphics.default_type"])


def test_a_change_over_rest_is_planned_with_maintenance_mode():
    assert plan(host(moded()), devices=SHARED_DIRECT) == {f"graphics.{ONE}": ("shared_direct", "maintenance_mode")}


def test_a_mode_that_the_gpu_does_not_list_is_refused():
    with pytest.raises(OperatorError) as caught:
        graphics.want("esx", host(moded(configurable=("host", "direct_path"))), requested(devices=SHARED_DIRECT))
    assert caught.value.code == "device_mode_not_configurable"


def test_only_a_requested_setting_takes_a_gpu_back_from_the_host():
    now = host(moded("system_select", configured="sharedDirect", active="sharedDirect"))
    change = {f"graphics.{ONE}.device_mode": ("vgpu_same_size", None)}
    assert plan(now, devices=SHARED_DIRECT) == change
    assert plan(now, devices=[{"id": ONE}], default_type="shared_direct").keys() == {"graphics.default_type"}
