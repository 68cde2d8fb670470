# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""From a request, as the module gets it, to the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import params, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, NONE
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.scope import Scope

from .worlds import GB, gpu, host, port, there, vm, world

ENTRY = {name: option.get("default") for name, option in params.ARGUMENTS["vms"]["options"].items()}
TASK = {name: option.get("default") for name, option in params.ARGUMENTS.items()}


def planned(where, *entries, present=None, scope=None, **task):
    """The entries of the answer for VMs of these requests."""
    requested = {**TASK, **task, "vms": [{**ENTRY, "name": f"v{at}", **entry} for at, entry in enumerate(entries)]}
    return plan.placement(where, scope or Scope(), present or {}, requested)["vms"]


def hosts(entries):
    return [entry["host"] for entry in entries]


NEED_MB = vm(memory_mb=64 * GB, cpus=8).need_mb


@pytest.mark.parametrize("free_mb, fits", [(NEED_MB, True), (NEED_MB - 1, False)])
def test_memory_is_asked_for_in_gb_and_taken_with_its_overhead(free_mb, fits):
    where = world(replace(host(1), memory_free_mb=free_mb))
    (entry,) = planned(where, {"memory_gb": 64, "cpus": 8})
    assert (entry["host"] == "esx-01") is fits


def test_a_vm_that_is_there_needs_what_it_has_unless_something_else_is_asked_for():
    now = there("host-1", memory_mb=600 * GB, cpus=200)
    where = world(host(1), host(2, memory_gb=700, threads=256))
    assert hosts(planned(where, {}, present={0: now})) == ["esx-02"]
    assert hosts(planned(where, {"memory_gb": 64, "cpus": 8}, present={0: now})) == ["esx-01"]


def test_a_new_vm_of_unknown_size_is_placed_and_reported_so():
    (entry,) = planned(world(host(1)), {"profiles": ["grid_a100-40c"]})
    assert entry["why"] == "emptiest host; memory unknown, not counted"


def test_a_plan_of_enhanced_directpath_uses_gpus_of_that_mode_alone():
    where = world(host(1, gpus=[gpu(0, DIRECT)]), host(2, gpus=[gpu(0, NONE, enhanced=True)]), host(3, gpus=[gpu(0)]))
    assert hosts(planned(where, {"gpus": 1}, gpu_mode="dvx")) == ["esx-02"]
    assert hosts(planned(where, {"gpus": 1}, gpu_mode="passthrough")) == ["esx-01"]


def test_a_plan_of_enhanced_directpath_pairs_gpus_and_ports_of_that_mode():
    gpus = [gpu(0, NONE, enhanced=True), gpu(1, DIRECT)]
    where = world(
        host(1, gpus=gpus, nics=(port(0, given=True), port(1, enhanced=True))),
        host(2, gpus=gpus, nics=(port(0, given=True), port(2, node=0, enhanced=True))),
    )
    (entry,) = planned(where, {"gpus": 1}, gpu_mode="dvx", path="dvx", gpudirect=True)
    assert (entry["host"], entry["root"], entry["nics"][0]["pci"]) == ("esx-02", "root0", port(2).pci)
    assert "other devices" not in entry["why"]


@pytest.mark.parametrize("what", ["GPU", "port"])
def test_a_plan_names_the_risk_that_vsphere_chooses_devices_of_other_roots(what):
    gpus = [gpu(0, NONE, enhanced=True)] + [gpu(1, NONE, enhanced=True)] * (what == "GPU")
    nics = (port(0, enhanced=True), *[port(1, enhanced=True)] * (what == "port"))
    (entry,) = planned(world(host(1, gpus=gpus, nics=nics)), {"gpus": 1}, gpu_mode="dvx", path="dvx", gpudirect=True)
    assert (entry["root"], "vSphere may choose other devices" in entry["why"]) == ("root0", True)


def test_a_label_narrows_the_devices_that_are_given_away_and_no_others():
    where = world(
        host(1, gpus=[gpu(0, DIRECT)], nics=(port(0, given=True, label="fabric"),)),
        host(2, gpus=[gpu(0, DIRECT, label="train")], nics=(port(0, given=True, label="other"),)),
    )
    assert hosts(planned(where, {"gpus": 1}, gpu_label="train", gpu_mode="passthrough")) == ["esx-02"]
    assert hosts(planned(where, {}, nic_label="fabric", path="passthrough")) == ["esx-01"]
    assert hosts(planned(world(host(1)), {"profiles": ["grid_a100-40c"]}, gpu_label="train")) == ["esx-01"]


def test_a_datastore_that_is_named_is_the_only_one():
    stores = {"datastore-1": ("a", 100), "datastore-2": ("b", 900)}
    where = world(host(1, datastores=("datastore-1", "datastore-2")), stores=stores)
    (entry,) = planned(where, {"disk_gb": 50}, datastore="a")
    assert entry["datastore"] == "a"
    (entry,) = planned(where, {"disk_gb": 50})
    assert entry["datastore"] == "b"
    with pytest.raises(OperatorError, match="There is no datastore c that is in use"):
        planned(where, {"disk_gb": 50}, datastore="c")


def test_profiles_that_nobody_knows_are_refused_all_at_once():
    with pytest.raises(OperatorError) as refused:
        planned(world(host(1)), {"profiles": ["grid_a100-41c"]}, {"profiles": ["grid_a100-40x"]})
    assert [problem["code"] for problem in refused.value.data["problems"]] == ["unknown_profile"] * 2
    assert "Use a similar name: " in refused.value.message


def test_a_pin_and_a_job_reach_the_plan():
    where = world(host(1), host(2))
    assert hosts(planned(where, {}, scope=Scope(pins={0: "host-2"}))) == ["esx-02"]
    apart = planned(where, {"job": "x"}, {"job": "x"}, {"job": "y"}, anti_affinity=True)
    assert len(set(hosts(apart[:2]))) == 2
    (first, second) = planned(world(host(1)), {"job": "x"}, {"job": "x"}, anti_affinity=True)
    assert (first["host"], second["host"]) == ("esx-01", None)
