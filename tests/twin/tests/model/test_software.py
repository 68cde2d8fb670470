"""The installer of a host: what it takes, what it refuses and with which words, and when it takes effect."""

from __future__ import annotations

import pytest

from vsphere_twin.model import depot, packages, software
from vsphere_twin.model import vib as vibs

NVAIE = "NVIDIA_bootbank_NVD-AIE_ESXi_8.0.0_Driver_550.54.16-1OEM.800.1.0.20613240"
VOLUME = "/vmfs/volumes/disk"


@pytest.fixture
def host(lab):
    """A host in maintenance mode without a driver."""
    made = lab(hosts=[{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb"}], "driver": {"family": "none"}}])
    (host,) = made.hosts
    host.maintenance = True
    host.world = made.world
    return host


def put(host, name, data):
    (store,) = host.datastores.values()
    store.files.put(name, data)
    return f"{VOLUME}/{name}"


def install(host, data, name="depot.zip", **options):
    return software.install(host.world, host, put(host, name, data), **options)


def names(host, **options):
    return {one.name for one in host.software.vibs(**options)}


def test_an_installed_driver_is_listed_at_once_and_loaded_after_the_boot(host):
    result = install(host, depot.build())
    assert (result.message, result.reboot_required) == ("Operation finished successfully.", False)
    assert result.installed == [NVAIE]
    assert result.components_installed == ["NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240"]
    assert "NVD-AIE_ESXi_8.0.0_Driver" in names(host)
    assert host.driver.family == "none"
    assert software.at_boot(host) == software.Driver("nvaie", "550.54.16")


def test_the_same_again_changes_nothing(host):
    install(host, depot.build())
    result = install(host, depot.build())
    assert (result.message, result.installed, result.skipped) == ("Host is not changed.", [], [NVAIE])


def test_a_dry_run_says_what_would_be_done_and_does_not_do_it(host):
    before = host.software.image
    result = install(host, depot.build(), dry_run=True)
    assert result.message.startswith("Dryrun only, host not changed.")
    assert result.installed == [NVAIE]
    assert host.software.image is before


@pytest.mark.parametrize("version,moves", [("550.90.05", True), ("535.129.03", False)], ids=["newer", "older"])
def test_update_only_moves_forward_and_install_goes_anywhere(host, version, moves):
    install(host, depot.build())
    other = depot.build(version=version)
    assert bool(install(host, other, update=True, dry_run=True).installed) is moves
    result = install(host, other)
    assert result.removed == [NVAIE]
    assert software.at_boot(host).version == version


def test_update_does_not_install_what_is_not_there(host):
    assert install(host, depot.build(), update=True).message == "Host is not changed."


def test_what_needs_a_reboot_waits_in_the_other_boot_bank(host):
    result = install(host, depot.write(*packages.firmware_tools()))
    assert result.reboot_required
    assert result.message.startswith("The update completed successfully, but the system needs to be rebooted")
    assert "nmst" not in names(host)
    assert "nmst" in names(host, rebooting=True)
    software.at_boot(host)
    assert "nmst" in names(host)


def test_a_live_change_beside_a_waiting_image_waits_too(host):
    install(host, depot.write(*packages.firmware_tools()))
    assert install(host, depot.build()).reboot_required
    assert "NVD-AIE_ESXi_8.0.0_Driver" not in names(host)
    assert software.at_boot(host).family == "nvaie"


def refusal(host, data, **options):
    before = host.software.newest
    with pytest.raises(software.Refused) as caught:
        install(host, data, **options)
    assert host.software.newest is before
    return caught.value


def test_maintenance_mode_is_needed(host):
    host.maintenance = False
    refused = refusal(host, depot.build())
    assert refused.lines == [
        "[MaintenanceModeError]",
        f"MaintenanceMode is required to remove: []; install: [{NVAIE}].",
        "Please refer to the log file for more details.",
    ]


def test_the_acceptance_level_of_the_host_is_a_limit(host):
    refused = refusal(host, depot.write(*packages.community()))
    assert refused.kind == "AcceptanceConfigError"
    assert "'s acceptance level is community, which is not compliant" in refused.text
    software.set_acceptance(host.world, host, "CommunitySupported")
    assert install(host, depot.write(*packages.community())).installed


def test_the_level_cannot_be_raised_above_what_is_installed(host):
    install(host, depot.build())
    with pytest.raises(software.Refused, match="NVD-AIE_ESXi_8.0.0_Driver"):
        software.set_acceptance(host.world, host, "VMwareCertified")


def test_a_driver_for_another_release_is_a_dependency_error(host):
    refused = refusal(host, depot.build("nvaie", "510.47.03", "702"))
    assert refused.kind == "DependencyError"
    assert "requires vmkapi_2_8_0_0 but the requirement cannot be satisfied" in refused.text


def test_a_driver_for_a_newer_release_names_the_release(lab):
    made = lab(hosts=[{"name": "old", "driver": {"family": "none"}}], release="7.0.3")
    (host,) = made.hosts
    host.world, host.maintenance = made.world, True
    assert "requires esx-version >= 8.0.0 but" in refusal(host, depot.build()).text


def test_both_families_claim_the_same_files(host):
    install(host, depot.build())
    refused = refusal(host, depot.build("graphics"))
    assert refused.kind == "DependencyError"
    assert "is claimed by multiple non-overlay VIBs" in refused.text
    software.remove(host.world, host, ["NVD-AIE_ESXi_8.0.0_Driver"])
    install(host, depot.build("graphics"))
    assert software.at_boot(host).family == "graphics"


@pytest.mark.parametrize(
    "path,reason",
    [
        (f"{VOLUME}/nothing.zip", f"[Errno 2] No such file or directory: '{VOLUME}/nothing.zip'"),
        ("depot.zip", "[Errno 2] No such file or directory: '/var/log/vmware/depot.zip'"),
        (f"{VOLUME}/torn.zip", "File is not a zip file"),
    ],
    ids=["missing", "relative", "torn"],
)
def test_a_path_that_does_not_serve_is_a_download_error(host, path, reason):
    put(host, "torn.zip", b"torn")
    put(host, "depot.zip", depot.build())
    with pytest.raises(software.Refused) as caught:
        software.install(host.world, host, path)
    assert caught.value.kind == "MetadataDownloadError"
    assert reason in caught.value.text


def test_a_depot_is_not_taken_over_http(host):
    with pytest.raises(software.Refused, match="Only server local file path is supported"):
        software.install(host.world, host, "http://depot.example/driver.zip")


def test_the_volume_may_be_named_by_its_uuid(host):
    put(host, "depot.zip", depot.build())
    (store,) = host.datastores.values()
    assert software.install(host.world, host, f"/vmfs/volumes/{store.uuid}/depot.zip").installed == [NVAIE]


def test_a_single_vib_brings_no_component(host):
    (vib,), _components = packages.driver("nvaie", "550.54.16")
    result = install(host, vibs.write(vib), "driver.vib", kind="vib")
    assert result.installed == [NVAIE]
    assert "NVD-AIE-800" not in {one.name for one in host.software.components()}


def test_removing_takes_the_component_along_and_the_driver_at_the_next_boot(host):
    install(host, depot.build())
    software.at_boot(host)
    result = software.remove_components(host.world, host, ["NVD-AIE-800"])
    assert result.removed == [NVAIE]
    assert software.at_boot(host).family == "none"


def test_removing_what_is_not_there_is_refused(host):
    with pytest.raises(software.Refused, match="No VIB matching VIB search specification 'nothing'"):
        software.remove(host.world, host, ["nothing"])


def test_every_change_moves_the_time_of_the_profile(host):
    before = host.software.modified
    install(host, depot.build())
    assert host.software.modified > before


def test_a_ready_host_has_the_driver_of_its_seed(lab):
    (host,) = lab(hosts=[{"name": "esx-1", "driver": {"family": "nvaie", "version": "550.54.10"}}]).hosts
    assert software.at_boot(host) == software.Driver("nvaie", "550.54.10")
