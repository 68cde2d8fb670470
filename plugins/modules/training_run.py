#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: training_run
short_description: Run a distributed training on several guests, and tell what came of it
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Starts one container on each guest, and in them a training by Horovod or by PyTorch's own C(torchrun). It tells how
    far the training is while it runs, and ends with a result for machines.
  - Derives every flag of MPI, Gloo and NCCL from the data path and from how RoCE is treated, each with its reason.
  - The environment of all ranks is clean. It holds what the image says of itself, what was derived, and O(environment).
  - A training that goes wrong ends within O(limits) with a verdict. It names the guest, or the rank that failed first,
    with its last lines and with what is known of the error.
  - Containers, processes, files and keys of the run are removed afterwards, also when it is interrupted. Should nobody
    be left to do so, each container ends by itself a minute later, and the next run removes what is left.
  - Runs on the controller and reaches all guests at once, as if each part was delegated to them. They need a container
    engine, C(/bin/sh), C(tar) and C(base64), and no Python. It needs administrator rights (C(become)).
notes:
  - A training that is run again runs again, so the task is always changed.
  - Launchers log in from container to container with keys that are made for the run and end with it. The keys of users
    and of guests are neither used nor seen.
  - Everything that a training prints is in the log of the run, see O(result_dir). It is shown to nobody else, apart
    from its last lines when it fails.
  - The traffic class of NCCL follows from O(roce). Nothing else of it matters here.
  - Guests are reached side by side, with connections of their own. With C(ansible_connection=ssh), a guest that
    vanishes is noticed after fifteen seconds.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
  - aiready.vsphere.roce_intent.as_roce
attributes:
  check_mode:
    details:
      - Looks at all guests, refuses what a run would refuse, and says exactly what would be started. What follows from
        an image that is not there yet may come to be another way, such as C(NCCL_IB_GID_INDEX).
      - The role C(aiready.vsphere.horovod) goes on where only that is missing which earlier stages of a site make, such
        as the engine, and says so.
  diff_mode:
    details: The containers, the environment and the commands of the run.
  platform:
    description: The guests on which the containers run.
    support: full
    platforms: linux
options:
  hosts:
    description:
      - The guests, by their names in the inventory. The launcher runs on the first one, and ranks fill the slots in
        this order.
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
          - Its IPv4 address on the data path. Left out, it is that of the interface.
        type: str
      interface:
        description:
          - Its interface on the data path, instead of O(interface). Left out, it is the one that holds the address.
        type: str
      slots:
        description: How many ranks it takes, as a rule one for each GPU.
        type: int
        default: 1
  image:
    description:
      - The image with the training's framework, and with an ssh server where Horovod runs on more than one guest.
      - Its variable C(NCCL_VERSION) tells which NCCL it has, from which follows how that is told the GID of RoCE v2.
        The images of NVIDIA have it, and all that are built on them.
      - The role C(aiready.vsphere.horovod) brings recipes for such images.
    type: str
    required: true
  pull:
    description:
      - When the image is fetched. All guests have to run the same one.
    type: str
    choices: [missing, always, never]
    default: missing
  engine:
    description:
      - What makes one training of many ranks. V(torchrun) is for images with a newer PyTorch, which Horovod does not
        build with.
    type: str
    choices: [horovod, torchrun]
    default: horovod
  launcher:
    description:
      - What starts the ranks of Horovod. V(mpirun) is that of Open MPI.
    type: str
    choices: [mpirun, horovodrun]
    default: mpirun
  controller:
    description:
      - By what the ranks of Horovod agree on what to do next. V(gloo) needs O(launcher=horovodrun).
    type: str
    choices: [mpi, gloo]
    default: mpi
  check_build:
    description:
      - Whether Horovod of the image is asked with what it was built, before the training starts. What it needs and
        lacks is an error then. M(aiready.vsphere.horovod_build_info) tells the same without a run.
    type: bool
    default: true
  elastic:
    description:
      - Lets Horovod go on with fewer ranks when some are lost, and take them back. The training has to be written for
        it. Needs O(launcher=horovodrun) and O(controller=gloo).
      - A guest or container that is lost then ends the run only if it is the one of the launcher, which is the first of
        O(hosts), or if the others have fewer slots than O(elastic.min_ranks). A run that went on without some and ended
        well is good, and its result names them.
    type: dict
    suboptions:
      min_ranks:
        description: With fewer ranks it pauses, and ends when the guests that are left have fewer slots.
        type: int
        required: true
      max_ranks:
        description: It never has more ranks than that.
        type: int
      reset_limit:
        description: How often ranks may change before it gives up.
        type: int
  builtin:
    description:
      - A training that comes with the collection and needs no data. V(small) really trains, and takes a quarter of a
        minute on CPUs. V(synthetic) is a benchmark with the shape of ResNet-50.
      - Mutually exclusive with O(command). One of them is needed.
    type: str
    choices: [small, synthetic]
  command:
    description:
      - The command of one rank, as a list of words.
    type: list
    elements: str
  arguments:
    description:
      - More words for the training, such as C(--iterations).
      - Here and in O(command), options and variables that look like secrets are refused, in one word or in two, such as
        C(--api-key) and its value.
    type: list
    elements: str
    default: []
  environment:
    description:
      - More of the ranks' environment. What is derived gives way to it.
      - Names and values that look like secrets are refused, since every process on a guest could read them. So are
        names that launchers set themselves. Names of files are no secrets, such as C(HF_TOKEN_PATH).
    type: dict
    default: {}
  data_path:
    description:
      - What carries gradients from guest to guest. With all but V(tcp), the interface has to have an RDMA device whose
        table holds the guest's address for RoCE v2.
    type: str
    choices: [tcp, pvrdma, sriov, passthrough]
    default: tcp
  interface:
    description:
      - The interface of the data path on all guests. Left out, it is on each guest the one that holds its address.
    type: str
  gpudirect:
    description:
      - Whether NCCL moves data from GPU to adapter without a copy in memory. V(auto) leaves that to NCCL. PVRDMA cannot
        do it, so there it is always off.
    type: str
    choices: [auto, enabled, disabled]
    default: auto
  gpus:
    description:
      - Whether containers get all GPUs of their guest. With V(all), a guest needs as many as it has slots.
    type: str
    choices: [all, none]
    default: all
  container_engine:
    description:
      - The engine of the guests. V(containerd) is used by C(nerdctl).
    type: str
    choices: [containerd, docker, podman]
    default: docker
  memlock:
    description:
      - Whether containers may lock as much memory as they like, which RDMA needs. V(ignore) leaves it to the engine.
    type: str
    choices: [unlimited, ignore]
    default: unlimited
  shm_size:
    description:
      - Shared memory of a container, which NCCL and loaders of data use.
    type: str
    default: 1g
  mounts:
    description:
      - Folders of the guests that containers see, for example with data.
    type: list
    elements: dict
    default: []
    suboptions:
      source:
        description: Folder on the guest.
        type: path
        required: true
      target:
        description: Where containers see it.
        type: path
        required: true
      writable:
        description: Whether they may write there.
        type: bool
        default: false
  ssh_port:
    description:
      - The port of the containers' own ssh servers, on the addresses of the data path. It has to be free on all guests.
    type: int
    default: 12345
  limits:
    description:
      - How long things may take.
    type: dict
    suboptions:
      wall_s:
        description: The training, in seconds.
        type: int
        default: 3600
      stall_s:
        description: A standstill, in seconds. Without any known iterations, that is the time without output.
        type: int
        default: 300
      start_s:
        description: The start of all containers, in seconds.
        type: int
        default: 120
      pull_s:
        description: Fetching the image on all guests, in seconds.
        type: int
        default: 1800
      lost_s:
        description: The silence of a guest until it counts as lost, in seconds.
        type: int
        default: 30
  work_dir:
    description:
      - Folder on the guests for the files of the run, keys among them. It should be in memory and belong to root alone.
      - Nothing is executed there, so that it may be C(noexec), as C(/run) is on Debian and Ubuntu.
    type: path
    default: /run/aiready-training
  result_dir:
    description:
      - Folder on the controller that gets two files for each run, with its name. The one in JSON holds the result, the
        other everything that was printed. Left out, neither is written.
    type: path
seealso:
  - module: aiready.vsphere.horovod_build_info
  - name: Training
    description: What a run does, what its result says, and what to do about errors.
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

- name: Measure over PVRDMA, from any one of the guests
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

    - name: Say how fast it is
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
  description: The run, planned and as it was.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: Name of the run.
      type: str
      returned: always
      sample: 20260301-081530-6ed2
    changed:
      description: Whether something was started, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: Nothing, since a run has no state before it.
      type: dict
      returned: always
      sample: {}
    after:
      description: The run. Empty when it was refused.
      type: dict
      returned: always
      contains:
        run:
          description: Name of the run.
          type: str
          returned: success
          sample: 20260301-081530-6ed2
        image:
          description: The image.
          type: str
          returned: success
          sample: images.example.com/aiready/horovod:0.28.1-cuda
        pulls:
          description: The guests on which it is fetched first.
          type: list
          elements: str
          returned: success
          sample: []
        removes:
          description: Earlier runs of which something is left on the guests, and removed.
          type: list
          elements: str
          returned: success
          sample: []
        hosts:
          description: The guests, with the address, interface and RDMA device by which they take part.
          type: list
          elements: dict
          returned: success
          sample:
            - {name: train-01, address: 10.0.112.11, interface: ens224, rdma_device: null, slots: 1}
            - {name: train-02, address: 10.0.112.12, interface: ens224, rdma_device: null, slots: 1}
        containers:
          description: The command that starts each guest's container.
          type: dict
          returned: success
          sample: {train-01: [docker, run, --detach], train-02: [docker, run, --detach]}
        launches:
          description: What is started in which container.
          type: list
          elements: dict
          returned: success
          sample:
            - host: train-01
              argv: [mpirun, -np, "2", -H, "train-01:1,train-02:1", python3, /aiready/trainings/small.py]
        environment:
          description: What all ranks get, with the reason of each variable.
          type: list
          elements: dict
          returned: success
          sample:
            - name: NCCL_SOCKET_IFNAME
              value: "=ens224"
              reason: NCCL meets over the data path and no bridge of containers.
        result:
          description:
            - What came of it, as in the file of O(result_dir). Of a long run it has the last 200 iterations, and the
              file all. Null in check mode.
          type: dict
          returned: success
          sample:
            run: 20260301-081530-6ed2
            verdict: {state: passed, code: trained}
            throughput: {mean: 2951.6, spread: 7.8, iterations: 39}
            loss: {first: 2.31, last: 0.62}
            weights: {equal: true}
    changes:
      description: Everything that is started or removed, one entry each.
      type: list
      elements: dict
      returned: always
      sample:
        - {path: "train-01: launch", before: null, after: "mpirun -np 2 -H train-01:1,train-02:1", needs: null}
    pending:
      description: Nothing, since a run waits for no restart.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether it was refused, or went wrong.
      type: bool
      returned: always
      sample: false
    msg:
      description: What went wrong and what to do. Empty when it trained.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when it trained.
      type: dict
      returned: always
      sample: {}
failure:
  description:
    - Why the task failed, with a stable C(code), and as far as they are known the C(host), the C(rank) that failed
      first, its C(status) or C(signal), its last C(lines), and what is C(known) of the error.
  returned: failure
  type: dict
  sample: {code: rank_failed, subject: Training 20260301-081530-6ed2, host: train-02, rank: 1, status: 1}
"""
