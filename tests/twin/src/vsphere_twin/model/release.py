"""Names and features of a vSphere release."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """One release of vCenter Server and ESXi."""

    name: str
    version: str
    update: str
    api_version: str
    build: str
    newest_hardware: int

    @property
    def numbers(self):
        return tuple(int(part) for part in self.name.split("."))

    def at_least(self, *numbers):
        return self.numbers >= numbers

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


RELEASES = {
    release.name: release
    for release in (
        Release("7.0.2", "7.0.2", "2", "7.0.2.0", "17694817", 19),
        Release("7.0.3", "7.0.3", "3", "7.0.3.0", "18700403", 19),
        Release("8.0.0", "8.0.0", "0", "8.0.0.1", "20519528", 20),
        Release("8.0.1", "8.0.1", "1", "8.0.1.0", "21560480", 20),
        Release("8.0.2", "8.0.2", "2", "8.0.2.0", "22380479", 21),
        Release("8.0.3", "8.0.3", "3", "8.0.3.0", "24022510", 21),
    )
}
DEFAULT = "8.0.3"
