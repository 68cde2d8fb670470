#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: training_run
short_description: Run a distributed training on several guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Starts one container on each guest, and runs a training in them with Horovod or with PyTorch's C(torchrun). The
    module reports the progress and returns a machine-readable result.
  - Derives every flag of MPI, Gloo and NCCL from the data path and the RoCE QoS, each with its reason.
  - Each rank has a clean environment. It contains only the variables of the image, the derived variables and
    O(environment).
  - A failed training ends within O(limits) with a verdict. The verdict names the guest or the rank that failed first,
    with its last lines and an explanation of known errors.
  - The module removes containers, processes, files and keys after the run, also after an interruption. If the
    controller dies, each container stops within 60 seconds, and the next run removes the leftovers.
  - Runs on the controller and connects to all guests in parallel, like a delegated task. The guests need a container
    engine, C(/bin/sh), C(tar) and C(base64), and no Python. The module needs administrator rights (C(become)).
notes:
  - The module is not idempotent. Each task runs a training and reports a change.
  - Launchers log in from container to container with keys that the module generates for this run. The module does not
    use or read the keys of users and guests.
  - The log of the run contains the complete output of the training, see O(result_dir). The task itself shows only the
    last lines of a failed training.
  - The traffic class of NCCL derives from O(roce). The module ignores its other settings.
  - Each guest has its own connection, in parallel to the others. With C(ansible_connection=ssh), the module detects a
    lost guest after 15 seconds.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.roce_intent.as_roce
attributes:
  check_mode:
    details:
      - Reads all guests, fails on the same errors as a run, and returns the exact commands of the run. If the image was
        not pulled yet, values that depend on it can change, such as C(NCCL_IB_GID_INDEX).
      - The role C(aiready.vsphere.horovod) continues if earlier stages of the site create the missing part, such as the
        engine, and reports this.
  diff_mode:
    details: Shows the containers, the environment and the commands of the run.
  platform:
    description: Guests on which the containers run.
    support: full
    platforms: linux
options:
  hosts:
    description:
      - Guests of the training. The launcher runs on the first one, and ranks fill the slots in this order.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the guest in the inventory.
        type: str
        required: true
      address:
        description:
          - IPv4 address of the guest on the data path. If omitted, the address of the interface.
        type: str
      interface:
        description:
          - Interface on the data path, instead of O(interface). If omitted, the interface that has the address.
        type: str
      slots:
        description: Number of ranks on the guest, usually one for each GPU.
        type: int
        default: 1
  image:
    description:
      - Image with the framework of the training. It needs an ssh server if Horovod runs on more than one guest.
      - The image's variable C(NCCL_VERSION) states its NCCL version. The module uses it to select the variable for the
        RoCE v2 GID. Images of NVIDIA and all images based on them set it.
      - The role C(aiready.vsphere.horovod) contains recipes for such images.
    type: str
    required: true
  pull:
    description:
      - Policy for pulling the image. All guests must have the same image.
    type: str
    choices: [missing, always, never]
    default: missing
  engine:
    description:
      - Training engine. V(torchrun) is part of PyTorch, and the default of the role C(aiready.vsphere.horovod).
      - V(horovod) is for images that contain Horovod.
      - V(deepspeed) starts the launcher of DeepSpeed on each guest, without ssh between containers. A O(command) with
        Python gets the option C(--local_rank), which DeepSpeed adds.
      - V(ray) starts a Ray cluster with fixed ports, the head on the first guest, and submits the training as a job. A
        O(command) runs once, as the driver of the job. The ranks of a O(builtin) run in actors.
    type: str
    choices: [horovod, torchrun, deepspeed, ray]
    default: horovod
  launcher:
    description:
      - Launcher of the Horovod ranks. V(mpirun) is the one of Open MPI.
    type: str
    choices: [mpirun, horovodrun]
    default: mpirun
  controller:
    description:
      - Controller that coordinates the Horovod ranks. V(gloo) needs O(launcher=horovodrun).
    type: str
    choices: [mpi, gloo]
    default: mpi
  check_build:
    description:
      - Whether to verify the build options of Horovod in the image before the training starts. The module then fails if
        a required part is not built in. M(aiready.vsphere.horovod_build_info) returns the same without a run.
    type: bool
    default: true
  elastic:
    description:
      - Elastic run. Horovod continues with fewer ranks after a loss, and adds returning ranks again. The training must
        support this. Needs O(launcher=horovodrun) and O(controller=gloo).
      - A lost guest or container then ends the run only in two cases. Either it is the one of the launcher, the first
        of O(hosts), or the others have fewer slots than O(elastic.min_ranks).
      - A run that continued without some guests and ended successfully counts as passed. Its result names the lost
        guests.
    type: dict
    suboptions:
      min_ranks:
        description: Minimum number of ranks. With fewer ranks, the run pauses. With fewer slots, it ends.
        type: int
        required: true
      max_ranks:
        description: Maximum number of ranks.
        type: int
      reset_limit:
        description: Number of rank changes after which the run fails.
        type: int
  restarts:
    description:
      - Maximum number of restarts after the loss of a guest, a container or a rank, between V(0) and V(100). With V(0),
        the first loss ends the run. Not for O(engine=horovod), which has O(elastic).
      - For a restart, the module waits until all guests are ready again, and starts all ranks anew. The training must
        save checkpoints in a folder of O(mounts) and continue from them. The built-in training V(small) does that with
        the arguments C(--checkpoint FOLDER) and C(--checkpoint-every ITERATIONS).
      - A rank that fails before the first iteration causes no restart, because it would fail again.
      - A run that fails once more after the last restart ends with the failure C(restarts_exhausted).
    type: int
    default: 0
    version_added: 0.2.0
  hold_file:
    description:
      - File on the controller that holds the training. While it exists, the module keeps all ranks stopped, so that
        their GPUs are free. After its removal, it waits for all guests as after a loss, and starts all ranks again.
      - The training continues from its newest checkpoint, as with O(restarts). A hold is no restart. Its time does not
        count for O(limits.wall_s).
      - While ranks may run, the module locks a file beside it, whose name ends with C(.lock). It creates the folder of
        both.
      - Only for the O(engine) V(torchrun) and V(deepspeed).
    type: path
    version_added: 0.2.0
  builtin:
    description:
      - Training that is part of the collection and needs no data. V(small) trains a small model, in about 15 seconds on
        CPUs. V(synthetic) is a benchmark with the layers of ResNet-50.
      - V(all_reduce) trains nothing. It measures the bandwidth of an all-reduce with the PyTorch of the image.
        It prints the table of C(all_reduce_perf) of nccl-tests, which needs C(mpirun) between guests.
      - V(all_reduce) needs the O(engine) V(torchrun), V(deepspeed) or V(ray). Its O(arguments) are the options C(-b),
        C(-e), C(-f), C(-i), C(-n), C(-w) and C(-c) of nccl-tests.
      - Mutually exclusive with O(command). One of them is required.
    type: str
    choices: [small, synthetic, all_reduce]
  command:
    description:
      - Command of one rank, as a list of words.
    type: list
    elements: str
  arguments:
    description:
      - Additional arguments of the training, such as C(--iterations).
      - The module rejects options and variables that look like secrets, here and in O(command). This applies to one
        word or two, such as C(--api-key) and its value.
    type: list
    elements: str
    default: []
  environment:
    description:
      - Additional environment variables of the ranks. They have precedence over derived variables.
      - The module rejects names and values that look like secrets, because every process on a guest could read them. It
        also rejects names that launchers set themselves. Names of files are allowed, such as C(HF_TOKEN_PATH).
    type: dict
    default: {}
  data_path:
    description:
      - Data path of the gradients between guests. With all values except V(tcp), the interface needs an RDMA device.
        Its GID table must contain the guest's address for RoCE v2.
    type: str
    choices: [tcp, pvrdma, sriov, passthrough]
    default: tcp
  interface:
    description:
      - Interface of the data path on all guests. If omitted, the interface that has the address of the guest.
    type: str
  gpudirect:
    description:
      - GPUDirect RDMA of NCCL, the transfer from GPU to adapter without a copy in memory. V(auto) leaves the decision
        to NCCL. PVRDMA does not support it, so it is always off there.
    type: str
    choices: [auto, enabled, disabled]
    default: auto
  gpus:
    description:
      - GPUs that containers get. With V(all), containers get all GPUs of their guest, and each slot needs one GPU.
    type: str
    choices: [all, none]
    default: all
  container_engine:
    description:
      - Container engine of the guests. The module uses V(containerd) through C(nerdctl).
    type: str
    choices: [containerd, docker, podman]
    default: docker
  memlock:
    description:
      - Locked memory limit of the containers. RDMA needs V(unlimited). V(ignore) uses the limit of the engine.
    type: str
    choices: [unlimited, ignore]
    default: unlimited
  mpi_transport:
    description:
      - Transport of MPI itself, for commands such as the OSU micro-benchmarks. Trainings do not need V(ucx), because
        NCCL carries their data.
      - V(ucx) requires O(launcher=mpirun), an image with UCX (NVIDIA's images have it as HPC-X), and
        O(data_path=sriov) or O(data_path=passthrough). The environment of UCX comes from O(roce).
      - UCX fails if RDMA does not work, and its log has the transport.
    type: str
    choices: [tcp, ucx]
    default: tcp
    version_added: 0.2.0
  shm_size:
    description:
      - Size of the shared memory of a container. NCCL and data loaders use it.
    type: str
    default: 1g
  mounts:
    description:
      - Folders of the guests to mount into the containers, for example with data.
    type: list
    elements: dict
    default: []
    suboptions:
      source:
        description: Folder on the guest.
        type: path
        required: true
      target:
        description: Path of the folder in the containers.
        type: path
        required: true
      writable:
        description: Whether to mount the folder writable.
        type: bool
        default: false
  ssh_port:
    description:
      - Port of the ssh servers in the containers, on the addresses of the data path. It must be free on all guests.
    type: int
    default: 12345
  limits:
    description:
      - Time limits of the run.
    type: dict
    suboptions:
      wall_s:
        description: Maximum duration of the training, in seconds.
        type: int
        default: 3600
      stall_s:
        description: Maximum time without an iteration, in seconds. Without known iterations, the time without output.
        type: int
        default: 300
      start_s:
        description: Maximum time for the start of all containers, in seconds.
        type: int
        default: 120
      pull_s:
        description: Maximum time for pulling the image on all guests, in seconds.
        type: int
        default: 1800
      lost_s:
        description: Time without an answer after which a guest counts as lost, in seconds.
        type: int
        default: 30
      return_s:
        description: Maximum time that a restart waits until all guests are ready again, in seconds.
        type: int
        default: 600
        version_added: 0.2.0
  work_dir:
    description:
      - Folder on the guests for the files of the run, including keys. It should be in memory and accessible only to
        root.
      - The module executes nothing there, so the folder can be C(noexec), as C(/run) is on Debian and Ubuntu.
    type: path
    default: /run/aiready-training
  result_dir:
    description:
      - Folder on the controller for two files of each run, named after the run. The JSON file contains the result, and
        the log file the complete output. If omitted, the module writes neither.
    type: path
seealso:
  - module: aiready.vsphere.horovod_build_info
  - name: Training
    description: Steps of a run, keys of its result, and causes of errors.
    link: https://github.com/aiready/vsphere/blob/main/docs/training.md
"""

EXAMPLES = r"""
- name: Train on two guests over TCP
  aiready.vsphere.training_run:
    hosts:
      - {name: train-01, address: 10.0.112.11}
      - {name: train-02, address: 10.0.112.12}
    image: images.example.com/aiready/horovod:0.28.1-cuda
    builtin: small
  become: true

- name: Run the benchmark over PVRDMA, from one of the guests
  hosts: training_guests[0]
  gather_facts: false
  become: true
  tasks:
    - name: Run the benchmark
      aiready.vsphere.training_run:
        hosts:
          - {name: train-01, address: 10.0.112.11, slots: 2}
          - {name: train-02, address: 10.0.112.12, slots: 2}
        image: images.example.com/aiready/horovod:0.28.1-cuda
        builtin: synthetic
        arguments: [--batch, "64", --fp16-allreduce]
        data_path: pvrdma
        result_dir: results
      register: run

    - name: Show the throughput
      ansible.builtin.debug:
        msg: "{{ run.training.after.result.throughput.mean }} images/s"

- name: Train with PyTorch alone
  aiready.vsphere.training_run:
    hosts:
      - {name: train-01, interface: ens224}
      - {name: train-02, interface: ens224}
    image: nvcr.io/nvidia/pytorch:24.05-py3
    engine: torchrun
    command: [python3, /data/train.py]
    mounts:
      - {source: /srv/data, target: /data}
    limits:
      wall_s: 86400
  become: true
"""

RETURN = r"""
training:
  description: Result of the run. In check mode, the planned run.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the run.
      type: str
      returned: always
      sample: 20260301-081530-6ed2
    changed:
      description: V(true) if the module started a run, or would start one in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: Always empty, because a run has no previous state.
      type: dict
      returned: always
      sample: {}
    after:
      description: Data of the run. Empty if the request was rejected.
      type: dict
      returned: always
      contains:
        run:
          description: Name of the run.
          type: str
          returned: success
          sample: 20260301-081530-6ed2
        image:
          description: Image of the run.
          type: str
          returned: success
          sample: images.example.com/aiready/horovod:0.28.1-cuda
        pulls:
          description: Guests on which the module pulls the image first.
          type: list
          elements: str
          returned: success
          sample: []
        removes:
          description: Earlier runs whose leftovers the module removes from the guests.
          type: list
          elements: str
          returned: success
          sample: []
        hosts:
          description: Guests with the address, interface and RDMA device that they use.
          type: list
          elements: dict
          returned: success
          sample:
            - {name: train-01, address: 10.0.112.11, interface: ens224, rdma_device: null, slots: 1}
            - {name: train-02, address: 10.0.112.12, interface: ens224, rdma_device: null, slots: 1}
        containers:
          description: Command that starts the container of each guest.
          type: dict
          returned: success
          sample: {train-01: [docker, run, --detach], train-02: [docker, run, --detach]}
        launches:
          description: Commands in the containers, with the guest of each.
          type: list
          elements: dict
          returned: success
          sample:
            - host: train-01
              argv: [mpirun, -np, "2", -H, "train-01:1,train-02:1", python3, /aiready/trainings/small.py]
        environment:
          description: Environment variables of all ranks, each with its reason.
          type: list
          elements: dict
          returned: success
          sample:
            - name: NCCL_SOCKET_IFNAME
              value: "=ens224"
              reason: NCCL connects over the data path, not over a bridge of containers.
        result:
          description:
            - Result of the run, as in the file in O(result_dir). For a long run, it has the last 200 iterations. The
              file has all. Null in check mode.
          type: dict
          returned: success
          sample:
            run: 20260301-081530-6ed2
            verdict: {state: passed, code: trained}
            throughput: {mean: 2951.6, spread: 7.8, iterations: 39}
            loss: {first: 2.31, last: 0.62}
            weights: {equal: true}
    changes:
      description: Everything that the module starts or removes, one entry each.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "train-01: launch", before: null, after: "mpirun -np 2 -H train-01:1,train-02:1", needs: null}
    pending:
      description: Always empty, because a run needs no restart.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: V(true) if the request was rejected or the run failed.
      type: bool
      returned: always
      sample: false
    msg:
      description: Cause of the failure and its fix. Empty on success.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty on success.
      type: dict
      returned: always
      sample: {}
failure:
  description:
    - Machine-readable cause of the task failure, with a stable C(code) and further details.
    - If known, it has the C(host), the C(rank) that failed first, its C(status) or C(signal), its last C(lines), and an
      explanation of the error in C(known).
  returned: failure
  type: dict
  sample: {code: rank_failed, subject: Training 20260301-081530-6ed2, host: train-02, rank: 1, status: 1}
"""
