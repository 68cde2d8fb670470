#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pair_test
short_description: Run network tests between all pairs of guests
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Runs C(ping), C(rping), C(ib_write_lat), C(ib_write_bw) and C(iperf3) between each two guests, in both directions,
    and returns the measurements.
  - Tests pairs in parallel, in rounds. A guest takes part in one test at a time. N guests need at most N rounds. One
    kind of test finishes with all pairs before the next begins, so bandwidth tests never disturb a latency test.
  - A failed test is a result, and the other tests continue. Each result names its pair, and the reason if nothing was
    measured. A missing program and a guest that does not answer are also such results.
  - Every program has a time limit, and stops even if the controller dies. If the task is interrupted, all programs stop
    at once. The next run removes the files of a killed run.
  - Runs on the controller and connects to all guests in parallel, like delegated tasks. The guests need C(/bin/sh),
    coreutils and util-linux, and no Python. The module needs administrator rights (C(become)).
notes:
  - The module puts load on the network and changes no setting, so the task is never changed.
  - The programs start with an empty environment.
  - The module does not judge measurements. The role C(aiready.vsphere.validation) compares them with thresholds.
  - C(ib_write_lat) and C(ib_write_bw) use O(traffic_class) if it is set. Otherwise they measure the traffic class of
    packets without a DSCP. C(rping) has no option for the traffic class.
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  check_mode:
    details: Reads all guests and returns the planned tests in RV(planned). Measures nothing.
  diff_mode:
    support: none
    details: The module changes no setting.
  platform:
    description: Operating system of the guests on which the programs run.
    support: full
    platforms: linux
options:
  guests:
    description:
      - Guests to test, at least two.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the guest in the inventory.
        type: str
        required: true
      address:
        description: IPv4 address of the guest on the data path.
        type: str
        required: true
      interface:
        description: Interface of the guest on the data path. Defaults to the interface with the address.
        type: str
      device:
        description: RDMA device of the guest. Defaults to the device with a GID of the address.
        type: str
      port:
        description: Port of that device. Defaults to the port with the GID.
        type: int
      gid_index:
        description: Index of the GID. Defaults to the RoCE v2 GID with the address.
        type: int
      gpu:
        description: Index of the GPU whose memory V(pair.write_bw_gpu) uses.
        type: int
        default: 0
  checks:
    description:
      - Tests to run. They run in the order of the choices, cheap tests first.
      - V(pair.ping_mtu) verifies that packets of O(mtu) bytes arrive. If they do not, it returns the largest size that
        does.
      - V(pair.rping) verifies that RDMA connects. If it does not, the tests that need RDMA are skipped.
      - V(pair.write_lat) measures the latency of RDMA. V(pair.write_bw) measures its bandwidth in one direction at a
        time, and V(pair.write_bw_both) in both directions at once. V(pair.write_bw_gpu) uses the memory of GPUs.
      - V(pair.iperf3) measures the bandwidth of TCP.
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
      - Maximum number of rounds, for sites where all pairs would take too long. Each guest is then tested with this
        number of other guests. By default, all pairs are tested.
    type: int
  mtu:
    description:
      - MTU that packets must pass with, such as V(9000). Defaults to the MTU of the interface.
    type: int
  seconds:
    description:
      - Duration of each bandwidth test, in seconds.
    type: int
    default: 5
  sizes:
    description:
      - Message sizes of the RDMA bandwidth tests, in bytes. Each size takes O(seconds).
    type: list
    elements: int
    default: [1048576]
  latency_sizes:
    description:
      - Message sizes of the latency test, in bytes.
    type: list
    elements: int
    default: [2]
  iterations:
    description:
      - Number of messages of the latency test.
    type: int
    default: 1000
  messages:
    description:
      - Number of messages of C(ping) and C(rping).
    type: int
    default: 5
  qps:
    description:
      - Number of queue pairs of the bandwidth tests. More than one uses a network with several paths better.
    type: int
    default: 1
  traffic_class:
    description:
      - Traffic class of RDMA packets. It is four times their DSCP, such as V(104) for DSCP 26. C(NCCL_IB_TC) takes the
        same value.
      - By default, packets carry no traffic class.
    type: int
  gpu_memory:
    description:
      - Method by which the adapter accesses GPU memory. V(dmabuf) needs an open GPU driver, V(peermem) the module
        nvidia-peermem. Both need a C(ib_write_bw) that was built with CUDA.
    type: str
    choices: [dmabuf, peermem]
    default: dmabuf
  streams:
    description:
      - Total number of streams of C(iperf3).
    type: int
    default: 4
  processes:
    description:
      - Number of C(iperf3) processes that share the streams. Defaults to 1 from version 3.16 on, which uses several
        cores by itself, and to 4 for older versions.
    type: int
  ports:
    description:
      - TCP ports that servers may listen on. A server takes the first free port.
    type: dict
    suboptions:
      first:
        description: First port.
        type: int
        default: 18515
      count:
        description: Number of ports.
        type: int
        default: 32
  limits:
    description:
      - Time limits, in seconds.
    type: dict
    suboptions:
      test_s:
        description: Limit for a test, in addition to its measuring time.
        type: int
        default: 30
      look_s:
        description: Limit for reading the state of a guest.
        type: int
        default: 60
  simulated:
    description:
      - Parts of the site that are simulated, in a lab or a rehearsal. RV(measurements[].simulated) labels the results
        that depend on one of them.
    type: list
    elements: str
    choices: [rdma, gpu, network, guests, vcenter, hosts, switches]
    default: []
  work_dir:
    description:
      - Folder on the guests for output while tests run. The module removes it afterwards.
    type: path
    default: /run/aiready-pairs
  result_dir:
    description:
      - Folder on the controller. Its subfolder C(evidence) gets a file for each test, with the commands and their full
        output. By default, no output is saved.
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

- name: Run all RDMA tests and save their output
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
  description: Measurements, one entry for each check and direction. Empty in check mode.
  returned: success
  type: list
  elements: dict
  contains:
    check:
      description: Name of the test, one of O(checks).
      type: str
      returned: always
      sample: pair.write_bw
    subject:
      description: Guest of the client as C(from) and guest of the server as C(to).
      type: dict
      returned: always
      sample: {from: train-01, to: train-02}
    command:
      description: Command of the client. Empty if nothing was started.
      type: list
      elements: str
      returned: always
      sample: [ib_write_bw, -d, mlx5_0, -i, "1", -x, "3", -p, "18515", -F, --report_gbits, 192.168.50.12]
    version:
      description: Version of the program. Empty if the program does not report it.
      type: str
      returned: always
      sample: "6.06"
    status:
      description:
        - Status of the test. V(done) means measured, and V(missing) means that the program is not installed.
          V(failed) and V(timeout) are failures. V(skipped) means that another test already showed that it cannot work.
      type: str
      returned: always
      sample: done
    why:
      description: Reason why nothing was measured, as a sentence. Empty for V(done).
      type: str
      returned: always
      sample: ""
    readings:
      description:
        - Measured values. Bandwidth has C(gbps), latency has C(usec), and C(iperf3) has C(gbps) and C(retransmits).
          C(ping) has C(received), C(mtu) and C(passes), and C(rping) has C(answered). If the test failed for a known
          reason, C(error) is its code.
      type: dict
      returned: always
      sample: {gbps: 92.4, bytes: 1048576, qps: 1}
    evidence:
      description: File with the full output, in O(result_dir). Empty without such a file.
      type: str
      returned: always
      sample: evidence/pair.write_bw.train-01.train-02.txt
    simulated:
      description: Whether the result depends on a part that O(simulated) names.
      type: bool
      returned: always
      sample: false
    began:
      description: Start time of the test, in UTC.
      type: str
      returned: always
      sample: "2026-03-01T08:15:30Z"
    seconds:
      description: Duration of the test, in seconds.
      type: float
      returned: always
      sample: 7.2
    variant:
      description: O(gpu_memory) for V(pair.write_bw_gpu), otherwise empty.
      type: str
      returned: always
      sample: ""
planned:
  description:
    - Planned tests, one entry for each of O(checks). C(tests) and C(rounds) are numbers, and C(at_most_s) is the
      maximum duration of all tests in seconds. C(servers) and C(clients) are the commands of the first pair.
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
  description: Pairs that are tested in parallel, round by round.
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
  description: Guests that answer but cannot take part in any test, each with the reason.
  returned: success
  type: dict
  sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["guests: a pair needs at least two guests."]}
"""
