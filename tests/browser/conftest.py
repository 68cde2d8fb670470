"""One browser for all tests of this level, and reports that are rendered once."""

from __future__ import annotations

import json
import os

import pytest

from browser import chromium, making

REQUIRED = "AIREADY_BROWSER"  # required: a missing browser is installed, and tests without one fail
# Folder of the screenshots for people; the folder of the test otherwise.
PICTURES = "AIREADY_PICTURES"


@pytest.fixture(scope="session")
def browser(pytestconfig):
    required = os.environ.get(REQUIRED) == "required"
    try:
        # The output of an installation is visible.
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
            folder = making.make(top, name)
            made[name] = folder, json.loads((folder / "report.json").read_text())
        return made[name]

    return of


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    return os.environ.get(PICTURES) or tmp_path_factory.mktemp("pictures")
