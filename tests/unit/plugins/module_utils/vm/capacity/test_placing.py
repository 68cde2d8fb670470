# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import check, placing
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers, Wanted
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import solve

from unit.plugins.module_utils.vm.placement.worlds import gpu, host, rules, vm, world

from .labs import scope, telling

HALF = Wanted("grid_a100-20c")


def entry(*profiles, gpus=0):
    return {"profiles": list(profiles), "gpus": gpus}


def test_the_devices_of_a_request_are_its_profiles_or_its_whole_gpus():
    there = world(host(gpus=(gpu(0, DIRECT, label="x", vendor_id="10de"), gpu(1))))
    ask = {"vms": [entry("b-1c", "a-1c"), entry("a-1c")], "gpu_label": None}
    assert placing.devices(there, ask) == [Wanted("a-1c"), Wanted("b-1c")]
    ask = {"vms": [entry(gpus=1)], "gpu_label": "x"}
    assert placing.devices(there, ask) == [Wanted("", "10de", "20f1", "x")]
    assert placing.devices(there, {**ask, "gpu_label": "y"}) == []


@pytest.mark.parametrize("reported, planned", [(Numbers(0, 1, 2), ["a"]), (Numbers(0, 2, 2), ["a", "b"])])
def test_a_host_gives_no_more_than_vcenter_reports(reported, planned):
    there = host(1)
    found = check.sparing(telling(domain_c1=reported, host_1=reported), scope(there), [there], [HALF])
    narrow = placing.limited(world(there), [there], found)
    solved = solve(narrow, [vm("a", "20c"), vm("b", "20c")], rules())
    assert sorted(solved.places) == planned


def test_the_devices_of_vms_of_the_request_count_beside_those_that_are_free():
    there = host(1)
    now = replace(there, gpus=tuple(replace(one, carries=("grid_a100-20c",)) for one in there.gpus))
    reported = Numbers(1, 0, 2)
    found = check.sparing(telling(domain_c1=reported, host_1=reported), scope(now), [now], [HALF])
    (narrow,) = placing.limited(world(there), [now], found).hosts
    assert narrow.limits == {"grid_a100-20c": 1}


def test_a_limit_of_one_kind_of_whole_gpus_keeps_those_of_the_others():
    there = host(gpus=(gpu(0, DIRECT, vendor_id="10de"), gpu(1, DIRECT, vendor_id="10de")))
    reported = Numbers(0, 1, 2)
    found = check.sparing(
        telling(domain_c1=reported, host_1=reported), scope(there), [there], [Wanted("", "10de", "20f1")]
    )
    (narrow,) = placing.limited(world(there), [there], found).hosts
    assert narrow.limits == {"": 1}
    solved = solve(world(narrow), [vm("a", gpus=1), vm("b", gpus=1)], rules())
    assert sorted(solved.places) == ["a"]


@pytest.mark.parametrize(
    "profile, maxima, unsure",
    [
        ("grid_a100-20c", (), []),
        ("grid_a100-20q", (), ["grid_a100-20q"]),
        ("grid_a100-20q", (("grid_a100-20q", 2),), []),
    ],
    ids=["published", "unsure", "given"],
)
def test_a_plan_names_the_maxima_that_nobody_publishes(profile, maxima, unsure):
    there = world(host(gpus=(replace(gpu(0), maxima=maxima),)))
    vcenter = SimpleNamespace(content=SimpleNamespace(about=SimpleNamespace(version="8.0.3")))
    ask = {"vms": [entry(profile)], "gpu_label": None}
    _world, _found, result = placing.capacity(vcenter, scope(), there, lambda: there, ask)
    assert (result["source"], result["unsure"]) == ("model", unsure)
    assert ("site.gpu.most_per_gpu" in placing.footer(result)) is bool(unsure)


def test_a_disagreement_says_what_the_plan_does():
    there = host(1)
    reported = Numbers(0, 1, 2)
    found = check.sparing(telling(domain_c1=reported, host_1=reported), scope(there), [there], [HALF])
    assert placing.warnings(found) == [
        "Capacity for grid_a100-20c on esx-01: vCenter reports 1 free, the model of this collection computes 2. "
        "The plan uses the smaller number. gpu_capacity_info shows the GPUs and what blocks them."
    ]


@pytest.mark.parametrize(
    "source, why, text",
    [
        ("server", [], "GPU capacity answered by vCenter.\n"),
        ("model", ["no privilege"], "GPU capacity answered by the model (no privilege).\n"),
        ("mixed", ["a", "b"], "GPU capacity answered by vCenter and the model (a; b).\n"),
    ],
)
def test_the_line_below_the_table_says_who_answered(source, why, text):
    assert placing.footer({"source": source, "why_model": why, "checks": [{}], "unsure": []}) == text
    assert placing.footer({"source": source, "why_model": why, "checks": [], "unsure": []}) == ""
