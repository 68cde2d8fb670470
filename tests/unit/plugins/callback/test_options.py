"""What the page for users says of options, and what counts where the plugin has none, is what the plugins document."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.callback import stages

from house.collection import ROOT, constants, documentation

PAGE = (ROOT / "docs" / "stages.md").read_text()
FOLDERS = yaml.safe_load(constants(ROOT / "plugins" / "doc_fragments" / "run_record.py")["DOCUMENTATION"])["options"]
OPTIONS = {**documentation(ROOT / "plugins" / "callback" / "stages.py")["options"], **FOLDERS}


def test_the_options_that_count_alone_are_those_that_are_documented():
    alone = {name: (option["env"][0]["name"], option.get("default")) for name, option in OPTIONS.items()}
    assert alone == stages._ALONE


@pytest.mark.parametrize("name", OPTIONS)
def test_the_page_names_each_option_as_it_is_set(name):
    (env,), (ini,) = OPTIONS[name]["env"], OPTIONS[name]["ini"]
    assert ini["section"] == "aiready_vsphere"
    assert f"| `{ini['key']}` | `{env['name']}` |" in PAGE


@pytest.mark.parametrize("plugin", ["stages", "record"])
def test_a_callback_is_named_as_it_is_enabled(plugin):
    said = documentation(ROOT / "plugins" / "callback" / f"{plugin}.py")
    assert said["name"] == plugin
    assert "aiready.vsphere.run_record" in said["extends_documentation_fragment"]
    assert f"aiready.vsphere.{plugin}" in PAGE
