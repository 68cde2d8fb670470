"""The report as people see it: in a real browser, on a phone, on a desk, in the dark and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest

REPORTS = ["mixed", "perfect", "compared", "large"]
VIEWS = {
    "phone": {"width": 390, "mobile": True},
    "desk": {"width": 1280},
    "dark": {"width": 1280, "dark": True},
}
PLOTS = """
[...document.querySelectorAll("svg.plot")].map(svg => {
  const box = svg.getBoundingClientRect();
  const drawn = [...svg.querySelectorAll("path, use, image")].filter(part => part.getBoundingClientRect().width > 0);
  return {name: svg.getAttribute("aria-labelledby"), width: box.width, height: box.height, parts: drawn.length};
})
"""
FIGURES = """
[...document.querySelectorAll("data")].map(one => [one.dataset.at, Number(one.value), one.textContent])
"""
# Boxes that stand out of the page although they cannot be scrolled within it.
WIDE = """
[...document.querySelectorAll("main *, header *")].filter(one =>
  one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  && !one.closest(".scroll, pre, svg")).map(one => one.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="session")
def view(browser, report):
    """view(name, how): a loaded page."""
    open_pages = []

    def look(name, how):
        for page in open_pages:
            page.close()
        folder, _data = report(name)
        open_pages[:] = [browser.page(f"file://{folder}/report.html", **VIEWS[how])]
        return open_pages[0]

    return look


def at(made, pointer):
    for token in pointer.split("/")[1:]:
        made = made[int(token)] if isinstance(made, list) else made[token.replace("~1", "/").replace("~0", "~")]
    return made


@pytest.mark.parametrize("how", VIEWS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_drawn_without_a_request_and_fits_its_screen(view, report, pictures, name, how):
    page = view(name, how)
    page.screenshot(Path(pictures) / f"{name}-{how}.png")
    # Pictures of matrices are part of the page.
    assert [url[:40] for url in page.requests if not url.startswith(("file:", "data:image/png;"))] == []
    assert [url for url in page.requests if url.startswith("file:")] == [f"file://{report(name)[0]}/report.html"]
    assert page.complaints == []
    assert page.ask("document.documentElement.scrollWidth") == VIEWS[how]["width"]
    assert page.ask(WIDE) == []
    plots = page.ask(PLOTS)
    assert len(plots) == 7 + (name == "compared")
    for plot in plots:
        assert plot["width"] > 250, plot
        assert plot["height"] > 120, plot
        assert plot["parts"] > 8, plot


@pytest.mark.parametrize("name", REPORTS)
def test_the_numbers_that_are_seen_are_those_of_the_data(view, report, name):
    figures = view(name, "desk").ask(FIGURES)
    made = report(name)[1]
    assert len(figures) > 100
    for pointer, exact, shown in figures:
        assert exact == at(made, pointer), pointer
        assert shown


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
