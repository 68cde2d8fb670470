"""The commands of launchers and containers, whole."""

from __future__ import annotations

import io
import shlex
import tarfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import files, launch
from ansible_collections.aiready.vsphere.plugins.plugin_utils import training_keys, training_steps

from .runs import IMAGE, guests, planned, rdma

MPIRUN = (
    "mpirun --allow-run-as-root --tag-output -np 3 -H job-01:2,job-02:1 --bind-to none --map-by slot --mca pml ob1 "
    "--mca btl ^openib --mca btl_vader_single_copy_mechanism none --mca btl_tcp_if_include ens224 "
    "--mca oob_tcp_if_include ens224"
)
HOSTS = [{"name": "job-01", "address": "10.0.112.11", "slots": 2}, {"name": "job-02", "address": "10.0.112.12"}]


def commands(**changes):
    return [" ".join(start.argv) for start in planned(**changes).launches]


def test_mpirun_is_told_hosts_transport_and_variables():
    (command,) = commands(hosts=HOSTS)
    assert command.startswith(MPIRUN)
    assert command.endswith("python3 /aiready/trainings/small.py --engine horovod")
    assert " -x NCCL_SOCKET_IFNAME " in command


def test_horovodrun_is_told_the_interface_so_that_it_does_not_look_for_one():
    (command,) = commands(launcher="horovodrun", controller="gloo", arguments=["--iterations", "3"])
    assert command == (
        "horovodrun --gloo -np 2 -H job-01:1,job-02:1 --start-timeout 120 --disable-cache --network-interfaces ens224 "
        "python3 /aiready/trainings/small.py --engine horovod --iterations 3"
    )


def test_horovodrun_with_mpi_hands_on_what_it_does_not_set_itself():
    made = planned(launcher="horovodrun")
    given = "--mpi-args=--mca btl_vader_single_copy_mechanism none --mca oob_tcp_if_include ens224"
    assert given in made.launches[0].argv


def test_elastic_runs_find_their_hosts_by_a_script():
    (command,) = commands(
        launcher="horovodrun", controller="gloo", builtin=None, command=["python3", "x.py"], elastic={"min_ranks": 1}
    )
    assert "--min-np 1 --host-discovery-script /aiready/discover" in command
    assert " -H " not in command


def test_torchrun_starts_on_every_guest_with_the_number_of_its_node():
    first, second = planned(engine="torchrun", hosts=HOSTS).launches
    assert "--node_rank 0 --master_addr 10.0.112.11" in " ".join(first.argv)
    assert "--nproc_per_node 1 --node_rank 1 --master_addr 10.0.112.11" in " ".join(second.argv)
    assert (first.first_rank, second.first_rank) == (0, 2)


@pytest.mark.parametrize(
    "command, end",
    [
        (["python3", "/data/x.py"], "--log_dir /tmp/torchrun /data/x.py"),
        (["python3", "-m", "x"], "--no-python python3 -m x"),
        (["/data/x"], "--no-python /data/x"),
    ],
)
def test_torchrun_calls_python_itself(command, end):
    assert commands(engine="torchrun", builtin=None, command=command)[0].endswith(end)


def test_ranks_fill_the_slots_in_the_order_of_hosts():
    assert launch.hosts_of_ranks(planned(hosts=HOSTS).places) == ["job-01", "job-01", "job-02"]


@pytest.mark.parametrize(
    "changes, there, missing",
    [
        ({}, ["memlock=-1", "host"], ["IPC_LOCK", "--gpus", "--privileged", "--device=/dev/infiniband"]),
        ({"memlock": "ignore"}, [], ["memlock=-1"]),
        ({"data_path": "pvrdma"}, ["IPC_LOCK", "--device=/dev/infiniband"], ["--gpus"]),
        ({"gpus": "all"}, ["--gpus", "SYS_NICE"], ["IPC_LOCK"]),
        ({"gpus": "all", "container_engine": "podman"}, ["nvidia.com/gpu=all"], ["--gpus"]),
        ({"mounts": [{"source": "/srv", "target": "/data"}]}, ["/srv:/data:ro"], []),
        ({"mounts": [{"source": "/srv", "target": "/data", "writable": True}]}, ["/srv:/data"], []),
    ],
)
def test_containers_get_what_the_run_needs_and_no_more(changes, there, missing):
    argv = planned(guests(2, rdma, gpus=4), **changes).containers["job-02"]
    assert set(there) <= set(argv)
    assert set(missing) & set(argv) == set()
    assert "--add-host=job-01:10.0.112.11" in argv


def made_files(argv=("mpirun",), image=None):
    made = planned(environment={"DEPTH": "a b"})
    keys = training_keys.make([place.node for place in made.places])
    clean = files.clean_environment(IMAGE if image is None else image, made.settings)
    return keys, files.files(made.places[1], made.places, clean, argv, keys, 12345, 60, {"small.py": "x"})


def test_commands_that_arrive_by_ssh_have_the_same_clean_environment_as_the_launcher():
    _keys, made = made_files()
    inside = "PATH=/aiready/bin:/opt/mpi/bin:/usr/bin"
    for name in ("session", "run"):
        words = shlex.split(made[name][1].splitlines()[-1])
        assert words[:3] == ["exec", "env", "-i"]
        assert {inside, "DEPTH=a b", "HOME=/root"} <= set(words)


def test_secrets_of_the_image_reach_no_rank():
    image = {"environment": {"HF_TOKEN": "canary", "CUDA_VERSION": "12"}}
    _keys, made = made_files(image=image)
    assert "canary" not in str(made)
    assert "CUDA_VERSION=12" in made["run"][1]
    assert files.not_taken(image) == ["HF_TOKEN"]


def test_each_guest_has_its_own_host_key_and_knows_all_others():
    keys, made = made_files()
    assert made["host_key"] == (0o600, keys.host_private["job-02"])
    assert made["known_hosts"][1].split()[0::3] == ["job-01", "job-02"]
    assert "StrictHostKeyChecking=yes" in made["bin/ssh"][1]
    assert keys.host_private["job-01"] not in str(made)
    assert "PRIVATE" not in repr(keys)


def test_files_of_a_run_belong_to_root_with_their_modes():

    _keys, made = made_files()
    with tarfile.open(fileobj=io.BytesIO(training_steps.archive(made))) as tar:
        found = {entry.name: (entry.mode, entry.uid) for entry in tar}
    assert found["key"] == (0o600, 0)
    assert found["worker"] == (0o755, 0)
    assert found["trainings"] == (0o755, 0)
