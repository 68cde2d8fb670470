"""The commands of launchers and containers, whole."""

from __future__ import annotations

import io
import shlex
import subprocess
import tarfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.training import files, launch, ray, scripts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import keys as training_keys
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import steps

from .runs import IMAGE, guests, planned, rdma

MPIRUN = (
    "mpirun --allow-run-as-root --tag-output -np 3 -H job-01:2,job-02:1 --bind-to none --map-by slot --mca pml ob1 "
    "--mca btl ^openib --mca btl_vader_single_copy_mechanism none --mca btl_tcp_if_include ens224 "
    "--mca oob_tcp_if_include ens224"
)
HOSTS = [{"name": "job-01", "address": "10.0.112.11", "slots": 2}, {"name": "job-02", "address": "10.0.112.12"}]


def commands(**changes):
    return [" ".join(start.argv) for start in planned(**changes).launches]


def test_mpirun_is_reported_hosts_transport_and_variables():
    (command,) = commands(hosts=HOSTS)
    assert command.startswith(MPIRUN)
    assert command.endswith("python3 /aiready/trainings/small.py --engine horovod")
    assert " -x NCCL_SOCKET_IFNAME " in command


def test_horovodrun_gets_the_interface_so_that_it_does_not_look_for_one():
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
    assert f"--min-np 1 --host-discovery-script {launch.DISCOVER}" in command
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
        (["python3", "-m", "x"], "--no_python python3 -m x"),
        (["/data/x"], "--no_python /data/x"),
    ],
)
def test_torchrun_calls_python_itself(command, end):
    assert commands(engine="torchrun", builtin=None, command=command)[0].endswith(end)


def test_deepspeed_always_has_a_hostfile_that_is_checked_on_the_guest(tmp_path):
    made = planned(engine="deepspeed", hosts=HOSTS)
    for start in made.launches:
        given = files.files(start.place, made.places, {}, start.argv, None, 22, 60, {})
        assert given["hostfile"] == (files.PLAIN, "job-01 slots=2\njob-02 slots=1\n")
    hostfile, argv = tmp_path / "hostfile", made.launches[0].argv
    command = [*argv[:4], str(hostfile), "echo", *argv[6:8]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, f"deepspeed: Unable to find hostfile {hostfile}\n")
    hostfile.write_text("job-01 slots=2\n")
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"--hostfile {launch.HOSTFILE}\n")


def test_ray_has_fixed_ports_and_one_job_on_the_head():
    first, second = planned(engine="ray", hosts=HOSTS).launches
    head, worker = (start.argv[start.argv.index("--start") + 1] for start in (first, second))
    assert "--head --port 6379" in head
    assert "--address 10.0.112.11:6379 --node-ip-address 10.0.112.12" in worker
    for option, port in ray.NODE_PORTS:
        assert f"{option} {port} " in head
        assert f"{option} {port} " in worker
    assert first.argv[2:7] == ("head", "--nodes", "10.0.112.11,10.0.112.12", "--wait", "120")
    assert second.argv[2:7] == ("worker", "--head-node", "10.0.112.11:8077", "--wait", "120")
    assert ("job" in first.argv, "job" in second.argv) == (True, False)


@pytest.mark.parametrize(
    "size, store", [("1g", 858993459), ("512m", 429496729), ("1048576k", 858993459), ("half", None)]
)
def test_the_object_store_of_ray_fits_in_the_shared_memory(size, store):
    assert ray.store_bytes(size) == store
    assert ("--object-store-memory" in " ".join(commands(engine="ray", shm_size=size))) == (store is not None)


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


@pytest.mark.parametrize("engine", ["docker", "podman"])
@pytest.mark.parametrize(
    "changes, more",
    [
        ({}, []),
        ({"data_path": "pvrdma"}, ["IPC_LOCK"]),
        ({"gpus": "all"}, ["SYS_NICE"]),
        ({"data_path": "sriov", "gpus": "all"}, ["IPC_LOCK", "SYS_NICE"]),
    ],
)
def test_a_container_has_no_capability_that_its_run_does_not_need(engine, changes, more):
    argv = planned(guests(2, rdma, gpus=4), container_engine=engine, **changes).containers["job-02"]
    pairs = list(zip(argv, argv[1:], strict=False))
    assert ("--cap-drop", "ALL") in pairs
    assert ("--security-opt", "no-new-privileges") in pairs
    given = [after for word, after in pairs if word == "--cap-add"]
    needed = ["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYS_CHROOT"]
    assert given == [*needed, *more]
    assert "--privileged" not in argv


def made_files(argv=("mpirun",), image=None):
    made = planned(environment={"DEPTH": "a b"})
    keys = training_keys.make([place.node for place in made.places])
    clean = files.clean_environment(IMAGE if image is None else image, made.settings)
    return keys, files.files(made.places[1], made.places, clean, argv, keys, 12345, 60, {"small.py": "x"})


def test_commands_that_arrive_by_ssh_have_the_same_clean_environment_as_the_launcher():
    _keys, made = made_files()
    inside = f"PATH={launch.PROGRAMS}/bin:/opt/mpi/bin:/usr/bin"
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
    assert "StrictHostKeyChecking=yes" in made["programs/bin/ssh"][1]
    assert keys.host_private["job-01"] not in str(made)
    assert "PRIVATE" not in repr(keys)


@pytest.mark.parametrize(
    "argv, programs",
    [(("mpirun",), ["programs/bin/ssh"]), (("horovodrun", launch.DISCOVER), ["programs/bin/ssh", "programs/discover"])],
)
def test_nothing_is_executed_where_the_files_of_a_run_are(argv, programs):
    """The guest's /run is noexec on Debian and Ubuntu, and with Docker since 25 it is so in the container too."""
    _keys, made = made_files(argv)
    assert sorted(path for path, (mode, _text) in made.items() if mode & 0o111) == programs
    for _mode, text in made.values():
        for line in text.replace(" && ", "\n").splitlines():
            words = line.replace("ForceCommand ", "exec ").removeprefix("exec ").split()
            assert not (words and words[0].startswith(launch.INSIDE)), line


def ran(worker, tmp_path, **folders):
    """The end of a container's first process, whose folders are those of a test."""
    text = worker.replace("/aiready-out", str(tmp_path / "out")).replace("/aiready/", f"{tmp_path}/in/")
    text = text.replace("/run/sshd", f"{tmp_path}/sshd").replace(launch.PROGRAMS, str(folders["programs"]))
    for name in ("in/programs/bin", "out"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "in/programs/bin/ssh").write_text("#!/bin/sh\necho it runs\n")
    (tmp_path / "in/beat").write_text("0\n")
    (tmp_path / "worker").write_text(text)
    return subprocess.run(["sh", str(tmp_path / "worker"), "1", "60"], capture_output=True, text=True, check=False)


def test_a_container_copies_programs_into_a_file_system_of_its_own(tmp_path):
    own = tmp_path / "own"
    assert ran(files.WORKER, tmp_path, programs=own).returncode == scripts.UNHEARD
    done = subprocess.run([str(own / "bin/ssh")], capture_output=True, text=True, check=True)
    assert done.stdout == "it runs\n"


def test_a_container_that_cannot_take_programs_says_why(tmp_path):
    (tmp_path / "file").touch()
    assert ran(files.WORKER, tmp_path, programs=tmp_path / "file/own").returncode == scripts.NO_PROGRAMS
    assert "Not a directory" in (tmp_path / "out/said").read_text()


def test_files_of_a_run_belong_to_root_with_their_modes():
    _keys, made = made_files()
    with tarfile.open(fileobj=io.BytesIO(steps.archive(made))) as tar:
        found = {entry.name: (entry.mode, entry.uid) for entry in tar}
    assert found["key"] == (0o600, 0)
    assert found["worker"] == (0o644, 0)
    assert found["programs/bin/ssh"] == (0o755, 0)
    assert found["trainings"] == (0o755, 0)
