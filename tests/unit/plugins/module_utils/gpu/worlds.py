# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""States and requests for the tests of this folder."""

from __future__ import annotations

import dataclasses

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.params import ARGUMENTS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu.state import FIRST_KEY, Gpu, Host, VmState
from ansible_collections.aiready.vsphere.plugins.modules.vgpu_profile import VgpuProfiles

A100 = ("grid_a100-10c", "grid_a100-20c", "grid_a100-40c", "grid_a100-4c", "grid_a100-5c", "grid_a100-8c")
A100_MIG = ("grid_a100-1-5c", "grid_a100-2-10c", "grid_a100-3-20c", "grid_a100-4-20c", "grid_a100-7-40c")
A40 = ("nvidia_a40-48c", "nvidia_a40-24c", "nvidia_a40-48q")


def gpu(active="sharedDirect", configured="sharedDirect", mode=""):
    return Gpu("NVIDIA A100-PCIE-40GB", active, configured, mode)


EIGHT_GPUS = (gpu(),) * 8


def host(name="esx-01", version="8.0.3", offered=A100, gpus=EIGHT_GPUS, connected=True):
    return Host(f"host-{name}", name, "gpu-cluster", connected, version, tuple(offered), tuple(gpus))


def vm(*profiles, host=None, others=(), **fields):
    """A VM that is off; its vGPUs have the first keys."""
    fields.setdefault("devices", tuple((FIRST_KEY + number, profile) for number, profile in enumerate(profiles)))
    own = {field.name for field in dataclasses.fields(VmState)}
    common = Vm(**{name: value for name, value in fields.items() if name not in own})
    settings = {name: value for name, value in fields.items() if name in own}
    return VmState(vm=common, host=host, cluster=(host, *others) if host else (), **settings)


def powered(state, **fields):
    """The same with other facts about the VM itself."""
    return dataclasses.replace(state, vm=dataclasses.replace(state.vm, **fields))


class Module:
    """What a noun takes from its module."""

    params = {}
    check_mode = False

    def warn(self, text):
        raise AssertionError(text)


class Permissive(VgpuProfiles):
    """The noun without its rules, which have tests of their own."""

    def refuse(self, item, wanted):
        pass


def planned(now, requested_one):
    """(the wanted state, the changes that lead to it)."""
    noun = Permissive(Module())
    wanted = noun.want(Item("train-01", requested_one, {"moid": "vm-1"}, now=now))
    return wanted, noun.compare(now, wanted)


def ready(*profiles, **fields):
    """A VM that has all that these vGPUs need."""
    vmx = {
        "pciPassthru.use64bitMMIO": "TRUE",
        "pciPassthru.64bitMMIOSizeGB": "128",
        **{f"pciPassthru{number}.cfg.enable_uvm": "1" for number in range(len(profiles))},
    }
    fields.setdefault("vmx", vmx)
    fields.setdefault("memory_locked", True)
    return vm(*profiles, **fields)


def requested(*profiles, power="refuse", guest_shutdown_timeout_s=300, **options):
    """The request for one VM, as the module of vGPUs fills it."""
    usual = {name: one.get("default") for name, one in ARGUMENTS.part.items()}
    return VmRequest(
        identity={"name": "train-01"},
        settings=ARGUMENTS.settings({**usual, "profiles": list(profiles), **options}),
        power=power,
        guest_shutdown_timeout_s=guest_shutdown_timeout_s,
    )
