"""Who failed first, and what is known of the error."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import trouble

from .samples import progress, read


@pytest.mark.parametrize(
    "sample, expected",
    [
        ("mpirun_signal", trouble.First(1, "job-02", None, 9)),
        ("mpirun_status", trouble.First(1, None, 1)),
        ("gloo_failed", trouble.First(1, None, 1)),
        ("torchrun_failed", trouble.First(3, None, 1)),
        ("torch_benchmark", trouble.First()),
    ],
)
def test_the_rank_that_failed_first_is_found(sample, expected):
    assert trouble.first_failure(progress(read(sample)).last_lines()) == expected


@pytest.mark.parametrize(
    "said, expected",
    [
        ("   Process name: [prterun-job-01-14660@1,1]\n   Exit code:    3", trouble.First(1, None, 3)),
        (
            "prterun noticed that process rank 1 with PID 147 on node job-02 exited on\nsignal 9 (Killed).",
            trouble.First(1, "job-02", None, 9),
        ),
        (
            'prterun has exited due to process rank 1 with PID 147 on node job-02 calling\n"abort". This may',
            trouble.First(None, "job-02"),
        ),
        (
            "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Proc: [[40434,1],1]\n  Errorcode: 7\n"
            "prterun has exited due to process rank 1 with PID 147 on node job-02 calling",
            trouble.First(1, "job-02", 7),
        ),
        (
            "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 7.",
            trouble.First(1, None, 7),
        ),
    ],
    ids=["status", "signal", "left", "abort", "abort of 4"],
)
def test_the_launcher_of_open_mpi_is_understood_in_other_words_as_well(said, expected):
    assert trouble.first_failure(said.splitlines()) == expected


def test_a_rank_that_says_itself_that_it_failed_was_first():
    events = [{"rank": 1, "host": "job-02", "reason": "no memory"}, {"rank": 0, "host": "job-01"}]
    assert trouble.first_failure([], events).rank == 1


@pytest.mark.parametrize("name", ["[[1,0],{}]", "[prterun-job-01-34@0,{}]"], ids=["Open MPI 4", "Open MPI 5"])
def test_a_guest_that_mpirun_lost_is_named(name):
    lines = [
        f"  HNP daemon   : {name.format(0)} on node job-01",
        f"  Remote daemon: {name.format(1)} on node job-02",
    ]
    assert trouble.first_failure(lines).node == "job-02"


def test_the_guest_whose_node_of_ray_did_not_join_is_named():
    line = "Ray has 1 of 3 nodes after 120 seconds. {} did not join."
    assert trouble.first_failure([line.format("10.0.112.12")]) == trouble.First(None, "10.0.112.12")
    assert trouble.first_failure([line.format("10.0.112.12, 10.0.112.13")]).node == "10.0.112.12"
    assert trouble.known_error([line.format("10.0.112.12")]).code == "ray_nodes_missing"


@pytest.mark.parametrize(
    "line, code",
    [
        ("job-01:1:1 [0] ibv_modify_qp failed with error Invalid argument", "wrong_gid"),
        ("NCCL WARN Call to ibv_modify_qp failed with 61 No data available, on dev mlx5_0:1", "wrong_gid"),
        ("NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1", "wrong_gid"),
        # It is tried again, and only the last time is an error.
        (
            "NCCL INFO Call to ibv_modify_qp failed with 22 Invalid argument, on dev x, retrying 1/7 after 100 msec",
            None,
        ),
        ("NET/IB : Got completion from peer with status=12 opcode=0 len=0 vendor err 129", "rdma_path"),
        ("NET/IB : Got completion with error 4, opcode 1, len 0, vendor err 81", "rdma_protection"),
        ("NET/IB: Got completion with status=IBV_WC_LOC_PROT_ERR(4) opcode=IBV_WC_SEND(0)", "rdma_protection"),
        ("ibv_reg_mr_iova2 failed with error Cannot allocate memory", "memlock"),
        ("OSError: [Errno 28] No space left on device", "no_space"),
        ("RuntimeError: CUDA out of memory. Tried to allocate 20 MiB", "gpu_memory"),
        ("[job-01:77] Read -1, expected 5120, errno = 1", "memory_of_neighbour"),
        ("ModuleNotFoundError: No module named 'horovod'", "module_missing"),
        ("timeout: failed to run command 'mpirun': No such file or directory", "command_missing"),
        ("ssh: connect to host 10.0.112.12 port 12345: Connection timed out", "ssh_refused"),
        ("ORTE has lost communication with a remote daemon.", "connection_lost"),
        ("PRTE has lost communication with a remote daemon.", "connection_lost"),
        ("prterun was unable to launch the specified application as it could not", "command_missing"),
        ("No network interfaces were found for out-of-band communications. We require", "no_common_interface"),
        ("init.cc:904 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60", "same_gpu"),
        ("Rank 1 is number 2 on job-01, where PyTorch sees 1 GPU(s).", "same_gpu"),
        ("Missing ranks: 1", "horovod_stalled"),
        ("Call to ibv_set_ece failed with error Operation not supported errno 95", None),
        ("NCCL INFO NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'", None),
        ("Iter #0: 12.0 img/sec per GPU", None),
    ],
)
def test_errors_that_others_had_are_known(line, code):
    found = trouble.known_error([line])
    assert (found.code if found is not None else None) == code


def test_unified_memory_that_is_off_is_known():
    assert trouble.known_error(read("uvm_off").splitlines()).code == "uvm_off"


def test_a_cause_goes_before_what_follows_from_it():
    lines = ["Connection reset by peer", "No space left on device"]
    assert trouble.known_error(lines).code == "no_space"


def test_every_known_error_says_what_it_means_and_what_to_do():
    assert len({known.code for known in trouble.KNOWN}) == len(trouble.KNOWN)
    assert all(known.means[0].isupper() and known.todo[0].isupper() for known in trouble.KNOWN)
