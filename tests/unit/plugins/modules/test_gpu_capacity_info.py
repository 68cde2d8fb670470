# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import blocked, params, report
from ansible_collections.aiready.vsphere.plugins.modules import gpu_capacity_info as module

from unit.plugins.module_utils.vm.capacity.labs import capacity, requested
from unit.plugins.module_utils.vm.placement.worlds import gpu, host
from unit.plugins.modules import described


@pytest.mark.parametrize(
    "task, problem",
    [
        ({"modes": []}, "modes is empty; list at least one mode, or remove the option."),
        ({"memory_gb": 0}, "memory_gb is 0; it must be at least 1."),
        ({"host_overhead_gb": -1}, "host_overhead_gb is -1; it cannot be negative."),
        (
            {"profiles": ["a100"]},
            "profiles has 'a100', which is not the name of a vGPU profile, such as grid_a100-40c.",
        ),
        (
            {"profiles": ["grid_a100-1-5c"], "modes": ["time_sliced"]},
            "grid_a100-1-5c is MIG-backed, and modes has no mig; add it to modes.",
        ),
        (
            {"profiles": ["grid_a100-40c"], "modes": ["mig"]},
            "grid_a100-40c is time-sliced, and modes has no time_sliced; add it to modes.",
        ),
        (
            {"kueue": {"label": "a b"}},
            "kueue.label is 'a b'; use a name in the form of Kubernetes, such as example.com/gpu.",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_before_vcenter_is_asked(task, problem):
    assert params.check_params(described.checked({**described.LOGIN, **task}, params.ARGUMENTS)) == [problem]


def test_the_answer_has_the_documented_keys():
    hosts = [host(1, gpus=(gpu(carries=("grid_a100-20c",)),)), host(2, out_of_use="it is disconnected")]
    said = report.result(capacity(*hosts), hosts, requested())
    contains = yaml.safe_load(module.RETURN)["capacity"]["contains"]
    assert set(said) == set(contains)
    for row in said["hosts"]:
        assert set(row) == set(contains["hosts"]["contains"])
    for row in said["clusters"]:
        assert set(row) == set(contains["hosts"]["contains"]) - {"host", "moid"}
    assert set(said["kueue"]) == set(contains["kueue"]["contains"])
    sample = yaml.safe_load(module.RETURN)["capacity"]["sample"]
    assert set(sample["hosts"][0]) == set(said["hosts"][0])
    assert set(sample["hosts"][0]["blocked"][0]) == {
        key for row in said["hosts"] for one in row["blocked"] for key in one
    }
    json.dumps(said)


def test_the_documentation_names_every_cause():
    contains = yaml.safe_load(module.RETURN)["capacity"]["contains"]["hosts"]["contains"]
    words = " ".join(contains["blocked"]["description"])
    assert [cause for cause in blocked.FIXES if f"V({cause})" not in words] == []
