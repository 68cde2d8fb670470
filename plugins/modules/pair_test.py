#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pair_test
short_description: Measure the way between each pair of guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Runs C(ping), C(rping), C(ib_write_lat), C(ib_write_bw) and C(iperf3) between each two guests, in both directions,
    and returns what they measured.
  - Pairs are tested side by side, in rounds in which no guest is in two tests at once. N guests need at most N rounds.
    One kind of test is done with all pairs before the next begins, so that a test of latency never meets one of
    bandwidth.
  - A test that goes wrong is a result, and the others go on. Each result names its pair, and tells why nothing was
    measured. A program that is missing and a guest that does not answer are told in the same way.
  - Every program ends by itself in time, also when nobody is left to end it. When the task is interrupted, all of them
    are ended at once. What a killed run left is removed by the next one.
  - Runs on the controller and reaches all guests at once, as if each part was delegated to them. They need C(/bin/sh),
    coreutils and util-linux, and no Python. It needs administrator rights (C(become)).
notes:
  - It puts load on the network and changes nothing, so the task is never changed.
  - The programs are started with an empty environment.
  - No measurement is judged here. The role C(aiready.vsphere.validation) holds them against thresholds.
  - C(rping) has no option for the traffic class, and C(ib_write_lat) and C(ib_write_bw) take that of O(traffic_class)
    where it is set. Else they measure the class of packets without a mark.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  check_mode:
    details: Looks at all guests and says in RV(planned) what would be run. Nothing is measured.
  diff_mode:
    support: none
    details: There is nothing that could change.
  platform:
    description: The guests on which the programs run.
    support: full
    platforms: linux
options:
  guests:
    description:
      - The guests, at least two.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the guest in the inventory.
        type: str
        required: true
      address:
        description: Its IPv4 address on the data path.
        type: str
        required: true
      interface:
        description: Its interface on the data path. Left out, it is the one that holds the address.
        type: str
      device:
        description: Its RDMA device. Left out, it is the one with a GID of the address.
        type: str
      port:
        description: Port of that device. Left out, it is the one with the GID.
        type: int
      gid_index:
        description: Index of the GID. Left out, it is that of RoCE v2 with the address.
        type: int
      gpu:
        description: The GPU whose memory V(pair.write_bw_gpu) uses.
        type: int
        default: 0
  checks:
    description:
      - What is measured. They are done in the order in which they are listed here, cheap ones first.
      - V(pair.ping_mtu) proves that packets as large as O(mtu) pass, and tells how large they may be where they do not.
      - V(pair.rping) proves that RDMA connects. Where it does not, the tests that need it are left out.
      - V(pair.write_lat) is the latency of RDMA, V(pair.write_bw) its bandwidth in one direction at a time and
        V(pair.write_bw_both) in both at once. V(pair.write_bw_gpu) reads and writes the memory of GPUs.
      - V(pair.iperf3) is the bandwidth of TCP.
    type: list
    elements: str
    choices:
      - pair.ping_mtu
      - pair.rping
      - pair.write_lat
      - pair.write_bw
      - pair.write_bw_both
      - pair.write_bw_gpu
      - pair.iperf3
    default: [pair.ping_mtu, pair.iperf3]
  rounds:
    description:
      - How many rounds there are at most, for sites where all pairs would take too long. Each guest then meets so many
        others. Left out, all pairs are tested.
    type: int
  mtu:
    description:
      - The MTU that has to pass, such as V(9000). Left out, it is that of the interface.
    type: int
  seconds:
    description:
      - How long each test of bandwidth lasts.
    type: int
    default: 5
  sizes:
    description:
      - Sizes of messages in the tests of bandwidth with RDMA, in bytes. Each takes O(seconds).
    type: list
    elements: int
    default: [1048576]
  latency_sizes:
    description:
      - Sizes of messages in the test of latency, in bytes.
    type: list
    elements: int
    default: [2]
  iterations:
    description:
      - How many messages the test of latency sends.
    type: int
    default: 1000
  messages:
    description:
      - How many messages C(ping) and C(rping) send.
    type: int
    default: 5
  qps:
    description:
      - How many queue pairs the tests of bandwidth use. More than one fills a network better that spreads flows over
        several ways.
    type: int
    default: 1
  traffic_class:
    description:
      - The traffic class of RDMA packets, four times their DSCP, such as V(104) for DSCP 26. It is that of
        C(NCCL_IB_TC).
      - Left out, packets carry none.
    type: int
  gpu_memory:
    description:
      - How the adapter reaches the memory of GPUs. V(dmabuf) needs an open GPU driver, V(peermem) the module
        nvidia-peermem. Both need a C(ib_write_bw) that was built with CUDA.
    type: str
    choices: [dmabuf, peermem]
    default: dmabuf
  streams:
    description:
      - How many streams C(iperf3) uses in all.
    type: int
    default: 4
  processes:
    description:
      - How many processes of C(iperf3) share the streams. Left out, it is 1 from version 3.16 on, which uses several
        cores by itself, and 4 before.
    type: int
  ports:
    description:
      - TCP ports that servers may listen on. A server takes the first one that is free.
    type: dict
    suboptions:
      first:
        description: The first one.
        type: int
        default: 18515
      count:
        description: How many there are.
        type: int
        default: 32
  limits:
    description:
      - How long things may take, in seconds.
    type: dict
    suboptions:
      test_s:
        description: A test, beyond the time for which it measures.
        type: int
        default: 30
      look_s:
        description: The look at a guest.
        type: int
        default: 60
  simulated:
    description:
      - Parts of the site that are simulated, in a lab or a rehearsal. Results that rest on one of them are marked
        (RV(measurements[].simulated)).
    type: list
    elements: str
    choices: [rdma, gpu, network, guests, vcenter, hosts, switches]
    default: []
  work_dir:
    description:
      - Folder of the guests for outputs while tests run. It is removed afterwards.
    type: path
    default: /run/aiready-pairs
  result_dir:
    description:
      - Folder of the controller. Its subfolder C(evidence) gets a file for each test, with the commands and all that
        they printed. Left out, nothing is kept.
    type: path
seealso:
  - module: aiready.vsphere.guest_health_info
  - module: aiready.vsphere.training_run
"""

EXAMPLES = r"""
- name: Measure TCP between guests
  aiready.vsphere.pair_test:
    guests:
      - {name: train-01, address: 192.168.50.11}
      - {name: train-02, address: 192.168.50.12}
  register: tested
  become: true

- name: Measure everything that RDMA can do, with what was printed
  aiready.vsphere.pair_test:
    guests:
      - {name: train-01, address: 192.168.50.11, device: mlx5_0}
      - {name: train-02, address: 192.168.50.12, device: mlx5_0}
      - {name: train-03, address: 192.168.50.13, device: mlx5_0}
    checks: [pair.ping_mtu, pair.rping, pair.write_lat, pair.write_bw, pair.write_bw_both, pair.iperf3]
    mtu: 9000
    traffic_class: 104
    seconds: 10
    qps: 4
    result_dir: results/acceptance
  register: tested
  become: true

- name: Show the bandwidth of each pair
  ansible.builtin.debug:
    msg: "{{ item.subject.from }} > {{ item.subject.to }}: {{ item.readings.gbps | default(item.why) }}"
  loop: "{{ tested.measurements | selectattr('check', 'equalto', 'pair.write_bw') }}"
  loop_control:
    label: "{{ item.check }}"
"""

RETURN = r"""
measurements:
  description: One entry for each check and direction. Empty in check mode.
  returned: success
  type: list
  elements: dict
  contains:
    check:
      description: What was measured, one of O(checks).
      type: str
      returned: always
      sample: pair.write_bw
    subject:
      description: The client's guest as C(from) and the server's as C(to).
      type: dict
      returned: always
      sample: {from: train-01, to: train-02}
    command:
      description: The command of the client. Empty where nothing was started.
      type: list
      elements: str
      returned: always
      sample: [ib_write_bw, -d, mlx5_0, -i, "1", -x, "3", -p, "18515", -F, --report_gbits, 192.168.50.12]
    version:
      description: Version of the program. Empty where it does not tell.
      type: str
      returned: always
      sample: "6.06"
    status:
      description:
        - V(done) where something was measured. V(failed), V(timeout), V(missing) for a program that is not there, or
          V(skipped) where another test told already that it cannot work.
      type: str
      returned: always
      sample: done
    why:
      description: Why nothing was measured, as a sentence. Empty where it was.
      type: str
      returned: always
      sample: ""
    readings:
      description:
        - What was measured. Bandwidth has C(gbps), latency C(usec), C(ping) C(received), C(mtu) and C(passes),
          C(rping) C(answered), C(iperf3) C(gbps) and C(retransmits). Where it failed for a known reason, C(error) is
          its code.
      type: dict
      returned: always
      sample: {gbps: 92.4, bytes: 1048576, qps: 1}
    evidence:
      description: The file with all that was printed, in O(result_dir). Empty where there is none.
      type: str
      returned: always
      sample: evidence/pair.write_bw.train-01.train-02.txt
    simulated:
      description: Whether it rests on a part that O(simulated) names.
      type: bool
      returned: always
      sample: false
    began:
      description: When it began, in UTC.
      type: str
      returned: always
      sample: "2026-03-01T08:15:30Z"
    seconds:
      description: How long it took.
      type: float
      returned: always
      sample: 7.2
    variant:
      description: O(gpu_memory) for V(pair.write_bw_gpu), else empty.
      type: str
      returned: always
      sample: ""
planned:
  description:
    - One entry for each of O(checks), with how many C(tests) there are in how many C(rounds), the seconds that all of
      them take C(at_most_s), and the commands of the first pair (C(servers), C(clients)).
  returned: success
  type: list
  elements: dict
  sample:
    - check: pair.rping
      tests: 2
      rounds: 1
      at_most_s: 70
      servers: [rping -s -a 192.168.50.12 -p PORT -v -C 5]
      clients: [rping -c -a 192.168.50.12 -p PORT -v -C 5]
rounds:
  description: Which pairs are tested side by side, round by round.
  returned: success
  type: list
  elements: list
  sample: [[[train-01, train-02]]]
lost:
  description: Guests that did not answer, each with the reason.
  returned: success
  type: dict
  sample: {}
out:
  description: Guests that answer and cannot take part in any test, each with the reason.
  returned: success
  type: dict
  sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["guests: a pair needs at least two of them."]}
"""
