#!/usr/bin/python
# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: validation_report
short_description: Render the report of a validation run as HTML, JSON and Markdown
version_added: 0.1.0
author:
  - The aiready.vsphere authors (@aiready)
description:
  - Writes C(report.html), C(report.json) and C(report.md) into the results folder of a run. The sources are the records
    of the validation and of the stages in that folder.
  - The page is one file that needs no network. It has the verdict, all changes, every check with its evidence, plots,
    the topology, versions and restarts. C(report.json) contains everything that the page shows.
  - The report labels each result that depends on a simulated part. It reports a run with simulated parts as a rehearsal
    and never as a verdict on hardware.
  - Lists settings that are less strict than the defaults. The affected rows and stages name these settings.
  - The verdict is the worse of the recorded verdict and the result of the checks. A missing measurement never passes.
  - Runs on the controller and connects to no host.
requirements:
  - Matplotlib 3.7 or newer on the machine that runs Ansible, for plots. See O(plots).
extends_documentation_fragment:
  - aiready.vsphere.attributes.on_controller
attributes:
  diff_mode:
    details: Shows size and checksum of each file, before and after.
  platform:
    description: The machine that runs Ansible and holds the results.
    support: full
    platforms: posix
options:
  results:
    description:
      - Path of the folder of the run, with C(validation.json), C(stages.json), or both. The module writes the report
        into it.
      - A run that stopped before its validation gets a report of its stages, with the verdict V(fail) or
        V(incomplete).
    type: path
    required: true
  compare_with:
    description:
      - Path of the folder of an earlier run, such as the one before an upgrade. The report then also lists the
        differences between the two runs. The module only reads this folder.
    type: path
  plots:
    description:
      - Whether to draw plots. V(auto) draws them if Matplotlib is installed. Without Matplotlib, it warns and uses
        tables instead. V(required) fails without Matplotlib. V(none) draws no plots.
    type: str
    choices: [auto, required, none]
    default: auto
notes:
  - The module is idempotent. The report contains no creation time, so the same results give the same bytes. Another
    release of Matplotlib may produce other bytes.
  - The report contains a few lines of evidence for checks that failed or warned. Values that look like secrets are
    removed.
seealso:
  - module: aiready.vsphere.validation_result
    description: Writes C(validation.json).
  - plugin: aiready.vsphere.record
    plugin_type: callback
    description: Writes C(stages.json).
"""

EXAMPLES = r"""
- name: Render the report of a run
  aiready.vsphere.validation_report:
    results: results/after-upgrade

- name: Compare two runs
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Render a report with the changes of the upgrade
      aiready.vsphere.validation_report:
        results: results/after-upgrade
        compare_with: results/before-upgrade
      register: made

    - name: Show the path of the report
      ansible.builtin.debug:
        msg: "{{ made.report.after.title }}: {{ made.report.after.files['report.html'] }}"

- name: Require plots in the report
  aiready.vsphere.validation_report:
    results: results/after-upgrade
    plots: required
"""

RETURN = r"""
report:
  description: Content and paths of the report.
  returned: unless the parameters are wrong
  type: dict
  contains:
    name:
      description: The results folder.
      type: str
      returned: always
      sample: results/after-upgrade
    changed:
      description: Whether the module wrote a file, or would write one in check mode.
      type: bool
      returned: always
      sample: true
    before:
      description: Files of the existing report. Empty if the results could not be read.
      type: dict
      returned: always
      sample:
        files: {}
    after:
      description: The new report. In check mode, the one that would be written.
      type: dict
      returned: always
      contains:
        files:
          description: Path of each file.
          type: dict
          returned: success
        state:
          description: Verdict, one of V(pass), V(warn), V(fail) and V(incomplete).
          type: str
          returned: success
        title:
          description: Title of the verdict on the page.
          type: str
          returned: success
        sentence:
          description: Reason for the verdict.
          type: str
          returned: success
        rehearsal:
          description: Whether a part was simulated. The report then makes no statement about hardware.
          type: bool
          returned: success
        counts:
          description: Number of checks with each verdict.
          type: dict
          returned: success
        plots:
          description: Number of plots in the page.
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
      description: Files that were written, or would be in check mode, one entry per file.
      type: list
      elements: dict
      returned: always
      sample:
        - path: report.html
          before: null
          after: 286720 bytes, sha256 4c1d5a0e6b9f2a37
          needs: null
    pending:
      description: Always empty, because no change is pending.
      type: list
      elements: dict
      returned: always
      sample: []
    failed:
      description: Whether the module failed to render the report. A bad verdict of the run is not such a failure.
      type: bool
      returned: always
      sample: false
    msg:
      description: Failure, cause and fix. Empty on success.
      type: str
      returned: always
      sample: ""
    failure:
      description: Machine-readable cause with a stable C(code). Empty on success.
      type: dict
      returned: always
      sample: {}
failure:
  description: Machine-readable cause of the task failure, with a stable C(code) and further details.
  returned: failure
  type: dict
  sample: {code: no_results}
"""
