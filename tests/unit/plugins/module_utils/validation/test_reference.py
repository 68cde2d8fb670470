# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Reference figures: which published figure a run is compared with, and why with none."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import reference
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.results import verdict

from unit import approved

from .world import World, row_of

H100 = "NVIDIA H100 80GB HBM3"
TRAINING, NCCL = "cluster.training 2:rdma", "cluster.nccl rdma"


def lab(gpu=H100, count=2, each=1, **more):
    """Guests with real GPUs of one name that trained ResNet-50 with the image of the table."""
    made = World(count, "sriov")
    for host in made.topology["hosts"]:
        host["gpus"] = [{"name": gpu, "mig": "", "vgpus": [], "vm": host["vms"][0], **more}] * each
    image = {"name": reference.TENSORFLOW}
    made.set("cluster.training", model="ResNet50", batch=128, devices=count * each, image=image)
    return made


def of(made, row, **more):
    return next(one for one in made.judged(**more)["references"] if one["row"] == row)


def busbw(made, value, ranks, devices=1, nodes=2):
    seen = [{"host": guest, "device": f"mlx5_{index}"} for guest in made.guests for index in range(devices)]
    made.set("cluster.nccl", busbw=value, ranks_by_factor=ranks, devices=seen, nodes=nodes)
    return made


def test_a_training_has_the_figure_of_the_same_gpu_image_and_layout():
    one = of(lab(), TRAINING)
    assert (one["expected"], one["percent"], one["mark"], one["why"]) == (2951.6, 100.3, "sure", "")
    assert one["source"].startswith("1476 for each of 2 GPUs; 2 machines with 1 GPU each: NCHC")


def test_a_training_of_another_size_has_the_figure_of_each_gpu_of_the_closest_row():
    made = lab(count=4)
    made.set("cluster.training", subject=made.guests[0], devices=2)
    assert of(made, "cluster.training 4:rdma")["expected"] == 4 * 1488.1
    assert of(made, f"cluster.training {made.guests[0]} (1:rdma)")["expected"] == 2 * 1488.1


@pytest.mark.parametrize(
    "made, values, why",
    [
        (lab("NVIDIA L40S"), {}, "the table has no row for NVIDIA L40S"),
        (lab("NVIDIA GB200"), {}, "the table has no row for NVIDIA GB200"),
        (lab("NVIDIA H100 PCIe"), {}, "the table has no row for NVIDIA H100 PCIe"),
        (lab(mig="MIG 1g.10gb"), {}, f"the table has no row for {H100}"),
        (lab("A100 HGX/SXM4 80GB", vgpus=["grid_a100dx-10c"]), {}, "the table has no row for grid_a100dx-10c"),
        (lab("A100 HGX/SXM4 80GB", vgpus=["grid_a100dx-80c"]), {}, "the table has no training on A100"),
        (World(2, "sriov"), {}, "the GPUs of the guests are unknown"),
        (lab(), {"model": "vgg16"}, "the table has no H100 with model vgg16 and batch 128"),
        (lab(), {"batch": None}, "the table has no H100 with model resnet50"),
        (lab(), {"image": {"name": "x/horovod:1"}}, f"the table has H100 with another image, {reference.TENSORFLOW}"),
        (lab(), {"image": None}, f"the table has H100 with another image, {reference.TENSORFLOW}"),
        (lab(), {"device": "CPU", "transport": None}, "the ranks have no GPUs"),
    ],
)
def test_a_training_that_cannot_be_compared_has_no_reference(made, values, why):
    made.set("cluster.training", **values)
    one = of(made, "cluster.training 2:tcp")
    assert (one["expected"], one["percent"], one["source"], one["why"]) == (None, None, "", why)


def test_guests_with_different_gpus_have_no_common_reference():
    made = lab()
    made.topology["hosts"][0]["gpus"][0] = {"name": "Tesla V100-SXM2-32GB", "mig": "", "vgpus": [], "vm": "job-01"}
    one = of(made, TRAINING)
    assert (one["expected"], one["why"]) == (None, f"the table has no row for {H100}, Tesla V100-SXM2-32GB")


def test_a_copy_of_the_image_in_another_registry_is_the_same_image():
    made = lab()
    made.set("cluster.training", image={"name": "images.example.com/ngc/tensorflow:24.05-tf2-py3"})
    assert of(made, TRAINING)["expected"] == 2951.6


def test_a_figure_without_a_stated_image_has_its_mark():
    made = lab("Tesla V100-SXM2-32GB", each=4)
    made.set("cluster.training", image={"name": "x/horovod:1"}, batch=64)
    one = of(made, TRAINING)
    assert (one["expected"], one["mark"]) == (2047.92, "unsure: the source does not state the image")


def test_a_simulated_figure_has_no_reference():
    made = lab()
    for one in made.measurements():
        one["simulated"] = True
    one = of(made, TRAINING)
    assert (one["expected"], one["simulated"], one["why"]) == (None, True, "the figure depends on simulated parts")


@pytest.mark.parametrize(
    "gpu, devices, ranks, expected, why",
    [
        ("Tesla V100-SXM2-32GB", 2, 16, 22.9, ""),
        ("NVIDIA A100-SXM4-80GB", 16, 16, 185.0, ""),
        ("Tesla V100-SXM2-32GB", 1, 16, None, "each guest has 100 Gb/s, that of the table 200 Gb/s"),
        ("Tesla V100-SXM2-32GB", 0, 16, None, "each guest has an unknown speed"),
        ("Tesla V100-SXM2-32GB", 2, 2, None, "the table has no V100 with 2 ranks on 2 guests"),
        (H100, 16, 16, None, "the source does not state the network of its H100 machines"),
    ],
)
def test_a_bandwidth_between_machines_needs_the_same_network(gpu, devices, ranks, expected, why):
    one = of(busbw(lab(gpu, each=8), 20.0, ranks, devices), NCCL)
    assert one["expected"] == expected
    assert why in one["why"]


def test_a_bandwidth_within_a_machine_needs_no_network():
    made = lab(count=1, each=8)
    one = of(busbw(made, 470.0, 8, 0, nodes=1), NCCL)
    assert (one["expected"], one["percent"]) == (460.0, 102.2)


@pytest.mark.parametrize(
    "given, expected, why",
    [
        ({"cluster.training": {"reference": 3000}}, 3000, ""),
        ({"cluster.training": {"reference": 1}, "cluster.training:2:rdma": {"reference": 2000}}, 2000, ""),
        ({"cluster.training": {"reference": None}}, None, "the site sets none"),
        ({"cluster.training": {"low": 1}}, 2951.6, ""),
        ({"cluster.training": None}, 2951.6, ""),
    ],
)
def test_the_reference_of_a_site_replaces_that_of_the_table(given, expected, why):
    one = of(lab(), TRAINING, thresholds=given)
    assert (one["expected"], one["why"]) == (expected, why)


def test_a_reference_changes_no_row():
    made = lab()
    usual, given = made.judged(), made.judged(thresholds={"cluster.training": {"reference": 10**6}})
    assert usual["rows"] == given["rows"]
    assert row_of(given, TRAINING)["verdict"] == "pass"


def test_a_check_that_was_not_measured_is_not_compared():
    made = lab()
    made.drop("cluster.nccl")
    assert {one["check"] for one in made.judged()["references"]} == {"cluster.training"}


def test_the_references_of_a_run_as_approved():
    approved.check(__file__, "H100", {one["row"]: one for one in lab().judged()["references"]})


def test_the_screen_has_each_figure_with_a_reference_and_one_line_for_the_rest():
    reported = {"verdict": {"state": "pass", "sentence": "All passed."}, "references": lab().judged()["references"]}
    lines = verdict({"validation": reported}, "fail", "results")["lines"]
    assert [line.partition(":")[0] for line in lines] == [
        *("All passed.", "cluster.training job-01 (1", "cluster.training job-02 (1", "cluster.training 2"),
        *("cluster.training 2", "No reference", "Results"),
    ]
    assert "cluster.training 2:rdma: 2960 img/s, 100.3 % of the reference 2952 img/s (1476 for each of" in "\n".join(
        lines
    )
    assert lines[-2].startswith("No reference: cluster.nccl rdma. Reason: the table has no H100 with 2 ranks")
