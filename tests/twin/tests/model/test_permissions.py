"""Roles and permissions: what counts on an object, as vCenter works it out."""

from __future__ import annotations

import pytest

from vsphere_twin.model import seed as seeds
from vsphere_twin.model.seed_file import SeedError

USER, BOSS = "automation@vsphere.local", "administrator@vsphere.local"
SETTINGS, MAINTENANCE = "Host.Config.Settings", "Host.Config.Maintenance"


def world(*permissions, roles=None):
    return seeds.from_data(
        {
            "users": {USER: "a", BOSS: "b"},
            "roles": roles
            or {"settings": [SETTINGS], "maintenance": [MAINTENANCE], "power": ["VirtualMachine.Interact.PowerOn"]},
            "permissions": [{"user": USER, **one} for one in permissions],
            "datacenters": [
                {
                    "name": "lab",
                    "datastores": [{"name": "ds", "capacity_gb": 1000}],
                    "networks": [{"name": "VM Network"}],
                    "vm_folders": ["training"],
                    "clusters": [{"name": "gpu", "hosts": [{"name": "esx-01"}, {"name": "esx-02"}]}],
                    "vms": [{"name": "train-01", "folder": "training", "host": "esx-01"}],
                }
            ],
        }
    )


def may(world, name, privilege, user=USER):
    (entity,) = [one for kind in ("HostSystem", "VirtualMachine") for one in world.of_kind(kind) if one.name == name]
    return world.permissions.may(user, privilege, entity)


def test_a_user_without_a_permission_in_the_seed_is_an_administrator():
    assert may(world({"role": "NoAccess"}), "esx-01", MAINTENANCE, user=BOSS)


@pytest.mark.parametrize(
    "permissions, held",
    [
        pytest.param([{"role": "settings"}], True, id="above everything"),
        pytest.param([{"role": "settings", "object": "gpu"}], True, id="on the cluster"),
        pytest.param([{"role": "settings", "object": "gpu", "propagate": False}], False, id="on the cluster alone"),
        pytest.param([{"role": "settings", "object": "esx-01", "propagate": False}], True, id="on the host itself"),
        pytest.param([{"role": "settings", "object": "esx-02"}], False, id="on another host"),
        pytest.param([{"role": "maintenance"}], False, id="another privilege"),
        pytest.param([{"role": "Admin"}, {"role": "NoAccess", "object": "gpu"}], False, id="taken away further below"),
        pytest.param([{"role": "NoAccess"}, {"role": "settings", "object": "esx-01"}], True, id="given further below"),
        pytest.param([{"role": "ReadOnly"}], False, id="read-only"),
    ],
)
def test_the_nearest_permission_counts(permissions, held):
    assert may(world(*permissions), "esx-01", SETTINGS) is held


@pytest.mark.parametrize("where", ["training", "gpu"])
def test_a_vm_inherits_from_its_folder_and_from_its_resource_pool(where):
    assert may(world({"role": "power", "object": where}), "train-01", "VirtualMachine.Interact.PowerOn")


@pytest.mark.parametrize("role, view", [("settings", True), ("NoAccess", False)])
def test_whoever_has_a_role_may_look_and_no_access_holds_nothing(role, view):
    assert may(world({"role": role}), "esx-01", "System.View") is view


@pytest.mark.parametrize(
    "row, problem",
    [
        pytest.param({"role": "rulers"}, "seed.permissions[0]: there is no role rulers.", id="role"),
        pytest.param(
            {"role": "settings", "object": "moon"},
            "seed.permissions[0]: there are 0 objects of the name moon.",
            id="object",
        ),
        pytest.param({"role": "settings", "user": "x"}, "seed.permissions[0]: there is no user x.", id="user"),
    ],
)
def test_mistakes_in_a_seed_are_named(row, problem):
    with pytest.raises(SeedError) as error:
        world(row)
    assert problem in error.value.problems
