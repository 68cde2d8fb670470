# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity import export, report
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.model import Numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.capacity.table import WIDTH, table
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import DIRECT, MIG, NONE

from unit.plugins.module_utils.vm.placement.worlds import gpu, host

from .labs import capacity, requested, telling

USED = ("grid_a100-20c",)


def devices(lines):
    return [line.device for line in lines]


def test_the_rows_are_the_profiles_that_a_host_of_the_request_offers_and_whole_gpus():
    found = capacity(host(1, gpus=(gpu(0, MIG),)), host(2))
    first = [line for line in found.hosts if line.host == "esx-01"]
    assert devices(first)[:2] == ["grid_a100-40c", "grid_a100-20c"]
    assert devices(first)[-1] == "passthrough"
    assert "grid_a100-7-40c" in devices(first)


def test_a_board_without_driver_has_the_row_of_its_whole_gpu():
    bare = host(gpus=(gpu(0, NONE, graphics="basic"),), offered=frozenset())
    (line, direct) = capacity(bare).hosts
    assert (line.device, [block.cause for block in line.blocks]) == ("grid_a100-40c", ["driver_missing"])
    assert (direct.device, [block.cause for block in direct.blocks]) == ("passthrough", ["not_in_passthrough"])


@pytest.mark.parametrize(
    "task, expected",
    [
        ({"modes": ["passthrough"]}, ["passthrough"]),
        ({"profiles": ["grid_a100-20c"]}, ["grid_a100-20c"]),
        ({"profiles": ["nvidia_l40s-48c"]}, []),
        ({"modes": ["passthrough"], "gpu_label": "none"}, []),
    ],
)
def test_the_request_narrows_the_rows(task, expected):
    assert devices(capacity(host(), **task).hosts) == expected


def test_a_cluster_sums_up_the_causes_and_what_fits_with_the_memory():
    hosts = host(1, gpus=2, memory_gb=100), host(2, gpus=(gpu(carries=USED),), memory_gb=100)
    found = capacity(*hosts, profiles=["grid_a100-40c"], memory_gb=64)
    (line,) = found.clusters
    assert [(block.cause, block.lost) for block in line.blocks] == [("other_size", 1), ("memory", 1)]
    assert (line.fits, line.check.numbers) == (1, Numbers(0, 2, 3))


def test_the_numbers_of_vcenter_stand_where_it_has_them():
    ask = telling(host_1=Numbers(0, 0, 1, 2), domain_c1=Numbers(0, 0, 1, 2))
    found = capacity(host(), ask=ask, profiles=["grid_a100-40c"])
    row = report.row(found.hosts[0])
    assert (row["free"], row["reserved"], row["source"]) == (0, 2, "server")
    assert (row["server_free"], row["model_free"], row["why_model"]) == (0, 1, None)
    (said,) = report.warnings(found)
    assert said.startswith("Capacity for grid_a100-40c on esx-01: vCenter reports 0 free")


def test_the_table_fits_the_screen_and_leaves_out_what_no_host_has():
    hosts = [host(1, gpus=(gpu(0, MIG), gpu(1))), host(2, gpus=(gpu(carries=USED),))]
    hosts += [replace(host(3), name="esx-03.with.a.very.long.name.example.com", out_of_use="it is disconnected")]
    text = table(capacity(*hosts))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "passthrough" not in text
    assert "host out of use 1 (it is" in " ".join(text.split())


def flavors(found, **task):
    groups = export.kueue(found, requested(**task))["resource_groups"]
    return {one["name"]: one["resources"][0]["nominalQuota"] for group in groups for one in group["flavors"]}


def test_kueue_gets_each_gpu_once():
    """The largest profile of a board, mode and cluster: the others share its GPUs."""
    found = capacity(host(1, gpus=(gpu(0), gpu(1, MIG), gpu(2, DIRECT))), host(2))
    assert flavors(found) == {"grid-a100-40c": 2, "grid-a100-7-40c": 1, "nvidia-a100-pcie-40gb-passthrough": 1}


def test_kueue_gets_what_is_in_use_unless_others_use_it():
    found = capacity(host(1, gpus=(gpu(carries=USED),)), profiles=["grid_a100-20c"])
    task = {"profiles": ["grid_a100-20c"]}
    assert flavors(found, **task) == {"grid-a100-20c": 2}
    assert flavors(found, **task, kueue={"quota": "free"}) == {"grid-a100-20c": 1}


def test_flavors_carry_the_cluster_if_there_are_several():
    hosts = host(1), replace(host(2), cluster="other")
    found = capacity(*hosts, profiles=["grid_a100-40c"])
    lines = [replace(found.clusters[0], cluster=name) for name in ("gpu", "other")]
    assert flavors(replace(found, clusters=tuple(lines)), profiles=["grid_a100-40c"]) == {
        "gpu-grid-a100-40c": 2,
        "other-grid-a100-40c": 2,
    }


def test_the_objects_of_kueue_have_the_form_of_its_api():
    found = capacity(host(), profiles=["grid_a100-40c"])
    named = {"label": "example.com/gpu", "resource": "example.com/vgpu"}
    assert export.kueue(found, requested(profiles=["grid_a100-40c"], kueue=named)) == {
        "resource_flavors": [
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "ResourceFlavor",
                "metadata": {"name": "grid-a100-40c"},
                "spec": {"nodeLabels": {"example.com/gpu": "grid-a100-40c"}},
            }
        ],
        "resource_groups": [
            {
                "coveredResources": ["example.com/vgpu"],
                "flavors": [{"name": "grid-a100-40c", "resources": [{"name": "example.com/vgpu", "nominalQuota": 1}]}],
            }
        ],
    }
    assert export.kueue(capacity(host(gpus=0)), requested()) == {"resource_flavors": [], "resource_groups": []}


def test_metrics_are_flat_and_have_the_text_of_prometheus():
    found = capacity(host(gpus=(gpu(carries=USED),)), profiles=["grid_a100-40c"])
    entries = export.metrics(found)
    assert {(one["name"], one["cause"]): one["value"] for one in entries} == {
        ("aiready_gpu_capacity_fits", ""): 0,
        ("aiready_gpu_capacity_free", ""): 0,
        ("aiready_gpu_capacity_in_use", ""): 0,
        ("aiready_gpu_capacity_max", ""): 1,
        ("aiready_gpu_capacity_blocked", "other_size"): 1,
    }
    labels = (
        'cluster="gpu",host="esx-01",board="NVIDIA A100-PCIE-40GB",mode="time_sliced",profile="grid_a100-40c",'
        'source="model"'
    )
    text = export.prometheus(entries)
    assert f"aiready_gpu_capacity_max{{{labels}}} 1\n" in text
    assert f'aiready_gpu_capacity_blocked{{cause="other_size",{labels}}} 1\n' in text
    assert text.count("# TYPE ") == 5


def test_labels_of_prometheus_are_escaped():
    (line,) = capacity(host(), profiles=["grid_a100-40c"]).hosts
    text = export.prometheus(export.metrics(report.Capacity((replace(line, host='a"b\\c'),), ())))
    assert 'host="a\\"b\\\\c"' in text
