"""Render all pictures of docs/pictures: a report in a browser, and the terminal of two runs on the twin."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from browser import chromium, making

from . import runs, terminal

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
WIDTH, COLUMNS = 1120, 140


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        report(FOLDER / "report.png")
        output = runs.preflight()
        command = f"ansible-playbook -i inventories/lab {runs.PREFLIGHT}"
        written(FOLDER / "preflight.svg", command, terminal.excerpt(output, runs.of_preflight(output)))
        output = runs.rehearsal()
        command = "make rehearse STAGES=infrastructure"
        written(FOLDER / "rehearsal.svg", command, terminal.excerpt(output, runs.of_rehearsal(output)))
    except (chromium.NoBrowser, runs.NoOutput) as failure:
        print(failure, file=sys.stderr)
        return 1
    for path in sorted(FOLDER.iterdir()):
        print(f"{path}: {path.stat().st_size} bytes")
    return 0


def report(path: Path) -> None:
    """The top of the report of a run in which everything passed and all parts are simulated."""
    browser = chromium.Browser(chromium.have(print))
    try:
        with tempfile.TemporaryDirectory(prefix="pictures-") as top:
            folder = making.make(Path(top), "rehearsal")
            page = browser.page((folder / "report.html").as_uri(), WIDTH)
            height = page.ask('document.querySelector("header").getBoundingClientRect().bottom')
            page.screenshot(path, {"x": 0, "y": 0, "width": WIDTH, "height": height})
            page.close()
    finally:
        browser.close()


def written(path: Path, command: str, lines: list[str]) -> None:
    path.write_text(terminal.svg(command, lines, COLUMNS, f"Terminal with the output of {command}"), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
