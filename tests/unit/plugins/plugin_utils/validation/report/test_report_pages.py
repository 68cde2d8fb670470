# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import copy
import re
from functools import cache
from html.parser import HTMLParser

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import numbers
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages

from browser import broken, runs

EVIL = "<script>alert(1)</script>\"'&{{ 7*7 }}|`*_"
CSS = (pages.TEMPLATES / "report.css").read_text()
VOID = {"meta", "link", "br", "hr", "img", "input"}
# What makes a browser fetch something.
LOADS = {"src", "srcset", "data", "action", "poster", "background", "formaction", "ping", "manifest"}


class Page(HTMLParser):
    """The parts of a page that tests look at."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words, self.figures, self._figure = [], [], [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "data":
            self._figure = dict(attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._figure = None

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)
        if self._figure is not None:
            self.figures.append((self._figure["data-at"], self._figure["value"], data))

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


# Words that are of a list of words, and names of files.
WORDS = {"verdict", "layer", "state", "transport", "evidence", "unit", "began", "ended"}


def evil(value):
    """The same with an evil end of every text."""
    if isinstance(value, dict):
        return {key: entry if key in WORDS and isinstance(entry, str) else evil(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [evil(entry) for entry in value]
    return f"{value}{EVIL}" if isinstance(value, str) else value


def mixed(change=lambda reported: reported, earlier=None):
    run, reported = runs.mixed()
    stages = {"stages": runs.stages(run), "reboots": {"esx-01.example.com": 1}}
    sources = [{"file": "validation.json", "bytes": 7, "sha256": "00"}]
    return document(change(reported), stages, run.evidence.get, sources, earlier)


@cache
def plain():
    return pages.html(mixed(), {}, "")


def at(made, pointer):
    for token in pointer.split("/")[1:]:
        made = made[int(token)] if isinstance(made, list) else made[token.replace("~1", "/").replace("~0", "~")]
    return made


def compared():
    before = runs.perfect(4, fake=True, line=80.0, step=1.1)
    return mixed(earlier=document(runs.results(before, step=1.1), None))


@pytest.mark.parametrize("made", [mixed(), compared(), document({}, None)], ids=["mixed", "compared", "nothing"])
def test_every_number_of_the_page_is_the_one_of_the_data_at_the_place_that_it_names(made):
    figures = Page(pages.html(made, {}, "none")).figures
    assert (len(figures) > 100) is bool(made["ladder"])
    for pointer, exact, shown in figures:
        value = at(made, pointer)
        assert float(exact) == value, pointer
        assert {shown} <= {numbers.figure(value), numbers.percent(value), numbers.duration(value)}, pointer


REFERENCES = [
    {"row": "cluster.training 2:rdma", "measured": 2960.0, "unit": "img/s", "expected": 2951.6, "percent": 100.3}
    | {"source": "NCHC", "mark": "sure", "why": ""},
    {"row": "cluster.nccl rdma", "measured": 10.5, "unit": "GB/s", "expected": None, "percent": None}
    | {"source": "", "mark": "", "why": "the table has no row for NVIDIA L40S"},
]


def test_figures_are_beside_their_references_or_without_one():
    def compared_with(reported):
        return evil(dict(reported, references=REFERENCES * 30))

    made = mixed(compared_with)
    page, summary = (
        Page(pages.html(made, {}, "")),
        pages.markdown(mixed(lambda reported: dict(reported, references=REFERENCES))),
    )
    assert page.open == []
    assert page.text.count("no reference") == 20
    assert "20 more are in" in page.text
    assert {"/references/0/measured", "/references/0/expected", "/references/0/percent"} <= {
        one[0] for one in page.figures
    }
    assert all(float(exact) == at(made, pointer) for pointer, exact, _shown in page.figures)
    assert "| cluster.training 2:rdma | 2,960 img/s | 2,952 img/s | 100.3 % | NCHC (sure) |" in summary
    assert "| cluster.nccl rdma | 10.5 GB/s | no reference |  | the table has no row for NVIDIA L40S |" in summary
    assert "Reference figures" not in pages.markdown(mixed())


def test_a_number_that_is_not_in_the_data_cannot_be_shown_as_one_that_is():
    with pytest.raises(AttributeError):
        pages._number(1 + 1, numbers.figure)


def test_the_page_is_sound_and_loads_nothing():
    page = Page(pages.html(compared(), {}, ""))
    assert page.open == []
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert not {tag for tag, _attrs in page.tags} & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for tag, attrs in page.tags:
        assert not LOADS & set(attrs), tag
        assert not [name for name in attrs if name.startswith("on")]
        assert re.match(r"(#|evidence/)", attrs.get("href", "#")), attrs
    assert "url(" not in CSS
    assert "@import" not in CSS


def test_ids_are_there_once_and_links_lead_to_them():
    page = Page(pages.html(compared(), {}, ""))
    ids = [attrs["id"] for _tag, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for _tag, attrs in page.tags if attrs.get("href", "").startswith("#")} <= set(ids)
    for _tag, attrs in page.tags:
        assert set(attrs.get("aria-labelledby", "").split()) <= set(ids)


def test_tables_have_headers_with_a_scope_and_drawings_a_title_and_a_description():
    page = Page(plain())
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in page.tags if tag == "th")
    names = [tag for tag, _attrs in page.tags]
    assert names.count("svg") == 2
    assert {"title", "desc"} <= set(names)
    assert all(attrs.get("role") == "img" for tag, attrs in page.tags if tag == "svg")


def test_texts_of_others_are_shown_and_never_become_marks():
    text = pages.html(mixed(evil), {}, "")
    page = Page(text)
    assert "<script" not in text
    assert "{{ 7*7 }}" in text
    assert EVIL in "".join(page.words)
    assert {tag for tag, _attrs in page.tags} == {tag for tag, _attrs in Page(plain()).tags}


def test_texts_of_others_stay_texts_in_the_summary():
    plain, hostile = (pages.markdown(mixed(change)) for change in (lambda reported: reported, evil))
    assert not re.search(r"(?<!\\)<", hostile)
    assert hostile.count("\n") == plain.count("\n")
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in hostile.splitlines()] == [
        len(re.findall(r"(?<!\\)\|", line)) for line in plain.splitlines()
    ]


def test_a_line_break_in_a_text_does_not_break_a_table_of_the_summary():
    def broken(reported):
        reported["checks"][0]["title"] = "two\nlines | and a cell"
        return reported

    assert r"| two lines \| and a cell (simulated) |" in pages.markdown(mixed(broken))


@pytest.mark.parametrize(
    "place,leads",
    [
        ("evidence/a b.txt", "evidence/a%20b.txt"),
        ("../outside.txt", None),
        ("/etc/passwd", None),
        ("https://example.com/x", None),
        ("javascript:alert(1)", None),
        ("evidence/../../x", None),
    ],
)
def test_a_file_of_evidence_is_linked_only_when_it_lies_in_the_folder(place, leads):
    def moved(reported):
        reported["checks"][0]["evidence"] = place
        return reported

    page = Page(pages.html(mixed(moved), {}, ""))
    assert place in page.text
    links = [attrs["href"] for _tag, attrs in page.tags if attrs.get("href", "#")[0] != "#"]
    assert (leads in links) is (leads is not None)
    assert len(links) == len([row for row in runs.mixed()[1]["checks"] if row["evidence"]]) + (leads is not None)


def test_whatever_is_simulated_is_marked_in_its_row_and_the_rest_is_not():
    page, made = plain(), mixed()
    for layer in made["ladder"]:
        for check in layer["checks"]:
            for row in check["rows"]:
                (found,) = re.findall(rf'<tr id="{row["anchor"]}".*?</tr>', page, re.S)
                assert ('class="sim"' in found) is row["simulated"], row["id"]


def test_a_rehearsal_that_passed_is_not_called_passed_alone():
    run = runs.perfect(2, fake=True)
    page = Page(pages.html(document(runs.results(run), None), {}, ""))
    assert "Passed in a rehearsal" in page.text
    assert "It proves nothing about the speed or the health of real hardware." in page.text


def test_a_run_on_real_devices_has_no_mark_but_the_one_that_is_explained():
    run = runs.perfect(2)
    page = pages.html(document(runs.results(run), None), {}, "")
    assert page.count('class="sim"') == 1
    assert "rehears" not in Page(page).text


@pytest.mark.parametrize("nodes", [64])
def test_a_run_of_many_nodes_stays_a_page_that_a_browser_likes(nodes):
    run = runs.perfect(nodes)
    text = pages.html(document(runs.results(run), {"stages": runs.stages(run)}), {}, "")
    assert len(text) < 1_500_000
    page = Page(text)
    assert "4032 passed, not required or skipped are in report.json" in page.text
    assert len([attrs for tag, attrs in page.tags if tag == "tr"]) < 1500


def test_a_report_of_nothing_says_that_nothing_is_known():
    text = Page(pages.html(document({}, None), {}, "")).text
    assert "No check was recorded." in text
    assert "Not recorded: checks, trainings, the topology" in text


def test_the_page_says_why_there_are_tables_in_place_of_plots():
    assert "tables instead of plots. Matplotlib is away." in Page(pages.html(mixed(), {}, "Matplotlib is away.")).text
    assert "tables instead of plots" not in Page(plain()).text


def test_data_is_not_changed_by_showing_it():
    made = mixed()
    kept = copy.deepcopy(made)
    pages.html(made, {}, "")
    pages.markdown(made)
    assert made == kept


def shades(block):
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))


LIGHT = shades(CSS[: CSS.index("@media screen and")])
DARK = {**LIGHT, **shades(CSS[CSS.index("@media screen and") : CSS.index("* { box-sizing")])}


def brightness(colour):
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    "ink,paper",
    [
        *((ink, paper) for ink in ("ink", "muted", "accent") for paper in ("page", "panel")),
        *((verdict, paper) for verdict in ("pass", "warn", "fail", "idle") for paper in ("page", f"{verdict}-soft")),
        ("first", "page"),
        ("second", "page"),
        *(("muted", f"{verdict}-soft") for verdict in ("pass", "warn", "fail", "idle")),
    ],
)
def test_words_can_be_read_on_their_ground(theme, ink, paper):
    light, dark = sorted((brightness(theme[ink]), brightness(theme[paper])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_objects_that_were_changed_alike_stand_together_and_each_is_named():
    page = Page(plain()).text
    assert "esx-01.example.com, esx-02.example.com, esx-03.example.com, esx-04.example.com 3 changes each" in page
    many = document(None, {"stages": runs.stages(runs.Run(20, fake=False))})
    text = Page(pages.html(many, {}, "")).text
    assert "esx-08.example.com and 12 more" in text
    assert "esx-20.example.com." in text


def test_what_could_not_run_because_of_others_is_reported_once_on_top_and_folded_in_the_ladder():
    run, reported = broken.cut_off()
    made = document(reported, None)
    text = pages.html(made, {}, "")
    words = Page(text).text
    assert len(made["verdict"]["not_right"]) == 1
    assert "This prevented 28 other checks." in words
    assert re.findall(r'<details class="check v-not_run" open', text) == []
    assert text.count('<tr id="row-') == len(run.rows)


@pytest.mark.parametrize(
    "command,version,words",
    [
        (["ib_write_bw", "-F"], "6.06", "ib_write_bw 6.06"),
        (["/usr/bin/ping", "-c", "4"], "", "ping"),
        (["nvidia-smi", "-q"], "nvidia-smi 550.90.07", "nvidia-smi 550.90.07"),
        ([], "", "Evidence"),
    ],
)
def test_what_measured_a_row_is_said_in_a_few_words(command, version, words):
    assert pages._how({"command": command, "version": version}) == words
