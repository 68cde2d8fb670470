"""Benchmarks of trainings: the printed figures have to fit to each other, and their spread is worked out anew."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import benchmark

from . import texts

STEADY = [1785.0, 1787.0, 1786.0, 1784.0]
NOISY = [199.0, 248.0, 247.0, 186.0]
CNN = """Model:       resnet101
Batch size:  128 global
             64 per device
Devices:     ['horovod/gpu:0', 'horovod/gpu:1']
40\timages/sec: 154.4 +/- 0.7 (jitter = 4.0)\t8.280
40\timages/sec: 154.2 +/- 0.7 (jitter = 4.1)\t8.482
50\timages/sec: 154.8 +/- 0.6 (jitter = 4.0)\t8.397
50\timages/sec: 154.8 +/- 0.6 (jitter = 4.2)\t8.450
----------------------------------------------------------------
total images/sec: 309.60
"""


@pytest.mark.parametrize(
    "text, total, device, left_out",
    [
        (texts.horovod(STEADY), 3571.0, "GPU", False),
        (texts.tagged(texts.horovod(STEADY)), 3571.0, "GPU", False),
        (texts.horovod([40.0, 41.0], device="CPU"), 81.0, "CPU", False),
        # The Keras variant leaves out the iteration in which it compiles.
        (texts.horovod([448.0, *STEADY], first_left_out=True), 3571.0, "GPU", True),
        (CNN, 309.6, "GPU", False),
    ],
    ids=["horovod", "prefix", "CPU words", "keras", "tf_cnn"],
)
def test_totals_are_read_with_their_device(text, total, device, left_out):
    found = benchmark.parse(text)
    assert (found["why"], found["device"], found["first_left_out"]) == ("", device, left_out)
    assert found["total"] == pytest.approx(total, abs=0.1)


@pytest.mark.parametrize("rates, share", [(STEADY, 0.0012), (NOISY, 0.25)])
def test_how_far_iterations_lie_apart(rates, share):
    found = benchmark.parse(texts.horovod(rates))
    assert found["dispersion"]["half_share"] == pytest.approx(share, rel=0.1)
    assert found["per_device_half"] == pytest.approx(found["dispersion"]["half"], abs=0.06)


def test_lines_of_all_ranks_are_one_step():
    found = benchmark.parse(CNN)
    assert (found["iterations"], found["devices"], found["model"]) == ([308.6, 309.6], 2, "resnet101")
    assert found["batch"] == 64


def test_devices_of_one_process_are_those_that_it_names():
    """Without Horovod one process has all GPUs, and its lines are of all of them."""
    text = """Devices:     ['/gpu:0', '/gpu:1']
40\timages/sec: 308.4 +/- 0.7 (jitter = 4.0)\t8.280
total images/sec: 309.60
"""
    found = benchmark.parse(text)
    assert (found["devices"], found["per_device"], found["iterations"]) == (2, 154.8, [308.4])


def test_the_way_of_nccl_is_told_where_the_log_says_it():
    assert (
        benchmark.parse("job-01:1:1 [0] NCCL INFO Using network Socket\n" + texts.horovod(STEADY))["transport"] == "tcp"
    )


def test_a_network_that_nobody_knows_is_not_taken_for_tcp():
    text = "job-01:1:1 [0] NCCL INFO Using network AWS Libfabric\n" + texts.horovod(STEADY)
    assert (benchmark.parse(text)["why"], benchmark.parse(text)["transport"]) == ("", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        texts.horovod(STEADY).split("Img/sec")[0],
        texts.horovod(STEADY).replace("Total img/sec on 2", "Total img/sec on 3"),
        texts.horovod(STEADY).replace("Iter #1: 1787.0", "Iter #1: 1187.0"),
    ],
    ids=["empty", "foreign", "killed", "another number of devices", "a mean of others"],
)
def test_figures_that_do_not_fit_to_each_other_are_none(text):
    found = benchmark.parse(text)
    assert found["understood"] is False
    assert "total" not in found


def test_a_training_that_died_is_no_rate():
    found = benchmark.parse("Model: resnet50\nRuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n")
    assert (found["error"]["code"], "total" in found) == ("gpu_memory", False)


def test_a_total_without_the_rate_of_each_device_is_not_understood():
    text = "\n".join(line for line in texts.horovod(STEADY).splitlines() if "per" not in line)
    assert text != texts.horovod(STEADY).rstrip("\n")
    found = benchmark.parse(text)
    assert (found["understood"], "the rate of each device is missing" in found["why"]) == (False, True)
