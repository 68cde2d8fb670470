# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.placing import (
    GB,
    Placing,
    choose_cluster,
    too_little_space,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Compute, HostPlace, Store, Target

from .requests import request


@dataclass
class Inventory:
    """The part of a datacenter that places are chosen from."""

    hosts: dict
    stores: dict
    computes: dict = field(default_factory=lambda: {"c": Compute("c", "gpu", "root pool of gpu")})
    name: str = "lab"

    def hosts_of(self, compute):
        return [host for host in self.hosts.values() if host.compute == compute.moid]


def host(moid, vms=0, datastores=("s1", "s2"), compute="c", **more):
    known = {"connection": "connected", "maintenance": False, **more}
    return HostPlace(None, moid, f"esx-{moid}", compute=compute, datastores=datastores, vms=vms, **known)


def store(moid, free_gb, **more):
    return Store(None, moid, f"store-{moid}", free_gb * GB, **{"usable": True, **more})


def inventory(hosts, stores):
    return Inventory({one.moid: one for one in hosts}, {one.moid: one for one in stores})


def places(world, count, need_gb=10, requested=None, cluster=None):
    placing = Placing(world, cluster, None)
    asked = request(**(requested or {}))
    targets = [placing.target(f"vm-{number}", asked, None, need_gb * GB) for number in range(count)]
    return placing, [(target.host.moid, target.store.moid) for target in targets]


def test_vms_go_to_the_host_with_the_fewest_in_turn():
    world = inventory([host("b", vms=1), host("a", vms=3)], [store("s1", 100)])
    assert [place[0] for place in places(world, 5)[1]] == ["b", "b", "a", "b", "a"]


def test_the_answer_does_not_depend_on_the_order_of_the_inventory():
    hosts, stores = [host("a"), host("b"), host("c")], [store("s1", 100), store("s2", 100)]
    assert places(inventory(hosts, stores), 7)[1] == places(inventory(hosts[::-1], stores[::-1]), 7)[1]


def test_datastores_fill_evenly_with_what_this_task_puts_there():
    world = inventory([host("a")], [store("s1", 100), store("s2", 85)])
    # 100 and 85 GB free: two go to the first one before the second is the emptier.
    assert [place[1] for place in places(world, 4)[1]] == ["s1", "s1", "s2", "s1"]


def test_hosts_that_do_not_see_a_named_datastore_are_passed_over():
    world = inventory([host("a", datastores=("s1",)), host("b", vms=9)], [store("s1", 100), store("s2", 100)])
    assert places(world, 1, requested={"datastore": "store-s2"})[1] == [("b", "s2")]


def test_hosts_in_maintenance_and_away_are_passed_over():
    world = inventory(
        [host("a", maintenance=True), host("b", connection="notResponding"), host("c", vms=9)], [store("s1", 100)]
    )
    assert places(world, 1)[1] == [("c", "s1")]


def test_a_named_datastore_that_all_together_overfill_is_reported_with_the_sum():
    placing, found = places(inventory([host("a")], [store("s1", 25)]), 3, requested={"datastore": "store-s1"})
    assert [(one.moid, given) for one, given in placing.overfull().values()] == [("s1", 30 * GB)]
    assert found == [("a", "s1")] * 3


@pytest.mark.parametrize(
    "world, requested, code",
    [
        (inventory([host("a")], [store("s1", 5)]), {}, "no_disk_space"),
        (inventory([host("a", datastores=())], [store("s1", 5)]), {}, "no_datastore"),
        (inventory([host("a", maintenance=True)], [store("s1", 50)]), {}, "no_host"),
        (inventory([host("a", datastores=())], [store("s1", 50)]), {"datastore": "store-s1"}, "datastore_not_seen"),
    ],
)
def test_without_a_place_the_reason_is_reported(world, requested, code):
    with pytest.raises(OperatorError) as refused:
        places(world, 1, requested=requested)
    assert refused.value.code == code


def test_with_several_clusters_one_has_to_be_named():
    world = inventory([host("a"), host("b", compute="d")], [store("s1", 50)])
    world.computes["d"] = Compute("d", "cpu", None)
    with pytest.raises(OperatorError) as refused:
        places(world, 1)
    assert refused.value.code == "cluster_needed"
    assert "cpu, gpu" in refused.value.message
    assert places(world, 1, cluster=world.computes["c"])[1] == [("a", "s1")]
    with pytest.raises(OperatorError) as elsewhere:
        places(world, 1, requested={"host": "esx-b"}, cluster=world.computes["c"])
    assert "The host is in cpu, not in cluster gpu." in elsewhere.value.message


def test_a_place_has_the_pool_of_its_cluster_or_the_one_that_was_named():
    world = inventory([host("a")], [store("s1", 50)])
    asked = request()
    assert Placing(world, None, None).target("vm", asked, "folder", GB).pool == "root pool of gpu"
    target = Placing(world, None, {"c": "jobs"}).target("vm", asked, "folder", GB)
    assert target == Target("folder", world.hosts["a"], world.stores["s1"], "jobs")
    with pytest.raises(OperatorError) as refused:
        Placing(world, None, {"d": "jobs"}).target("vm", asked, "folder", GB)
    assert refused.value.code == "pool_not_found"


@pytest.mark.parametrize("wanted", ["esx-b", "ESX-B", "b"])
def test_a_host_is_named_by_its_name_or_moid(wanted):
    world = inventory([host("a"), host("b", vms=9)], [store("s1", 50)])
    assert places(world, 1, requested={"host": wanted})[1] == [("b", "s1")]


NODES = [f"node{number}.lab" for number in range(2, 8)]


@pytest.mark.parametrize(
    "wanted, names, near",
    [
        ("esx", ["esx.cluster.example", "other"], ["esx.cluster.example"]),
        ("GPU.LAP", ["Gpu.lab", "other"], ["Gpu.lab"]),
        ("storage-host", ["gpu.lab"], []),
        ("node1.lab", NODES, sorted(NODES, reverse=True)[:5]),
        ("aaaaa", ["aaabb", "aabbb"], ["aaabb"]),
    ],
    ids=["without its domain", "misspelt", "like none", "like many", "too far"],
)
def test_a_host_that_is_not_there_is_refused_with_those_that_may_be_meant(wanted, names, near):
    world = inventory([replace(host(f"h{number}"), name=name) for number, name in enumerate(names)], [])
    with pytest.raises(OperatorError) as refused:
        Placing(world, None, None).host_named("vm", wanted)
    assert refused.value.failure == documented("host_not_found", subject="VM vm", near=near)


@pytest.mark.parametrize(
    "changes, code",
    [({"maintenance": True}, "host_in_maintenance"), ({"connection": "disconnected"}, "host_not_connected")],
)
def test_a_named_host_has_to_be_usable(changes, code):
    world = inventory([host("a", **changes)], [store("s1", 50)])
    with pytest.raises(OperatorError) as refused:
        places(world, 1, requested={"host": "a"})
    assert refused.value.code == code


@pytest.mark.parametrize(
    "wanted, code",
    [("store-s3", "datastore_not_seen"), ("store-s9", "datastore_not_found"), ("store-s2", "datastore_not_usable")],
)
def test_a_named_datastore_has_to_be_usable_there(wanted, code):
    stores = [store("s1", 50), store("s2", 50, usable=False, why_not="it is not accessible"), store("s3", 50)]
    with pytest.raises(OperatorError) as refused:
        places(inventory([host("a")], stores), 1, requested={"datastore": wanted})
    assert refused.value.code == code


def test_a_datastore_that_takes_no_new_vms_is_passed_over():
    stores = [store("s1", 90, usable=False), store("s2", 50)]
    assert places(inventory([host("a")], stores), 1)[1] == [("a", "s2")]


def test_a_datastore_may_be_filled_to_its_last_byte_and_no_further():
    world = inventory([host("a")], [store("s1", 20)])
    placing, found = places(world, 2, need_gb=10)
    assert (found, placing.overfull()) == ([("a", "s1")] * 2, {})
    with pytest.raises(OperatorError) as refused:
        placing.target("vm", request(), None, 3 * GB // 2)
    assert refused.value.failure == documented("no_disk_space", subject="VM vm", datastore="store-s1", short_gb=1.5)


def test_datastores_with_too_little_space_for_all_are_refused_with_the_rest():
    error = too_little_space("vm", store("s1", 25), 32 * GB)
    assert error.failure == documented("no_disk_space", subject="VM vm", datastore="store-s1", short_gb=7.0)


def test_a_cluster_is_named_by_its_name_or_moid():
    world = inventory([host("a")], [])
    world.computes["d"] = Compute("d", "cpu", None)
    assert choose_cluster(world, None) is choose_cluster(world, "") is None
    assert choose_cluster(world, "gpu") is choose_cluster(world, "c") is world.computes["c"]


@pytest.mark.parametrize("wanted, candidates", [("tpu", ["gpu", "gpu"]), ("gpu", ["gpu", "gpu"])])
def test_a_cluster_that_is_not_there_or_twice_is_refused(wanted, candidates):
    world = inventory([host("a")], [])
    world.computes["d"] = Compute("d", "gpu", None)
    with pytest.raises(OperatorError) as refused:
        choose_cluster(world, wanted)
    assert refused.value.failure == documented("cluster_not_found", subject=f"cluster {wanted}", candidates=candidates)


def test_a_cluster_without_hosts_is_no_place():
    world = inventory([host("a")], [store("s1", 50)])
    world.computes["d"] = Compute("d", "cpu", None)
    assert places(world, 1)[1] == [("a", "s1")]
