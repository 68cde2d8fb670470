"""A browser for all tests of this level, and reports of runs that are made once."""

from __future__ import annotations

import json
import os

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.noun import ValidationReport

from browser import broken, chromium, runs

REQUIRED = "AIREADY_BROWSER"  # required: a browser is installed where it can be, and tests without one fail
# Where pictures of the reports are left, for people to look at; a test's own folder otherwise.
PICTURES = "AIREADY_PICTURES"


class Written(Exception):
    """The module has left, and all is well."""


class Module:
    """What the runner needs of a module."""

    check_mode = _diff = False

    def exit_json(self, **answer):
        raise Written

    def fail_json(self, **answer):
        raise AssertionError(answer["msg"])


@pytest.fixture(scope="session")
def browser(pytestconfig):
    required = os.environ.get(REQUIRED) == "required"
    try:
        # Where it has to be installed first, people see how that goes.
        with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            path = chromium.have(print, install=required)
    except chromium.NoBrowser as problem:
        if required:
            raise
        pytest.skip(f"no browser: {problem}")
    found = chromium.Browser(path)
    yield found
    found.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """report(name): a results folder with its report, and the report's data."""
    top = tmp_path_factory.mktemp("reports")
    made = {}

    def of(name):
        if name not in made:
            made[name] = _make(top, name)
        return made[name]

    return of


def _make(top, name):
    earlier = None
    if name == "compared":
        old = runs.perfect(4, fake=True, line=88.0, step=1.08)
        earlier = str(runs.write(top / "before", old, runs.results(old, step=1.08)))
    if name in ("mixed", "compared"):
        run, told = runs.mixed()
    elif name == "cut-off":
        run, told = broken.cut_off()
    elif name == "fallback":
        run, told = broken.fell_back()
    else:
        run = runs.perfect({"perfect": 4, "large": 64}[name])
        told = runs.results(run)
    folder = runs.write(top / name, run, told)
    params = {"results": str(folder), "compare_with": earlier, "plots": "required"}
    item = Item(str(folder), params, {"name": str(folder)})
    with pytest.raises(Written):
        runner.run(Module(), ValidationReport(params, None), [item], "report", single=True)
    return folder, json.loads((folder / "report.json").read_text())


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    return os.environ.get(PICTURES) or tmp_path_factory.mktemp("pictures")
