"""Every property that the twin serves can be written for every release, with the vendor's own serialiser."""

from __future__ import annotations

import pytest
from pyVmomi import VmomiSupport
from pyVmomi.SoapAdapter import SerializeToStr

from vsphere_twin.model import seed
from vsphere_twin.model.release import RELEASES
from vsphere_twin.vcenter import registry, types
from vsphere_twin.vcenter.dispatch import Dispatcher
from vsphere_twin.vcenter.methods import environment
from vsphere_twin.vcenter.projections import host_gpu, shape

HOSTS = [
    {"name": "plain", "gpus": [{"board": "a100_pcie_40gb"}]},
    {"name": "mig", "gpus": [{"board": "h100_pcie_80gb", "mig": True}]},
    {"name": "direct", "gpus": [{"board": "a30", "passthrough": True}]},
    {"name": "bare", "driver": {"family": "none"}},
]


@pytest.fixture(scope="module", autouse=True)
def everything_registered():
    registry.load()


@pytest.mark.parametrize("release", RELEASES)
def test_every_property_can_be_written(lab, release):
    vms = [
        {
            "name": "runs",
            "host": "plain",
            "vgpus": ["grid_a100-40c"],
            "power": "on",
            "networks": ["train", "VM Network"],
        },
        {"name": "base", "host": "bare", "template": True},
    ]
    here = lab(hosts=HOSTS, vms=vms, release=release)
    here.world.timeline.settle()
    version = types.version_of(RELEASES[release].api_version)
    written = 0
    for kind in sorted({entity.kind for entity in here.world._entities.values()}):
        for entity in here.world.of_kind(kind):
            for name in registry.properties_of(kind):
                value = registry.find_prop(kind, name)(entity, here.world)
                if isinstance(value, VmomiSupport.DataObject):
                    SerializeToStr(value, version=version)
                    written += 1
    assert written > 100


def _mistyped(where, value, declared):
    """Places of values whose type is none that the API allows there; clients in typed languages fail on them."""
    if isinstance(declared, type) and issubclass(declared, list):
        for one in value or ():
            yield from _mistyped(f"{where}[]", one, declared.Item)
    elif isinstance(value, VmomiSupport.DataObject):
        if declared is not object and not isinstance(value, declared):
            yield where
        for info in value._GetPropertyList():
            yield from _mistyped(f"{where}.{info.name}", value.__dict__.get(info.name), info.type)


def test_every_value_has_a_type_that_the_api_allows_there():
    world = seed.load("small")
    Dispatcher(world)
    wrong = set()
    for kind in sorted({entity.kind for entity in world._entities.values()} - {"SessionManager"}):
        for entity in world.of_kind(kind):
            for name in registry.properties_of(kind):
                declared = types.property_of(types.managed_type(kind), name).type
                wrong.update(_mistyped(f"{kind}.{name}", registry.find_prop(kind, name)(entity, world), declared))
    world.close()
    assert sorted(wrong) == []


def test_required_fields_are_filled_with_the_empty_value_of_their_type():
    made = shape.make(VmomiSupport.GetVmodlType("vim.vm.Capability"))
    assert made.snapshotOperationsSupported is False


def test_profile_lists_follow_the_release(lab):
    class Caller:
        def __init__(self, world):
            self.world = world

        def resolve(self, ref):
            return self.world.get(ref._moId)

    for release, there in (("7.0.2", False), ("7.0.3", True)):
        here = lab(release=release)
        browser = here.hosts[0].compute.browser
        target = environment.config_target(Caller(here.world), browser)
        assert bool(target.vgpuProfileInfo) == there
        assert [one.vgpu for one in target.sharedGpuPassthroughTypes]


@pytest.mark.parametrize("release, there", [("8.0.1", False), ("8.0.2", True)])
def test_stun_estimates_of_vmotion_exist_from_80u2_on_for_c_and_q_types(lab, release, there):
    profiles = host_gpu.profile_info(lab(release=release).hosts[0])
    kinds = {profile.profileName[-1] for profile in profiles if profile.stunTimeEstimates}
    assert kinds == ({"c"} if there else set())
    for profile in profiles:
        times = [one.stunTime for one in profile.stunTimeEstimates or ()]
        assert times == sorted(times, reverse=True)
