#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: validation_result
short_description: Validate the measurements of guests, pairs, fabric and trainings
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Compares the results of M(aiready.vsphere.guest_health_info), M(aiready.vsphere.pair_test),
    M(aiready.vsphere.roce_agreement_info), M(aiready.vsphere.roce_qos_info) and M(aiready.vsphere.training_run) with
    the requirements of the site.
  - A missing measurement is reported as missing. It never passes. A result that depends on a failed check does not
    count, and its row names that check.
  - A check passes if its value is required, measured, as expected, and based on saved evidence. A value that the site
    does not require is C(not_required). It is shown, it never counts as passed, and it blocks no other check.
  - Writes C(validation.json), and for each result a file with the full output, into O(result_dir).
notes:
  - Runs on the controller and connects to nothing.
  - Every validation writes its own record. The task is therefore always changed, in check mode too. The callback
    P(aiready.vsphere.record#callback) does not count it as a change of the site.
attributes:
  check_mode:
    description: Can say what it would change without changing anything.
    support: full
    details: Validates the measurements and writes no file.
  diff_mode:
    description: Returns what changes, before and after, when run with C(--diff).
    support: none
    details: The written file is a result, not a setting.
  platform:
    description: Where the module itself runs. It needs Python 3.8 or newer, and nothing else.
    support: full
    platforms: posix
options:
  intent:
    description:
      - Requirements of the site, in the format that the filter P(aiready.vsphere.site_validation#filter) returns in
        C(intent). They contain the guests, the data path, the speed of its adapters, the MTU, the GPUs, and the checks
        that are left out, with the reasons.
    type: dict
    required: true
  guests:
    description:
      - Results of M(aiready.vsphere.guest_health_info) for each guest, as C(before) and C(after) the timed runs.
    type: dict
    default: {}
  pairs:
    description:
      - Result of M(aiready.vsphere.pair_test).
    type: dict
    default: {}
  agreement:
    description:
      - Result of M(aiready.vsphere.roce_agreement_info). If there is nothing to compare, a dictionary with C(why).
    type: dict
    default: {}
  switches:
    description:
      - Lists of RV(aiready.vsphere.roce_qos_info#module:switch), read C(before) and C(after) the timed runs.
    type: dict
    default: {}
  host_ports:
    description:
      - RV(aiready.vsphere.esxi_roce_info#module:hosts), for the topology of the site.
    type: list
    elements: dict
    default: []
  runs:
    description:
      - Results of M(aiready.vsphere.training_run), each with C(check) (V(cluster.hostname), V(pair.mpi_lat),
        V(pair.mpi_bw), V(cluster.mpi_allreduce), V(cluster.nccl) or V(cluster.training)), C(variant) such as V(2:rdma),
        C(guests) and C(run). The first guest of a pair is the sender.
    type: list
    elements: dict
    default: []
  places:
    description:
      - Placement of each guest, with the ESXi host (C(host)), its C(gpu), the adapter of the host (C(nic)) and its
        C(address).
    type: dict
    default: {}
  thresholds:
    description:
      - Thresholds that differ from the defaults, by check. C(low) and C(high) fail, C(warn_low) and C(warn_high) warn.
        With C(share) set to V(line), they are shares of the adapter's speed.
      - C(reference) of V(cluster.training) and V(cluster.nccl) replaces the published figure that
        RV(validation.references) has. It decides no verdict.
      - C(baseline), C(spread) and C(outliers) set how far figures may differ from earlier figures, and from each other.
    type: dict
    default: {}
  baseline:
    description:
      - Path of a file on the controller with figures of earlier runs. The module compares the results with this file.
        It creates the file if it is missing. Without this option, the module compares nothing.
    type: path
  keep:
    description:
      - Rule for adding figures to the baseline. V(missing) adds figures that it does not have yet. V(better) also
        replaces figures that improved. V(replace) replaces all figures that passed or are not required.
    type: str
    choices: [missing, better, replace]
    default: missing
  simulated:
    description:
      - Parts of the site that are simulated, in a lab or a rehearsal. Each result that depends on one of them is
        labelled. Versions, restarts, changes and parts of the topology are labelled too.
      - V(rdma) and V(gpu) are the adapters and GPUs of the guests. With V(network), the guests share one machine, and
        no traffic between them uses a cable. With V(guests), the guests are containers instead of virtual machines.
        V(vcenter), V(hosts) and V(switches) are vCenter, the ESXi hosts and the switches.
    type: list
    elements: str
    choices: [rdma, gpu, network, guests, vcenter, hosts, switches]
    default: []
  notes:
    description:
      - Notes for readers of the results, by check. Each row of the check has them in C(notes).
    type: dict
    default: {}
  relaxed:
    description:
      - Settings that are less strict than the defaults, in the format of the filter
        P(aiready.vsphere.site_validation#filter). Each affected row lists them in C(relaxed).
    type: list
    elements: dict
    default: []
    suboptions:
      setting:
        description: Name of the setting, such as C(site.guests.limits.memlock).
        type: str
        required: true
      value:
        description: Value of the setting.
        type: str
        required: true
      strict:
        description: Default value, or the requirement of the default.
        type: str
        required: true
      means:
        description: Consequence of the setting, in one sentence.
        type: str
        required: true
      checks:
        description: Checks that the setting affects.
        type: list
        elements: str
        default: []
      stages:
        description: Stages that the setting affects.
        type: list
        elements: str
        default: []
  site:
    description:
      - Name of the site, for the report.
    type: str
    default: ""
  began:
    description:
      - Start time of the run in UTC, such as V(2026-03-01T08:15:30Z). Defaults to the current time.
    type: str
  result_dir:
    description:
      - Path of the folder for the results of this run.
    type: path
    required: true
seealso:
  - module: aiready.vsphere.guest_health_info
  - module: aiready.vsphere.pair_test
  - module: aiready.vsphere.training_run
  - module: aiready.vsphere.validation_report
    description: Renders the report from the result.
"""

EXAMPLES = r"""
- name: Validate the measurements between two guests
  aiready.vsphere.validation_result:
    intent:
      guests: [train-01, train-02]
      data_path: tcp
      gpus: none
      mtu: 9000
    guests:
      train-01: {before: "{{ hostvars['train-01'].health }}"}
      train-02: {before: "{{ hostvars['train-02'].health }}"}
    pairs: "{{ tested }}"
    result_dir: results/acceptance
  delegate_to: localhost
  register: judged

- name: Show the verdict
  ansible.builtin.debug:
    msg: "{{ judged.validation.verdict.sentence }}"
"""

RETURN = r"""
validation:
  description: Verdict, and the path of all other results.
  returned: success
  type: dict
  contains:
    path:
      description: Path of C(validation.json), which has the rows of all checks.
      type: str
      returned: always
      sample: results/acceptance/validation.json
    verdict:
      description:
        - Verdict of the run. C(state) is V(pass), V(warn), V(fail), or V(incomplete) if a requested measurement did not
          run. C(sentence) describes it, and C(counts) has the number of rows with each verdict.
      type: dict
      returned: always
      sample:
        state: pass
        sentence: All 12 checks passed.
        counts: {pass: 12, not_required: 0, warn: 0, fail: 0, skipped: 0, not_run: 0, all: 12, simulated: 0}
    not_right:
      description:
        - Rows that failed, warned or did not run, each with C(id), C(verdict), C(why), C(cause), C(evidence) and
          C(expected).
      type: list
      elements: dict
      returned: always
      sample:
        - id: pair.ping_mtu train-01 > train-02
          verdict: fail
          why: Packets of 1500 bytes arrive, packets of 9000 bytes are dropped silently.
          cause: "path MTU too small: between train-01 and train-02; packets of the standard MTU arrive"
          evidence: evidence/pair.ping_mtu.train-01.train-02.txt
          expected: 9000 bytes
    causes:
      description:
        - Known causes of the problems. Each has a C(code), the location in C(place), its description in C(text), and in
          C(rows) the C(id) of each row with this cause.
      type: list
      elements: dict
      returned: always
      sample:
        - code: mtu_local
          text: ens224 of train-02 (esx-02 vmnic2, leaf-01 Ethernet2)
          place: train-02
          rows: [guest.mtu train-02]
    references:
      description:
        - Training throughput and NCCL bandwidth beside published figures of the same GPU and image, or beside
          C(reference) of O(thresholds). They decide no verdict.
        - C(expected) is null without a reference, and C(why) has the reason.
        - C(percent) is the share of C(measured) in C(expected). C(mark) is V(sure), or V(unsure) with the reason.
      type: list
      elements: dict
      returned: always
      sample:
        - row: cluster.training 1:tcp
          check: cluster.training
          measure: images/s
          measured: 2890.0
          unit: img/s
          expected: 2976.2
          percent: 97.1
          source: "1488 for each of 2 GPUs; 1 machine with 2 GPUs: NCHC, Keras, fp16 all-reduce"
          mark: sure
          why: ""
          simulated: false
    simulated:
      description: Titles of the checks that depend on simulated parts.
      type: list
      elements: str
      returned: always
      sample: []
    baseline:
      description: Whether the module added figures to the baseline.
      type: bool
      returned: always
      sample: false
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: invalid_parameters, problems: ["thresholds.pair.nothing: there is no such check."]}
"""

import os
import time
from typing import Any, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import baseline, simulated, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import record

ARGUMENTS = {
    "intent": {"type": "dict", "required": True},
    "guests": {"type": "dict", "default": {}},
    "pairs": {"type": "dict", "default": {}},
    "agreement": {"type": "dict", "default": {}},
    "switches": {"type": "dict", "default": {}},
    "host_ports": {"type": "list", "elements": "dict", "default": []},
    "runs": {"type": "list", "elements": "dict", "default": []},
    "places": {"type": "dict", "default": {}},
    "thresholds": {"type": "dict", "default": {}},
    "baseline": {"type": "path"},
    "keep": {"type": "str", "choices": list(baseline.KEEP), "default": "missing"},
    "simulated": {"type": "list", "elements": "str", "choices": list(simulated.WORDS), "default": []},
    "notes": {"type": "dict", "default": {}},
    "relaxed": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            **{key: {"type": "str", "required": True} for key in ("setting", "value", "strict", "means")},
            **{key: {"type": "list", "elements": "str", "default": []} for key in ("checks", "stages")},
        },
    },
    "site": {"type": "str", "default": ""},
    "began": {"type": "str"},
    "result_dir": {"type": "path", "required": True},
}
SHOWN = ("id", "verdict", "why", "cause", "evidence")


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, as sentences."""
    problems = thresholds.problems(params["thresholds"])
    if not params["intent"].get("guests"):
        problems.append("intent: guests is missing. Name at least one guest.")
    return problems


def answer(made: Mapping[str, Any], path: str, kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """The result of the task."""
    return {
        "path": path,
        "verdict": made["verdict"],
        "not_right": [
            {**{key: row[key] for key in SHOWN}, "expected": row["expected"]["text"]}
            for row in made["checks"]
            if row["verdict"] in ("fail", "warn", "not_run")
        ],
        "causes": made["causes"],
        "references": made["references"],
        "simulated": made["simulated"],
        "baseline": kept is not None,
    }


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    fail_if_invalid(module, check_params(params))
    try:
        made, files, kept = record.record(params, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        path = os.path.join(params["result_dir"], record.NAME)
        if not module.check_mode:
            path = record.write(params["result_dir"], made, files)
            if kept is not None:
                record.keep(params["baseline"], kept)
    except OperatorError as trouble:
        module.fail_json(msg=trouble.message, failure=trouble.failure)
    module.exit_json(changed=True, validation=answer(made, path, kept))


if __name__ == "__main__":
    main()
