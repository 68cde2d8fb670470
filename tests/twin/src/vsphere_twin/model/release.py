"""Names and features of a vSphere release."""

from __future__ import annotations

from dataclasses import dataclass

from pyVmomi import VmomiSupport


@dataclass(frozen=True)
class Release:
    """One release of vCenter Server and ESXi."""

    name: str
    version: str
    update: str
    api_version: str
    build: str
    newest_hardware: int
    driver: str = "550.54.16"  # host driver of seeds that name none
    server_build: str = ""  # of vCenter, where it differs from that of ESX

    @property
    def numbers(self):
        return tuple(int(part) for part in self.name.split("."))

    def at_least(self, *numbers):
        return self.numbers >= numbers

    @property
    def vcenter_build(self):
        return self.server_build or self.build

    @property
    def images_only(self):
        """Clusters have images and no baselines: vSphere 9.0 (product support notes of vSphere 9.0)."""
        return self.at_least(9, 0, 0)

    @property
    def packages(self):
        """Name of the release for which vendors build their packages, such as 800."""
        return {7: "702", 8: "800"}.get(self.numbers[0], "900")

    @property
    def fractional_multi_vgpu(self):
        """Several vGPUs that are not the whole frame buffer in one VM: vSphere 8.0 (NVAIE, multi-vGPU page)."""
        return self.at_least(8, 0, 0)

    @property
    def mixed_size(self):
        """vGPUs of different sizes on one GPU: vSphere 8.0 Update 3."""
        return self.at_least(8, 0, 3)

    @property
    def most_vgpus(self):
        """vGPUs in one VM: 8 from vSphere 8.0; 4 on 7.x [unsure: general knowledge]."""
        return 8 if self.at_least(8, 0, 0) else 4


# Builds and API versions: release notes and version lists of vSphere; API versions of 9.x: types of pyVmomi 9.1.1.0.
# vCenter 9.0.1 has the API 9.0.0.0, because pyVmomi knows no version between it and 9.1.0.0. The builds of 9.0.1 and
# "newest hardware of 9.1 is 22" (no client knows a 23) are [unsure].
RELEASES = {
    release.name: release
    for release in (
        Release("7.0.2", "7.0.2", "2", "7.0.2.0", "17694817", 19),
        Release("7.0.3", "7.0.3", "3", "7.0.3.0", "18700403", 19),
        Release("8.0.0", "8.0.0", "0", "8.0.0.1", "20519528", 20),
        Release("8.0.1", "8.0.1", "1", "8.0.1.0", "21560480", 20),
        Release("8.0.2", "8.0.2", "2", "8.0.2.0", "22380479", 21),
        Release("8.0.3", "8.0.3", "3", "8.0.3.0", "24022510", 21),
        Release("9.0.0", "9.0.0", "0", "9.0.0.0", "24755229", 22, "580.105.06", "24755230"),
        Release("9.0.1", "9.0.1", "1", "9.0.0.0", "24957456", 22, "580.105.06", "24957454"),
        Release("9.1.0", "9.1.0", "0", "9.1.0.0", "25370933", 22, "595.71.03", "25370922"),
    )
}
DEFAULT = "8.0.3"
# Version ids that a seed may give its vCenter, which a patch raises; an id is not always a number (m5CA1EF4D).
API_VERSIONS = [
    VmomiSupport.versionIdMap[version]
    for version in VmomiSupport.GetServiceVersions("vim25")
    if VmomiSupport.IsChildVersion(version, VmomiSupport.versionMap[f"vim25/{RELEASES['7.0.2'].api_version}"])
]
