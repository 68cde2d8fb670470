# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import plan, state
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.depot import Package, Vib
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import ARGUMENTS, DriverRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.source import Source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import Device, HostDriver

SUFFIX = "-1OEM.800.1.0.20613240"
A100 = Device("0000:17:00.0", "NVIDIA A100 PCIe 40GB", "shared")
REQUEST = request(DriverRequest, {**{name: one.get("default") for name, one in ARGUMENTS.items()}})


def nvaie(driver="550.54.16", suffix=SUFFIX, **more):
    return Vib("NVD-AIE_ESXi_8.0.0_Driver", driver + suffix, "NVIDIA", **{"acceptance": "VMwareAccepted", **more})


def graphics(driver="550.54.16"):
    return Vib("NVD-VMware_ESXi_8.0.0_Driver", driver + SUFFIX, "NVIDIA", "VMwareAccepted")


def depot(vib, component="NVD-AIE-800"):
    return Package((vib,), ((component, vib.version),))


def host(*vibs, **more):
    fresh = {"esxi": "8.0.3", "acceptance": "PartnerSupported", "in_maintenance": True, "devices": (A100,)}
    return HostDriver(vibs=vibs, **{**fresh, "changed_since_boot": False, **more})


def running(vib, **more):
    return host(vib, loaded=True, running=vib.version.partition("-")[0], **more)


def want(now, package, **requested):
    return plan.want_present("Host esx-01", now, package, replace(REQUEST, **requested))


def refused(now, package, **requested):
    with pytest.raises(OperatorError) as caught:
        want(now, package, **requested)
    return caught.value


def reported(now, wanted):
    return [str(change) for change in plan.compare(now, wanted)]


def test_a_first_install_names_the_driver_the_vib_and_the_reboot_that_it_needs():
    wanted = want(host(), depot(nvaie()))
    assert reported(host(), wanted) == [
        f"driver: none -> nvaie 550.54.16{SUFFIX} (needs reboot)",
        f"vibs.NVD-AIE_ESXi_8.0.0_Driver: none -> 550.54.16{SUFFIX}",
    ]
    assert state.project(wanted)["components"] == [{"name": "NVD-AIE-800", "version": f"550.54.16{SUFFIX}"}]


def test_the_same_driver_is_left_alone():
    now = running(nvaie())
    assert plan.compare(now, want(now, depot(nvaie()))) == []


def test_a_newer_driver_is_installed_over_the_old_one():
    now = running(nvaie("525.105.14"))
    wanted = want(now, depot(nvaie()))
    assert wanted.vibs == (nvaie(),)
    assert state.pending(wanted) == [{"what": "driver", "needs": "reboot"}]


def test_an_older_driver_is_refused_until_the_user_allows_it():
    now = running(nvaie("570.124.03"))
    error = refused(now, depot(nvaie()))
    assert error.code == "downgrade"
    assert "570.124.03" in error.found
    assert want(now, depot(nvaie()), downgrade="allow").vibs == (nvaie(),)


def test_the_same_driver_for_a_newer_esxi_replaces_the_build_for_the_old_one():
    old = Vib("NVIDIA-AIE_ESXi_7.0.2_Driver", "550.54.16-1OEM.702.0.0.17630552", "NVIDIA", "VMwareAccepted")
    assert want(running(old), depot(nvaie())).vibs == (nvaie(),)
    back = refused(running(nvaie()), depot(old))
    assert back.code == "downgrade"


def test_the_graphics_driver_is_refused_for_compute_with_the_reason():
    error = refused(host(), depot(graphics(), "NVD-VGPU-800"))
    assert error.code == "wrong_family"
    assert "never offers a compute profile" in error.found


def test_the_compute_driver_is_refused_where_graphics_was_meant():
    assert refused(host(), depot(nvaie()), family="graphics").code == "wrong_family"


def test_an_installed_driver_of_the_other_family_is_named_and_replaced_only_on_request():
    now = running(graphics("550.54.10"))
    error = refused(now, depot(nvaie()))
    assert error.code == "other_family_installed"
    assert "graphics 550.54.10" in error.found
    wanted = want(now, depot(nvaie()), replace=True)
    assert wanted.vibs == (nvaie(),)
    assert reported(now, wanted)[1:] == [
        f"vibs.NVD-AIE_ESXi_8.0.0_Driver: none -> 550.54.16{SUFFIX}",
        f"vibs.NVD-VMware_ESXi_8.0.0_Driver: 550.54.10{SUFFIX} -> none",
    ]


def test_two_families_at_once_are_brought_to_one():
    now = host(nvaie(), graphics())
    assert refused(now, depot(nvaie())).code == "other_family_installed"
    assert want(now, depot(nvaie()), replace=True).vibs == (nvaie(),)


@pytest.mark.parametrize("level", ["VMwareCertified"])
def test_the_acceptance_level_of_a_host_is_never_lowered(level):
    error = refused(host(acceptance=level), depot(nvaie()))
    assert error.code == "acceptance_level"
    assert "does not lower" in error.todo


def test_a_package_without_a_known_level_is_left_to_the_installer():
    assert want(host(acceptance="VMwareCertified"), depot(nvaie(acceptance=""))).vibs


def test_a_driver_for_another_release_of_esxi_is_refused():
    error = refused(host(esxi="7.0.3"), depot(nvaie()))
    assert (error.code, error.data["built_for"]) == ("wrong_esxi_release", "8.0.0")
    assert "other_release=allow" in error.todo


def test_a_driver_that_seems_to_be_for_another_release_is_left_to_the_installer_on_demand():
    assert want(host(esxi="7.0.3"), depot(nvaie()), other_release="allow").vibs == (nvaie(),)


@pytest.mark.parametrize(
    "package, says",
    [
        (Package((Vib("nvdgpumgmtdaemon", "525.105.14-0.0.0000"),)), "management daemon"),
        (Package((Vib("nmst", "4.22.1.11-1OEM.703"), Vib("mft", "4.22.1.11-0"))), "contains 0 host drivers"),
        (Package((nvaie(), graphics())), "contains 2 host drivers"),
        (Package(()), "VIBs: none"),
    ],
    ids=["daemon", "firmware tools", "both families", "empty"],
)
def test_a_package_that_is_not_one_driver_is_refused_with_what_is_in_it(package, says):
    error = refused(host(), package)
    assert error.code == "no_driver_in_package"
    assert says in error.found


def test_absent_removes_the_drivers_of_the_family_and_no_others():
    now = running(nvaie(), components=(("NVD-AIE-800", nvaie().version), ("other", "1")))
    wanted = plan.want_absent(now, REQUEST)
    assert (wanted.vibs, wanted.components) == ((), (("other", "1"),))
    assert state.pending(wanted) == [{"what": "driver", "needs": "reboot"}]
    assert plan.want_absent(running(graphics()), REQUEST) == running(graphics())


@pytest.mark.parametrize(
    "by_image, asked, result",
    [
        (False, "auto", "esxcli"),
        (True, "auto", "image"),
        (False, "esxcli", "esxcli"),
        (True, "image", "image"),
        (True, "esxcli", "image_managed"),
        (False, "image", "not_image_managed"),
    ],
)
def test_the_way_follows_who_manages_the_software(by_image, asked, result):
    requested = replace(REQUEST, method=asked)
    if result in ("esxcli", "image"):
        assert plan.method("Host esx-01", host(by_image=by_image), requested) == result
        return
    with pytest.raises(OperatorError) as caught:
        plan.method("Host esx-01", host(by_image=by_image), requested)
    assert caught.value.code == result


SET_UP = "this cluster has none yet. Set up an image for the cluster in vCenter (Updates, Image), then run again"


@pytest.mark.parametrize(
    "by_image, asked, words",
    [
        (True, "esxcli", "would drift from it. Use method=auto or method=image, which put the driver into the image"),
        (False, "auto", SET_UP),
        (False, "esxcli", SET_UP),
        (False, "image", SET_UP),
    ],
)
def test_without_baselines_only_the_image_changes_the_software(by_image, asked, words):
    now = host(by_image=by_image, images_only=True, esxi="9.0.0")
    with pytest.raises(OperatorError) as caught:
        plan.method("Host esx-01", now, replace(REQUEST, method=asked))
    assert caught.value.code == "image_required"
    assert str(caught.value).endswith(f"{words}.")


@pytest.mark.parametrize("by_image, asked", [(True, "esxcli"), (False, "auto"), (False, "image")])
def test_a_host_of_esxi_8_below_vcenter_9_needs_the_image_unless_the_user_says_otherwise(by_image, asked):
    now = host(by_image=by_image, images_only=True, esxi="8.0.3")
    with pytest.raises(OperatorError) as caught:
        plan.method("Host esx-01", now, replace(REQUEST, method=asked))
    assert caught.value.code == "image_required"
    assert ("baselines for ESXi 8.0.3, use method=esxcli instead." in str(caught.value)) is not by_image
    assert plan.method("Host esx-01", replace(now, by_image=False), replace(REQUEST, method="esxcli")) == plan.ESXCLI


def test_without_baselines_the_driver_goes_into_the_image():
    assert plan.method("Host esx-01", host(by_image=True, images_only=True), REQUEST) == plan.IMAGE
    assert state.project(host(images_only=True))["managed_by"] == "nothing"


def test_a_working_host_is_refused_with_the_names_of_its_vms():
    with pytest.raises(OperatorError) as caught:
        plan.demand_maintenance("Host esx-01", host(in_maintenance=False, running_vms=("train-01", "web")))
    assert caught.value.data["running_vms"] == ["train-01", "web"]
    assert "train-01, web" in caught.value.found
    plan.demand_maintenance("Host esx-01", host())


def test_a_zip_by_url_is_refused_for_esxcli_and_taken_for_an_image():
    source = Source(depot(nvaie()), "x", url="https://repo.example.com/NVD-AIE-800_x.zip")
    with pytest.raises(OperatorError, match="only from a datastore"):
        plan.demand_usable_source("Host esx-01", source, plan.ESXCLI)
    plan.demand_usable_source("Host esx-01", source, plan.IMAGE)


def test_what_is_not_there_after_success_was_reported_is_an_error():
    wanted = want(host(), depot(nvaie()))
    assert plan.gap("Host esx-01", wanted, wanted) is None
    assert plan.gap("Host esx-01", host(), wanted).code == "not_proved"


def test_a_driver_that_a_boot_did_not_load_is_no_success():
    assert refused(host(nvaie()), depot(nvaie())).code == "driver_not_loaded"
    # Without a device that it could drive, or before the boot, nothing is wrong.
    assert want(host(nvaie(), devices=()), depot(nvaie()))
    assert want(host(nvaie(), devices=(Device("0000:17:00.0", "A100", "direct"),)), depot(nvaie()))
    assert want(host(nvaie(), changed_since_boot=True), depot(nvaie()))


@pytest.mark.parametrize(
    "now, waits, booted",
    [
        (host(), False, None),
        (host(nvaie(), changed_since_boot=True), True, None),
        (host(nvaie(), changed_since_boot=None), True, None),
        (host(nvaie()), False, None),
        (running(nvaie()), False, "550.54.16"),
        (running(nvaie(), changed_since_boot=True), True, "550.54.16"),
        (running(nvaie(), running_family="graphics"), True, "550.54.16"),
        (running(nvaie(), running_family="nvaie"), False, "550.54.16"),
        (host(nvaie(), loaded=True, running="525.105.14"), True, "525.105.14"),
        (host(nvaie(), loaded=True, changed_since_boot=True), True, None),
        (host(nvaie(), loaded=True, changed_since_boot=False), False, "550.54.16"),
        (host(nvaie(), loaded=True, changed_since_boot=None), False, None),
        (host(loaded=True, running="525.105.14"), True, "525.105.14"),
    ],
    ids=[
        "nothing",
        "fresh install",
        "install at an unknown time",
        "did not load",
        "runs",
        "something of the same version was installed since",
        "the other product of the same version runs",
        "the same product runs",
        "older one runs",
        "changed since, version of the module unknown",
        "not changed since, version of the module unknown",
        "nothing known",
        "removed and still loaded",
    ],
)
def test_whether_a_reboot_is_due_is_concluded_from_what_runs_and_never_from_the_installer(now, waits, booted):
    assert now.waits_for_reboot is waits
    assert now.booted == booted


def test_the_projection_reports_the_release_and_the_guests_that_may_run():
    shown = state.project(running(nvaie(), by_image=True))
    assert (shown["family"], shown["version"], shown["branch"], shown["release"]) == ("nvaie", "550.54.16", 550, "17.1")
    assert (shown["guest_branches"], shown["managed_by"], shown["loaded"]) == ([550, 535], "image", True)
    assert state.project(host())["guest_branches"] == []


@pytest.mark.parametrize("named", ["550.54.16", f"550.54.16{SUFFIX}", None])
def test_a_package_of_the_requested_version_is_installed_and_another_one_rejected(named):
    assert want(host(), depot(nvaie()), version=named).vibs == (nvaie(),)
    if named:
        assert refused(host(), depot(nvaie("550.90.05")), version=named).code == "other_version"


@pytest.mark.parametrize(
    "there, gone",
    [
        ((nvaie("550.90.05"),), ["NVD-AIE_ESXi_8.0.0_Driver"]),
        ((nvaie("550.54.10"),), []),
        ((nvaie(),), []),
        ((graphics("570.124.03"),), []),
        ((nvaie(suffix="-1OEM.802.1.0.20613240"),), ["NVD-AIE_ESXi_8.0.0_Driver"]),
        ((), []),
    ],
    ids=["newer", "older", "same", "another product", "newer ESXi", "none"],
)
def test_only_newer_vibs_of_the_product_go_before_an_older_image(there, gone):
    assert plan.newer_vibs(host(*there), host(nvaie())) == gone
    assert plan.newer_vibs(host(*there), host()) == []
