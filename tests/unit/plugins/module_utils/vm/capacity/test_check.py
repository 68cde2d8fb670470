# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import check
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers, Wanted, numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, MIG, MIXED_SIZE, NONE

from unit.plugins.module_utils.vm.placement.worlds import gpu, host

from .labs import scope, telling

WHOLE, HALF = Wanted("grid_a100-40c"), Wanted("grid_a100-20c")


@pytest.mark.parametrize(
    "gpus, wanted, expected",
    [
        ((gpu(0), gpu(1)), WHOLE, Numbers(0, 2, 2)),
        ((gpu(0, carries=("grid_a100-20c",)), gpu(1)), HALF, Numbers(1, 3, 4)),
        ((gpu(0, carries=("grid_a100-20c",)),), WHOLE, Numbers(0, 0, 1)),
        ((gpu(0, MIXED_SIZE, carries=("grid_a100-20c",)),), Wanted("grid_a100-10c"), Numbers(0, 2, 4)),
        ((gpu(0, MIG),), Wanted("grid_a100-3-20c"), Numbers(0, 2, 2)),
        ((gpu(0, MIG),), WHOLE, Numbers()),
        ((gpu(0, DIRECT, held_by="a"), gpu(1, DIRECT)), Wanted("", "", "20f1"), Numbers(1, 1, 2)),
        ((gpu(0, DIRECT, label="x"), gpu(1, DIRECT)), Wanted("", "", "20f1", "x"), Numbers(0, 1, 1)),
        ((gpu(0, DIRECT),), WHOLE, Numbers()),
    ],
)
def test_the_numbers_of_a_host_follow_from_its_gpus(gpus, wanted, expected):
    assert numbers(host(gpus=gpus), wanted) == expected


def test_a_host_out_of_use_has_nothing_free():
    assert numbers(host(gpus=2, out_of_use="it is in maintenance mode"), WHOLE) == Numbers(0, 0, 2)


def found(ask, *hosts, wanted=(WHOLE,)):
    return check.sparing(ask, scope(*hosts), hosts, wanted)


def test_one_request_per_cluster_is_enough_if_the_numbers_agree():
    ask = telling(domain_c1=Numbers(0, 2, 2))
    (one,) = found(ask, host(1), host(2))
    assert (one.source, one.differs, ask.asked) == ("server", False, [("ClusterComputeResource", "domain-c1")])


def test_the_hosts_are_asked_if_their_cluster_differs():
    ask = telling(domain_c1=Numbers(0, 1, 2), host_1=Numbers(0, 0, 1), host_2=Numbers(0, 1, 1))
    checks = found(ask, host(1), host(2), host(3, out_of_use="it is disconnected"), host(4, gpus=0))
    assert [moid for kind, moid in ask.asked] == ["domain-c1", "host-1", "host-2"]
    assert [one.warning for one in check.disagreements(checks)] == [
        "Capacity for grid_a100-40c on esx-01: vCenter reports 0 free, the model of this collection computes 1."
    ]


def test_a_cluster_that_differs_from_hosts_that_agree_is_reported_itself():
    ask = telling(domain_c1=Numbers(0, 1, 2), host_1=Numbers(0, 1, 1), host_2=Numbers(0, 1, 1))
    assert [one.place.name for one in check.disagreements(found(ask, host(1), host(2)))] == ["gpu"]


def test_the_source_is_who_answered():
    known, unknown = found(telling(domain_c1=Numbers(0, 1, 1)), host(1)), found(telling(), host(1))
    assert (check.source_of(known), check.reasons(known)) == ("server", [])
    assert (check.source_of(unknown), check.reasons(unknown)) == ("model", ["unknown"])
    assert check.source_of([*known, *unknown]) == "mixed"
    assert check.source_of([]) == "model"


def test_a_row_has_both_numbers():
    (one,) = found(telling(domain_c1=Numbers(0, 1, 1)), host(1))
    assert check.row(one) == {
        "place": "gpu",
        "kind": "cluster",
        "device": "grid_a100-40c",
        "source": "server",
        "server_free": 1,
        "model_free": 1,
        "why_model": None,
        "model_maximum": "published",
    }


@pytest.mark.parametrize(
    "one, whole, half",
    [
        (gpu(0, selects=True, graphics="sharedDirect"), Numbers(0, 1, 1), Numbers(0, 2, 2)),
        (gpu(0, DIRECT, selects=True), Numbers(0, 1, 1), Numbers(0, 2, 2)),
        (gpu(0, DIRECT, selects=True, held_by="a"), Numbers(1, 0, 1), Numbers(0, 0, 2)),
        (gpu(0, selects=True, carries=("grid_a100-20c",)), Numbers(0, 0, 1), Numbers(1, 1, 2)),
        (gpu(0, NONE, selects=True, graphics="basic"), Numbers(), Numbers()),
    ],
)
def test_a_free_gpu_whose_mode_the_host_picks_counts_for_both(one, whole, half):
    there = host(gpus=(one,), offered=frozenset({"grid_a100-20c"}))
    assert (numbers(there, Wanted("", "", "20f1")), numbers(there, HALF)) == (whole, half)
