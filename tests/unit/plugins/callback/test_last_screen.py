# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A run ends with the last screen, below the statistics of Ansible."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.callback import stages

from unit.plugins.plugin_utils.run.events import course, stage_plays


@pytest.mark.parametrize("names, last", [(["hosts"], "hosts   not begun"), ([None], None)], ids=["stage", "no stage"])
def test_a_run_with_stages_ends_with_the_last_screen(monkeypatch, names, last):
    said = []
    run = course()
    run.playbook_begins(stage_plays(*names))
    run.ends(set())
    callback = stages.CallbackModule()
    callback._watch = SimpleNamespace(stop=lambda: None, say=lambda text, _kind: said.append(text))
    callback._listener = SimpleNamespace(course=run, ends=lambda stats: None)
    monkeypatch.setattr(stages.Default, "v2_playbook_on_stats", lambda _self, stats: said.append(stats))
    callback.v2_playbook_on_stats("statistics of Ansible")
    assert said[:2] == ["statistics of Ansible", *([last] if last else [])]
