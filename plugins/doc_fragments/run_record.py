# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the results of runs lie, as callback plugins take it; what it means stands in plugin_utils/run/record.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  run_folder:
    description:
      - Folder of this run, for a run that consists of several calls of C(ansible-playbook). Each adds to the record
        that is there.
      - Left out, the variable C(aiready_run_folder) counts, wherever it is set, also by M(ansible.builtin.set_fact)
        while the run goes on. Without one, each call of C(ansible-playbook) has a folder of its own below O(results),
        named by the time.
    type: str
    env:
      - name: AIREADY_RUN_FOLDER
    ini:
      - section: aiready_vsphere
        key: run_folder
  results:
    description:
      - Folder with the folders of all runs of a site.
      - Left out, the variable C(aiready_results) counts, then C(validation.result_dir) of the site, then
        C(training.result_dir), then C(~/aiready/results).
    type: str
    env:
      - name: AIREADY_RESULTS
    ini:
      - section: aiready_vsphere
        key: results
"""
