# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the results of runs lie, as callback plugins take it; its meaning is in plugin_utils/run/record.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  run_folder:
    description:
      - Folder of this run, for a run that consists of several calls of C(ansible-playbook). Each call adds to the
        existing record.
      - Defaults to the variable C(aiready_run_folder). Any source can set it, also M(ansible.builtin.set_fact) during
        the run. Without both, each call of C(ansible-playbook) gets a folder of its own under O(results). Its name is
        the time of the call.
    type: str
    env:
      - name: AIREADY_RUN_FOLDER
    ini:
      - section: aiready_vsphere
        key: run_folder
  results:
    description:
      - Folder with the folders of all runs of a site.
      - Defaults to the first of these that is set, C(aiready_results) (a variable), C(validation.result_dir) of the
        site, C(training.result_dir), C(~/aiready/results).
    type: str
    env:
      - name: AIREADY_RESULTS
    ini:
      - section: aiready_vsphere
        key: results
"""
