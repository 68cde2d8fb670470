"""A report is made whatever names guests, hosts, switches and images have."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.evidence import masked
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.reading import recorded
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, gallery, pages

from browser import runs

# What decides how a row is drawn.
WORDS = {"verdict", "layer", "state", "transport", "evidence", "unit", "began", "ended", "check"}
HOSTILE = {
    "control characters": "\x00\x07\x1b[31m\x1b]0;x\x07\x9b2J\r\u202e\ud800",
    "5,000 characters": "x" * 5000,
    "5,000 words": " x" * 2500,
    "tags": "</script><script>alert(1)</script>",
    "attributes": '" onmouseover="alert(1)" x=\'" onload=\'alert(1)\'',
    "a drawing that acts": "</text></svg><svg onload=alert(1)><a href='javascript:alert(1)'>",
    "links of Markdown": "](javascript:alert(1)) ![x](http://example.org/x.png) <http://example.org> |x|\n# x",
    "comments and templates": "<!-- {{ 7 * 7 }} {% raw %} ]]> ${7*7} &lt;script&gt;",
    "a hyperlink of a terminal": "\x1b]8;;http://evil.example.org\x07x\x1b]8;;\x07\u2066\u200f",
}
# In Markdown, what begins a link, an image, an address or a row of a table.
LEADS = re.compile(r"(?<!\\)\]\((?:javascript|http)|(?<!\\)!\[x|(?<!\\)<http")
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")


class Seen(HTMLParser):
    """Attributes of a page that act or load something."""

    def __init__(self, page):
        super().__init__()
        self.acts = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            leads = name in ("href", "src", "xlink:href", "action") and re.match(
                r"\s*(javascript|https?):", value or ""
            )
            if name.startswith("on") or leads:
                self.acts.append((tag, name, value))


def named(value, end):
    if isinstance(value, dict):
        return {
            (key if key.islower() else f"{key}{end}"): one if key in WORDS and isinstance(one, str) else named(one, end)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [named(one, end) for one in value]
    return f"{value}{end}" if isinstance(value, str) else value


@pytest.mark.parametrize("end", HOSTILE.values(), ids=HOSTILE)
def test_a_report_of_hostile_names_is_made_whole(end):
    run, reported = runs.mixed()
    stages = {"stages": runs.stages(run), "reboots": {"esx-01.example.com": 1}}
    texts = {"validation.json": json.dumps(named(reported, end)), "stages.json": json.dumps(named(stages, end))}
    made = document(*recorded("run", texts), run.evidence.get)
    with canvas.ready():
        drawings = gallery.drawings(made)
    page, summary = pages.html(made, drawings, ""), pages.markdown(made)
    assert len(drawings) >= 5
    assert page.encode()
    assert "<script>alert" not in page + summary
    assert Seen(page).acts == []
    assert not LEADS.search(summary)
    assert not ACTS.search(page + summary + json.dumps(made, ensure_ascii=False))


def test_names_that_are_cut_stay_different():
    rows = {"checks": [{"subject": {"guest": "x" * 5000 + end}, "check": "guest.kernel"} for end in "ab"]}
    found, _stages = recorded("run", {"validation.json": json.dumps(rows)})
    first, second = (row["subject"]["guest"] for row in found["checks"])
    assert first != second
    assert len(first) == len(second) == 160


@pytest.mark.parametrize("word", ["x" * 200_000, "-." * 100_000, "://" * 60_000, "=" * 200_000, "a:" * 100_000])
def test_looking_for_secrets_ends_in_every_line(word):
    assert masked(word) == word
    assert masked(f"my_password=hunter2 {word[:3000]}").startswith("my_password=[not shown]")
