"""Problems of a report in a browser. `python -m browser.seen FOLDER` checks the report of any run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from browser import chromium

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
# Boxes beyond the edge of the page that cannot be scrolled.
WIDE = """
[...document.querySelectorAll("main *, header *")].filter(one =>
  one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  && !one.closest(".scroll, pre, svg")).map(one => one.outerHTML.slice(0, 80))
"""
# Texts of drawings that leave their boxes or overlap. The box of a letter is a little larger than its ink.
OVERLAPS = """
[...document.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width).flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")].filter(one => one.textContent.trim());
  const boxes = texts.map(one => one.getBoundingClientRect());
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b, j) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && down > 4) found.push(`${texts[i].textContent} / ${texts[i + j + 1].textContent}`);
  }));
  svg.querySelectorAll("g > rect.box").forEach(rect => {
    const edge = rect.getBoundingClientRect().right;
    rect.parentNode.querySelectorAll("text").forEach(one => {
      if (one.getBoundingClientRect().right > edge) found.push(`${one.textContent} out of its box`);
    });
  });
  return found;
})
"""


def at(made, pointer):
    """The value at a JSON pointer of report.json."""
    for token in pointer.split("/")[1:]:
        made = made[int(token)] if isinstance(made, list) else made[token.replace("~1", "/").replace("~0", "~")]
    return made


def wrong(page, folder, width) -> list[str]:
    """Problems of a page: requests, messages of the browser, parts that do not fit."""
    own = (Path(folder) / "report.html").resolve().as_uri()
    # The page contains the pictures of matrices.
    asked = [url for url in page.requests if not url.startswith("data:image/png;")]
    found = [] if asked == [own] else [f"it asked for {[url[:120] for url in asked]}"]
    found += [f"the browser says: {text}" for text in page.complaints]
    if page.ask("document.documentElement.scrollWidth") != width:
        found.append("it is wider than the screen")
    found += [f"too wide: {one}" for one in page.ask(WIDE)]
    found += [f"overlap: {one}" for one in page.ask(OVERLAPS)]
    for plot in page.ask(PLOTS):
        if plot["width"] <= 250 or plot["height"] <= 120 or plot["parts"] <= 8:
            found.append(f"poorly drawn: {plot}")
    return found


def differing(page, made) -> list[str]:
    """Numbers of the page that differ from those of report.json at their JSON pointer."""
    return [
        f"{pointer}: {exact}, shown as {shown!r}"
        for pointer, exact, shown in page.ask(FIGURES)
        if exact != at(made, pointer) or not shown
    ]


def look(folder, browser) -> dict[str, list[str]]:
    """{view: problems} of the report in a folder, with `numbers` that differ."""
    folder = Path(folder).resolve()
    made = json.loads((folder / "report.json").read_text())
    reported = {}
    for how, view in VIEWS.items():
        page = browser.page((folder / "report.html").as_uri(), **view)
        reported[how] = wrong(page, folder, view["width"])
        if how == "desk":
            reported["numbers"] = differing(page, made)
        page.close()
    return reported


def problems(folder, say, install=False) -> list[str]:
    """Problems of the report in a folder; raises chromium.NoBrowser without a browser."""
    browser = chromium.Browser(chromium.have(say, install))
    try:
        reported = look(folder, browser)
    finally:
        browser.close()
    return [f"{how}: {one}" for how, found in reported.items() for one in found]


if __name__ == "__main__":
    wrongs = problems(sys.argv[1], print)
    print(*wrongs or ["The report has no problem."], sep="\n")
    sys.exit(1 if wrongs else 0)
