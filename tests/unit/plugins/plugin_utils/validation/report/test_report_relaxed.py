"""Settings that are less strict than the defaults: in a section of the report, and in the rows that they concern."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages

from browser import runs

from .test_report_pages import Page


def relaxed_section(change=lambda reported: reported):
    run = runs.perfect(2, fake=True)
    made = document(change(runs.results(run)), None)
    return [Page(pages.html(made, {}, "")).text, pages.markdown(made)]


def test_relaxed_settings_have_a_section_of_their_own_and_stand_in_their_rows():
    page, summary = relaxed_section()
    for text in (page, summary.replace("\\", "")):
        assert "Relaxed settings" in text
        assert "site.guests.limits.memlock" in text
        assert "ansible_host_key_checking: false (leaf-01, leaf-02)" in text
        assert "A container cannot raise its limit." in text
    assert page.count("The validation does not require an unlimited memlock limit, which RDMA needs.") == 1 + 2
    # On top, and above the table.
    assert page.count("2 settings are less strict than the default") == 2


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda reported: {**reported, "relaxed": []}, "None. Each setting is at least as strict as its default."),
        (
            lambda reported: {key: reported[key] for key in reported if key != "relaxed"},
            "Relaxed settings were not recorded.",
        ),
    ],
)
def test_a_report_without_relaxed_settings_says_so(change, words):
    for text in relaxed_section(change):
        assert words in text
        assert "less strict" not in text
