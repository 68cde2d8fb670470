#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: validation_report
short_description: Make the report of a run, as a page, as data and as a summary
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Writes C(report.html), C(report.json) and C(report.md) into the results folder of a run, from what the validation
    and the stages recorded there.
  - The page is one file that needs no network. It has the verdict, what was found and changed, every check with its
    evidence, plots, the topology, versions and restarts. Everything that it shows is in C(report.json) too.
  - Each result that rests on a simulated part is marked. A run with simulated parts is reported as a rehearsal and
    never as a verdict on hardware.
  - Settings that are less strict than the defaults are listed, and named in the rows and stages that they concern.
  - The verdict is the worse of what was recorded and of what the checks say. What was not measured has not passed.
  - Runs on the controller. It asks no host anything.
requirements:
  - Matplotlib 3.7 or newer where Ansible runs, for plots. See O(plots).
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  diff_mode:
    details: Size and checksum of each file, before and after.
  platform:
    description: Where the results are, which is where Ansible runs.
    support: full
    platforms: posix
options:
  results:
    description:
      - The folder of the run, with C(validation.json), C(stages.json), or both. The report is written into it.
      - A run that did not come to its validation gets a report of its stages, whose verdict is V(fail) or
        V(incomplete).
    type: path
    required: true
  compare_with:
    description:
      - The folder of an earlier run, as the one before an upgrade. The report then also tells what changed between the
        two. Nothing is written there.
    type: path
  plots:
    description:
      - Whether plots are drawn. V(auto) draws them where Matplotlib is installed, and puts tables in their place where
        it is not, with a warning. V(required) fails without it.
    type: str
    choices: [auto, required, none]
    default: auto
notes:
  - The same results give the same bytes, since the report holds no time of its making. So a second run changes nothing.
    Another release of Matplotlib may draw otherwise.
  - A few lines of the evidence of checks that failed or warned are part of the report, without values that sound like
    secrets.
seealso:
  - module: aiready.vsphere.validation_result
    description: Writes C(validation.json).
  - plugin: aiready.vsphere.record
    plugin_type: callback
    description: Writes C(stages.json).
"""

EXAMPLES = r"""
- name: Make the report of a run
  aiready.vsphere.validation_report:
    results: results/after-upgrade

- name: Compare two runs
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Make a report that tells what the upgrade changed
      aiready.vsphere.validation_report:
        results: results/after-upgrade
        compare_with: results/before-upgrade
      register: made

    - name: Say where it is
      ansible.builtin.debug:
        msg: "{{ made.report.after.title }}: {{ made.report.after.files['report.html'] }}"

- name: Insist on plots
  aiready.vsphere.validation_report:
    results: results/after-upgrade
    plots: required
"""

RETURN = r"""
report:
  description: What the report says, and where it is.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: The results folder.
      type: str
      returned: always
      sample: results/after-upgrade
    changed:
      description: Whether a file was written, or would be in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: The files of a report that were there. Empty where the results could not be read.
      type: dict
      returned: always
      sample:
        files: {}
    after:
      description: The report. In check mode, the one that would be written.
      type: dict
      returned: always
      contains:
        files:
          description: Path of each file.
          type: dict
          returned: success
        state:
          description: The verdict, one of V(pass), V(warn), V(fail) and V(incomplete).
          type: str
          returned: success
        title:
          description: The verdict as the page says it.
          type: str
          returned: success
        sentence:
          description: What it comes from.
          type: str
          returned: success
        rehearsal:
          description: Whether something was simulated, so that nothing is said about hardware.
          type: bool
          returned: success
        counts:
          description: How many checks have each verdict.
          type: dict
          returned: success
        plots:
          description: How many plots were drawn.
          type: int
          returned: success
      sample:
        files:
          report.html: results/after-upgrade/report.html
          report.json: results/after-upgrade/report.json
          report.md: results/after-upgrade/report.md
        state: pass
        title: Passed in a rehearsal
        sentence: All 90 checks passed on 4 nodes.
        rehearsal: true
        counts: {fail: 0, warn: 0, not_run: 0, skipped: 1, not_required: 2, pass: 90}
        plots: 7
    changes:
      description: What was written, or would be in check mode, one entry per file.
      type: list
      elements: dict
      returned: always
      sample:
        - path: report.html
          before: null
          after: 286720 bytes, sha256 4c1d5a0e6b9f2a37
          needs: null
    pending:
      description: Always empty; a report waits for nothing.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the report could not be made. The verdict of a run is no failure of its report.
      type: bool
      returned: always
      sample: false
    msg:
      description: Why it could not be made, and what to do. Empty when it was.
      type: str
      returned: always
      sample: ""
    failure:
      description: The reason for machines, with a stable C(code). Empty when it was made.
      type: dict
      returned: always
      sample: {}
failure:
  description: Why the task failed, with a stable C(code) and what else is known.
  returned: failure
  type: dict
  sample: {code: no_results}
"""
