"""The report as people see it: in a real browser, on a phone, on a desk, in the dark and on paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from browser.seen import FIGURES, PLOTS, VIEWS, differing, look, wrong

REPORTS = ["mixed", "perfect", "compared", "cut-off", "fallback", "large"]


@pytest.fixture(scope="session")
def view(browser, report):
    """view(name, how): a loaded page."""
    open_pages = []

    def look(name, how):
        for page in open_pages:
            page.close()
        folder, _data = report(name)
        open_pages[:] = [browser.page((folder / "report.html").as_uri(), **VIEWS[how])]
        return open_pages[0]

    return look


@pytest.mark.parametrize("how", VIEWS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_drawn_without_a_request_and_fits_its_screen(view, report, pictures, name, how):
    page = view(name, how)
    page.screenshot(Path(pictures) / f"{name}-{how}.png")
    assert wrong(page, report(name)[0], VIEWS[how]["width"]) == []
    # Of trainings on one node alone there is no plot of how they scale.
    assert len(page.ask(PLOTS)) == {"compared": 8, "cut-off": 5}.get(name, 7)


@pytest.mark.parametrize("name", REPORTS)
def test_the_numbers_that_are_seen_are_those_of_the_data(view, report, name):
    page = view(name, "desk")
    assert len(page.ask(FIGURES)) > 100
    assert differing(page, report(name)[1]) == []


def test_what_is_wrong_with_a_report_is_seen(browser, report, tmp_path):
    folder, made = report("perfect")
    added = '<img src="x.png"><p style="width: 2000px">wide</p></main>'
    text = (folder / "report.html").read_text().replace("</main>", added).replace("img-src data:", "img-src *")
    (tmp_path / "report.html").write_text(text.replace(">10.20.0.11<", f">{'W' * 40}<"))
    (tmp_path / "report.json").write_text(json.dumps({**made, "reboots_count": 7}))
    reported = look(tmp_path, browser)
    for how in ("phone", "desk", "dark"):
        assert "x.png" in reported[how][0]
        assert any(one.startswith("too wide: <p") for one in reported[how])
        assert any(one.endswith("W out of its box") for one in reported[how])
    assert [one[:15] for one in reported["numbers"]] == ["/reboots_count:"]


def test_the_verdict_is_the_first_thing_that_is_seen(view):
    page = view("mixed", "phone")
    assert page.ask('document.querySelector("h1").innerText.trim().split("\\n").pop()') == "Failed in a rehearsal"
    assert page.ask('document.querySelector("h1").getBoundingClientRect().bottom') < 300
    assert page.ask('document.querySelector(".claim").getBoundingClientRect().bottom') < 844


@pytest.mark.parametrize("how,shown", [("phone", "narrow"), ("desk", "wide")])
def test_the_topology_has_a_form_for_the_screen(view, how, shown):
    page = view("mixed", how)
    seen = page.ask(
        '[...document.querySelectorAll("figure.drawing")].filter(one => one.offsetWidth).map(one => one.className)'
    )
    assert seen == [f"drawing {shown}"]
    small = page.ask("""
    Math.min(...[...document.querySelectorAll("figure.drawing text")].filter(one => one.getBoundingClientRect().width)
      .map(one => one.getBoundingClientRect().height))""")
    assert small > 9


def test_words_in_plots_can_be_read_on_a_phone(view):
    page = view("mixed", "phone")
    least = page.ask("""
    Math.min(...[...document.querySelectorAll("svg.plot text")].map(one => one.getBoundingClientRect().height))""")
    assert least > 9


def test_the_dark_changes_the_ground_of_page_and_plots_and_nothing_is_black_on_black(view):
    page = view("mixed", "dark")
    assert page.ask("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    inks = page.ask("""
    [...new Set([...document.querySelectorAll("svg.plot text")]
      .map(one => getComputedStyle(one).fill + (one.closest('[id*="matrix"]') ? " matrix" : "")))]""")
    assert not [ink for ink in inks if ink.startswith("rgb(0, 0, 0)") and "matrix" not in ink]


def test_a_link_to_what_is_not_right_leads_to_a_row_that_is_open(view):
    page = view("mixed", "desk")
    page.ask('document.querySelector(".problems a").click()')
    assert page.ask('document.querySelector(":target").offsetHeight') > 0


def test_nothing_runs_in_the_page_even_if_a_text_tried_to(view):
    assert view("mixed", "desk").ask('document.querySelectorAll("script, iframe, object, embed, link").length') == 0


@pytest.mark.parametrize("name", ["mixed", "large"])
def test_it_can_be_printed(view, pictures, name):
    path = Path(pictures) / f"{name}.pdf"
    view(name, "desk").pdf(path)
    printed = path.read_bytes()
    assert printed.startswith(b"%PDF-")
    assert 3 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 40
