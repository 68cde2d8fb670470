"""The page and the summary of a run without a validation."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.run import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import run_pages

from .test_report_hostile import ACTS, HOSTILE, LEADS, Seen, named

CHANGE = {"object": "esx-01", "what": "mtu", "before": 1500, "after": 9000, "task": "Set the MTU", "needs": "reboot"}
FAILURE = {"object": "leaf-01", "task": "Set QoS", "msg": "leaf-01: no. Mend it.", "codes": ["qos_rejected"]}
LATER = {"object": "job-01", "what": ["host", "devices"], "after": "machines", "why": "it does not run yet"}
STAGES = [
    {"name": "hosts", "began": "2026-03-01T08:00:00Z", "seconds": 60, "state": "ok", "changes": [CHANGE]},
    {"name": "fabric", "state": "failed", "failures": [FAILURE], "changes": []},
    {"name": "machines", "state": "ok", "check_mode": True, "changes": [dict(CHANGE, what="cpus", before=None)]},
    {"name": "guests", "state": "ok", "check_mode": True, "changes": [], "decided_later": [LATER]},
]
RECORD = {
    "format": 1,
    "began": "2026-03-01T08:00:00Z",
    "ended": "2026-03-01T08:02:00Z",
    "stages": STAGES,
    "reboots": {"esx-01": 1},
    "pending": [{"stage": "hosts", "object": "esx-02", "what": "bios.Sriov", "needs": "cold_power_cycle"}],
    "failures": [{"object": "localhost", "task": "Check the names", "msg": ""}],
    "simulated_parts": ["hosts"],
}


def explained(code):
    return f"docs/failure_codes.md#{code}"


class Page(HTMLParser):
    """The texts of a page and its tags."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def page(record):
    return run_pages.html(document(record), explained)


def summary(record):
    return run_pages.markdown(document(record), explained)


def words(record):
    """The texts of both, without marks."""
    shown = Page(page(record))
    return [" ".join(" ".join(shown.texts).split()), summary(record).replace("\\", "")]


FACTS = (
    "Failed in fabric",
    "leaf-01: no. Mend it.",
    "docs/failure_codes.md#qos_rejected",
    "Check the names",
    "1500",
    "9000",
    "effective after reboot",
    "esx-02",
    "bios.Sriov",
    "cold power cycle",
    "host, devices",
    "it does not run yet",
    "What a run would change",
    "1 planned",
    "the ESXi hosts",
)


@pytest.mark.parametrize("fact", FACTS)
def test_page_and_summary_show(fact):
    for text in words(RECORD):
        assert fact in text


def test_dry_run_says_that_nothing_was_changed():
    for text in words(dict(RECORD, stages=STAGES[2:], failures=[])):
        assert "Nothing was changed. This run was in check mode." in text
        assert "Changed to" not in text


def test_run_without_changes_says_so():
    for text in words({"stages": [dict(STAGES[0], changes=[])]}):
        assert "Nothing was changed." in text
        assert "No setting waits for a restart" in text
        assert "check mode" not in text


def test_code_can_be_searched_in_the_summary():
    assert "`qos_rejected` (`docs/failure_codes.md#qos_rejected`)" in summary(RECORD)


def test_page_loads_nothing_and_has_no_script():
    shown = Page(page(RECORD))
    assert {"script", "img", "link", "iframe", "svg"} & set(shown.tags) == set()
    assert "default-src 'none'" in page(RECORD)
    assert "://" not in page(RECORD)


@pytest.mark.parametrize("end", HOSTILE.values(), ids=HOSTILE)
def test_hostile_values_are_shown_and_do_nothing(end):
    plain = dict(RECORD, simulated_parts=[])  # words of a list
    record = named(plain, end)
    record["stages"] = [dict(stage, name=f"{stage['name']}{end}") for stage in record["stages"]]
    text, short = page(record), summary(record)
    assert Page(text).tags == Page(page(plain)).tags
    assert Seen(text).acts == []
    assert [bad for bad in (ACTS.search(text), ACTS.search(short), LEADS.search(short)) if bad] == []
    # No row of a table ends early or gets another cell.
    assert _cells(short) == _cells(summary(plain))


def _cells(text):
    return [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]


def test_long_lists_end_with_the_number_of_the_rest():
    many = [dict(FAILURE, object=f"leaf-{number}") for number in range(run_pages.ROWS + 7)]
    for text in words({"stages": [dict(STAGES[1], failures=many)]}):
        assert "7 more are in stages.json" in text.replace(" .", ".")
        assert f"leaf-{run_pages.ROWS}" not in text
