# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.placing import GB, Placing
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Compute, HostPlace, Store


@dataclass
class Inventory:
    """The part of a datacenter that places are chosen from."""

    hosts: dict
    stores: dict
    computes: dict = field(default_factory=lambda: {"c": Compute("c", "gpu", "root pool of gpu", True)})
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


def places(world, count, need_gb=10, wish=None, cluster=None):
    placing = Placing(world, cluster, None)
    asked = {"host": None, "datastore": None, **(wish or {})}
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
    assert places(world, 1, wish={"datastore": "store-s2"})[1] == [("b", "s2")]


def test_hosts_in_maintenance_and_away_are_passed_over():
    world = inventory(
        [host("a", maintenance=True), host("b", connection="notResponding"), host("c", vms=9)], [store("s1", 100)]
    )
    assert places(world, 1)[1] == [("c", "s1")]


def test_a_named_datastore_that_all_together_overfill_is_told_with_the_sum():
    placing, found = places(inventory([host("a")], [store("s1", 25)]), 3, wish={"datastore": "store-s1"})
    assert [(one.moid, given) for one, given in placing.overfull().values()] == [("s1", 30 * GB)]
    assert found == [("a", "s1")] * 3


@pytest.mark.parametrize(
    "world, wish, code",
    [
        (inventory([host("a")], [store("s1", 5)]), {}, "no_disk_space"),
        (inventory([host("a", datastores=())], [store("s1", 5)]), {}, "no_datastore"),
        (inventory([host("a", maintenance=True)], [store("s1", 50)]), {}, "no_host"),
        (inventory([host("a", datastores=())], [store("s1", 50)]), {"datastore": "store-s1"}, "datastore_not_seen"),
    ],
)
def test_without_a_place_the_reason_is_told(world, wish, code):
    with pytest.raises(OperatorError) as refused:
        places(world, 1, wish=wish)
    assert refused.value.code == code


def test_with_several_clusters_one_has_to_be_named():
    world = inventory([host("a"), host("b", compute="d")], [store("s1", 50)])
    world.computes["d"] = Compute("d", "cpu", None, True)
    with pytest.raises(OperatorError) as refused:
        places(world, 1)
    assert refused.value.code == "cluster_needed"
    assert "cpu, gpu" in refused.value.message
    assert places(world, 1, cluster=world.computes["c"])[1] == [("a", "s1")]
    with pytest.raises(OperatorError) as elsewhere:
        places(world, 1, wish={"host": "esx-b"}, cluster=world.computes["c"])
    assert "It is in cpu, not in cluster gpu." in elsewhere.value.message
