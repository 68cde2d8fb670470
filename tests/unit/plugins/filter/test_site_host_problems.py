"""What a site says of hosts, driver and network is compared with itself."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_problems = FilterModule().filters()["site_problems"]

SMALL = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-01"}]}
PVRDMA = {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1"}
DEPOT = {"depot": "[datastore-01] depots/NVD-AIE.zip"}


def site(**parts):
    return {**SMALL, **parts}


SOUND = {
    "everything by default": site(hosts={}, bios={}, network={}, roce={}),
    "a driver on a datastore": site(driver=DEPOT),
    "a driver by its path on the host": site(driver={"depot": "/vmfs/volumes/ds/NVD-AIE.zip"}),
    "a driver on the controller": site(driver={"file": "/srv/NVD-AIE.zip", "datastore": "datastore-01"}),
    "PVRDMA": site(network=PVRDMA),
    "a driver of the version that its depot names": site(
        driver={"depot": "[ds] a/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip", "version": "550.54.16"}
    ),
    "a BIOS without IOMMU where nothing needs it": {
        "gpu": {"mode": "passthrough"},
        "vms": SMALL["vms"],
        "bios": {"functions": {"sriov": "disabled"}},
    },
    "graphics driver with passthrough": {
        "gpu": {"mode": "passthrough"},
        "vms": SMALL["vms"],
        "driver": {**DEPOT, "family": "graphics"},
    },
}


@pytest.mark.parametrize("given", SOUND.values(), ids=SOUND.keys())
def test_consistent_site_has_no_problems(given):
    assert site_problems(given) == []


PROBLEMS = {
    "wave of none": (
        site(hosts={"serial": "0"}),
        "site.hosts.serial: 0 is neither a number of hosts nor a",
    ),
    "wave in words": (site(hosts={"serial": "half"}), "site.hosts.serial: half is neither"),
    "no time to boot": (site(hosts={"reboot_timeout_s": 0}), "site.hosts.reboot_timeout_s: 0 is not a valid timeout."),
    "cold without restarts": (site(hosts={"cold_cycle": "allow"}), "cold_cycle is allow, but reboot is refuse"),
    "driver from nowhere": (
        site(driver={}),
        "site.driver: exactly one of depot, url, file is required, but it has",
    ),
    "driver from two places": (
        site(driver={**DEPOT, "url": "http://x/y.zip"}),
        "is required, but it has depot and url.",
    ),
    "depot that is no path": (
        site(driver={"depot": "ds:///x.zip"}),
        "site.driver.depot: ds:///x.zip is not a path on a datastore.",
    ),
    "file without a datastore": (site(driver={"file": "/srv/a.zip"}), "site.driver.datastore: it is not set"),
    "graphics family for computing": (
        site(driver={**DEPOT, "family": "graphics"}),
        "site.driver.family: graphics",
    ),
    "version that the name of the depot denies": (
        site(driver={"depot": "[ds] NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip", "version": "535.1.2"}),
        "site.driver.version: 535.1.2 is requested, but the name of the depot says 550.54.16.",
    ),
    "checksum of another kind": (site(driver={**DEPOT, "checksum": "md5:00"}), "md5:00 is not a SHA-256 checksum."),
    "BIOS without what vGPUs need": (
        site(bios={"functions": {"sriov": "disabled", "above_4g": "disabled"}}),
        "site.bios.functions: sriov and above_4g is disabled, but gpu.mode is vgpu",
    ),
    "no time for a BMC": (site(hosts={"bmc": {"timeout_s": 0}}), "site.hosts.bmc.timeout_s: 0 is not a valid timeout."),
    "authority that nobody asks": (
        site(hosts={"bmc": {"ca_file": "/etc/ca.pem", "validate_certs": False}}),
        "site.hosts.bmc: ca_file names a trusted authority",
    ),
    "a port by its address that keeps its name": (
        site(network={**PVRDMA, "nics": ["0000:3b:00.0"]}),
        "site.network.nics: 0000:3b:00.0 is a PCI address, but with the path",
    ),
    "no ports": (site(network={**PVRDMA, "nics": []}), "site.network.nics: it is empty, but the path is pvrdma."),
    "a port twice": (site(network={**PVRDMA, "nics": ["vmnic2", "vmnic2"]}), "vmnic2 is listed more than once"),
    "no VMkernel adapter": (
        site(network={"path": "pvrdma", "nics": ["vmnic2"]}),
        "site.network.vmknic: it is not set, and without it PVRDMA silently uses TCP.",
    ),
    "no adapter's name": (
        site(network={**PVRDMA, "vmknic": "vmnic2"}),
        "vmnic2 is not a valid name of a VMkernel adapter",
    ),
    "too large frames": (
        site(network={**PVRDMA, "mtu": 9216}),
        "site.network.mtu: 9216 is not an MTU that ESXi accepts.",
    ),
    "no virtual functions": (
        site(network={"path": "sriov", "nics": ["vmnic2"], "vfs": 0}),
        "site.network.vfs: 0 is",
    ),
    "a port that will lose its name": (site(network={"path": "passthrough", "nics": ["vmnic2"]}), "PCI addresses"),
    "MIG instances side by side over RDMA": (
        site(network=PVRDMA, gpu={"mode": "mig", "profile": "grid_a100-3-20c", "per_vm": 2}),
        "site.gpu: MIG instances have no peer-to-peer traffic, so several per VM do not speed up training over RDMA.",
    ),
    "direct path without ATS": (
        site(network={"path": "sriov", "nics": ["vmnic2"], "ats": "disabled"}),
        "site.network.ats: it is disabled, but the path sriov is for direct traffic between network adapter and "
        "GPU, which needs ATS.",
    ),
}


@pytest.mark.parametrize("given, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_contradiction_is_reported_with_a_way_out(given, problem):
    (reported,) = site_problems(given)
    assert problem in reported


def test_all_contradictions_are_reported_at_once():
    given = site(hosts={"serial": "0"}, driver={}, network={**PVRDMA, "mtu": 100}, roce={"dscp": 99})
    assert [problem.partition(":")[0] for problem in site_problems(given)] == [
        "site.hosts.serial",
        "site.driver",
        "site.network.mtu",
        "site.roce.dscp",
    ]


def test_what_one_host_adds_is_reported_and_what_the_site_lacks_is_not_reported_again():
    given = site(network=PVRDMA, hosts={"serial": "0"})
    (reported,) = site_problems(given, {"network": {"mtu": 99}})
    assert reported.startswith("site.network.mtu: 99 is not an MTU that ESXi accepts.")


@pytest.mark.parametrize(
    "override, problem",
    [
        pytest.param({"network": {"nicz": ["vmnic4"]}}, "site.network.nicz: the key is unknown.", id="unknown key"),
        pytest.param({"hosts": {"serial": 2}}, "site_host.hosts.serial: it cannot differ between hosts.", id="wave"),
        pytest.param({"vms": [{"name": "a"}]}, "site_host.vms: it cannot differ between hosts.", id="VMs"),
        pytest.param(["vmnic4"], "site_host: expected a dictionary.", id="list"),
    ],
)
def test_override_that_no_host_can_have_is_reported(override, problem):
    (reported,) = site_problems(site(network=PVRDMA), override)
    assert reported.startswith(problem)


def test_host_that_differs_as_it_may_has_no_problems():
    assert (
        site_problems(site(network=PVRDMA), {"network": {"nics": ["vmnic4"]}, "hosts": {"bmc": {"username": "a"}}})
        == []
    )
