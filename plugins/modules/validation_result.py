#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: validation_result
short_description: Judge what was measured of guests, pairs, fabric and trainings, and write it down
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Takes the results of M(aiready.vsphere.guest_health_info), M(aiready.vsphere.pair_test),
    M(aiready.vsphere.roce_agreement_info), M(aiready.vsphere.roce_qos_info) and M(aiready.vsphere.training_run), and
    judges each of them against what the site wants.
  - What should have been measured and was not is told as such. It never passes. What stands on something that is broken
    does not count, and says on what.
  - A check passes where its value is required, measured, based on evidence that is kept, and as expected. A value that
    the site does not require is C(not_required). It is shown, it never counts as passed, and it keeps nothing from
    running.
  - Writes C(validation.json) and a file with all that was printed for each result, in O(result_dir).
notes:
  - Runs on the controller and connects to nothing.
  - Every validation writes a record of its own, so the task is always changed, in check mode too. The callback
    P(aiready.vsphere.record#callback) does not count it as a change of the site.
attributes:
  check_mode:
    description: Can say what it would change without changing anything.
    support: full
    details: Judges and writes nothing.
  diff_mode:
    description: Returns what changes, before and after, when run with C(--diff).
    support: none
    details: What it writes is a result.
  platform:
    description: Where the module itself runs. It needs Python 3.8 or newer, and nothing else.
    support: full
    platforms: posix
options:
  intent:
    description:
      - What the site wants, as the filter P(aiready.vsphere.site_validation#filter) tells it in C(intent). It holds the
        guests, the data path, the speed of its adapters, the MTU, GPUs and what is left out with which reason.
    type: dict
    required: true
  guests:
    description:
      - For each guest the results of M(aiready.vsphere.guest_health_info) as C(before) and C(after) the timed runs.
    type: dict
    default: {}
  pairs:
    description:
      - The result of M(aiready.vsphere.pair_test).
    type: dict
    default: {}
  agreement:
    description:
      - The result of M(aiready.vsphere.roce_agreement_info), or a dictionary with C(why) where there is nothing to
        compare.
    type: dict
    default: {}
  switches:
    description:
      - Lists of RV(aiready.vsphere.roce_qos_info#module:switch), read C(before) and C(after) the timed runs.
    type: dict
    default: {}
  host_ports:
    description:
      - RV(aiready.vsphere.esxi_roce_info#module:hosts), for the picture of the site.
    type: list
    elements: dict
    default: []
  runs:
    description:
      - Results of M(aiready.vsphere.training_run), each with C(check) (V(cluster.hostname), V(pair.mpi_lat),
        V(pair.mpi_bw), V(cluster.mpi_allreduce), V(cluster.nccl) or V(cluster.training)), C(variant) such as V(2:rdma),
        C(guests) and C(run). Of a pair the first guest is the one that sends.
    type: list
    elements: dict
    default: []
  places:
    description:
      - For each guest the ESXi host (C(host)), its C(gpu), the adapter of the host (C(nic)) and its C(address).
    type: dict
    default: {}
  thresholds:
    description:
      - Marks that differ from the usual ones, by check. Each has C(low) and C(high), which fail, and C(warn_low) and
        C(warn_high), which warn, and C(share) with V(line) where they are shares of the adapter's speed.
      - C(baseline), C(spread) and C(outliers) say how far figures may lie from earlier ones, and from each other.
    type: dict
    default: {}
  baseline:
    description:
      - File of the controller with figures of earlier runs, to compare with. It is written where it is missing. Left
        out, nothing is compared.
    type: path
  keep:
    description:
      - Which figures go into the baseline. V(missing) takes those that it has not, V(better) also better ones, and
        V(replace) all that passed.
    type: str
    choices: [missing, better, replace]
    default: missing
  simulated:
    description:
      - Parts of the site that are simulated, in a lab or a rehearsal. Each result that rests on one of them is marked,
        and so are versions, restarts, changes and the parts of the topology.
      - V(rdma) and V(gpu) are the adapters and GPUs of the guests. With V(network), the guests share one machine, so
        that nothing between them crosses a wire. With V(guests), they are containers in place of virtual machines.
        V(vcenter), V(hosts) and V(switches) are vCenter, the ESXi hosts and the switches.
    type: list
    elements: str
    choices: [rdma, gpu, network, guests, vcenter, hosts, switches]
    default: []
  notes:
    description:
      - Remarks by check that a reader of its results has to know. Each row of the check has them in C(notes).
    type: dict
    default: {}
  relaxed:
    description:
      - Settings that are less strict than the defaults, as the filter P(aiready.vsphere.site_validation#filter) lists
        them. Each row that one concerns has it in C(relaxed).
    type: list
    elements: dict
    default: []
    suboptions:
      setting:
        description: The setting, such as C(site.guests.limits.memlock).
        type: str
        required: true
      value:
        description: Its value.
        type: str
        required: true
      strict:
        description: The value of the default, or what it requires.
        type: str
        required: true
      means:
        description: What follows from it, in one sentence.
        type: str
        required: true
      checks:
        description: The checks that it concerns.
        type: list
        elements: str
        default: []
      stages:
        description: The stages that it concerns.
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
      - When the run began, in UTC as V(2026-03-01T08:15:30Z). Left out, now.
    type: str
  result_dir:
    description:
      - Folder for the results of this run.
    type: path
    required: true
seealso:
  - module: aiready.vsphere.guest_health_info
  - module: aiready.vsphere.pair_test
  - module: aiready.vsphere.training_run
  - module: aiready.vsphere.validation_report
    description: Makes a page of it.
"""

EXAMPLES = r"""
- name: Judge what was measured between two guests
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

- name: Say what came of it
  ansible.builtin.debug:
    msg: "{{ judged.validation.verdict.sentence }}"
"""

RETURN = r"""
validation:
  description: The verdict, and where everything else is.
  returned: success
  type: dict
  contains:
    path:
      description: The file C(validation.json), which has all rungs.
      type: str
      returned: always
      sample: results/acceptance/validation.json
    verdict:
      description:
        - C(state) is V(pass), V(warn), V(fail), or V(incomplete) where something that was wanted did not run.
          C(sentence) says it, and C(counts) has how many rungs there are of each kind.
      type: dict
      returned: always
      sample:
        state: pass
        sentence: All 12 checks passed.
        counts: {pass: 12, not_required: 0, warn: 0, fail: 0, skipped: 0, not_run: 0, all: 12, simulated: 0}
    not_right:
      description:
        - The rungs that failed, warned or did not run, each with C(id), C(verdict), C(why), C(cause) and C(evidence).
      type: list
      elements: dict
      returned: always
      sample:
        - id: pair.ping_mtu train-01 > train-02
          verdict: fail
          why: Packets of 1500 bytes arrive and those of 9000 are lost without a word.
          cause: the MTU on the way between train-01 and train-02
          evidence: evidence/pair.ping_mtu.train-01.train-02.txt
    causes:
      description:
        - What it comes from, as far as it can be known. Each has a C(code), the C(place) and what is there as C(text),
          and in C(rows) the C(id) of each rung that goes back to it.
      type: list
      elements: dict
      returned: always
      sample:
        - code: mtu_local
          text: ens224 of train-02 (esx-02 vmnic2, leaf-01 Ethernet2)
          place: train-02
          rows: [guest.mtu train-02]
    simulated:
      description: Titles of the checks that rest on simulated parts.
      type: list
      elements: str
      returned: always
      sample: []
    baseline:
      description: Whether figures were added to the baseline.
      type: bool
      returned: always
      sample: false
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
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
TOLD = ("id", "verdict", "why", "cause", "evidence")


def check_params(params: Mapping[str, Any]) -> list[str]:
    """All that is wrong with the parameters, as sentences."""
    problems = thresholds.problems(params["thresholds"])
    if not params["intent"].get("guests"):
        problems.append("intent: it names no guests.")
    return problems


def answer(made: Mapping[str, Any], path: str, kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """The result of the task."""
    return {
        "path": path,
        "verdict": made["verdict"],
        "not_right": [
            {key: row[key] for key in TOLD} for row in made["rungs"] if row["verdict"] in ("fail", "warn", "not_run")
        ],
        "causes": made["causes"],
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
