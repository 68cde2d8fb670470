"""The table of unconfirmed facts in docs/compatibility.md, made from tests/data/unsure.yml.

`python tests/house/unsure.py` writes it. Each mark in the code belongs to a row, and each row names the line of a page
on which the user meets the mark.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from house.collection import parsed

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "data" / "unsure.yml"
PAGE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- unsure: made by tests/house/unsure.py -->", "<!-- end of unsure -->"
# Recipes, templates and playbooks have marks too; pages have those that users meet.
SHIPPED = ("plugins", "roles", "playbooks", "inventories", "extensions")
# `[unsure: why]`, a string such as "unsure: MMIO ...", and sentences with `is unsure` or `an unsure one`.
MARK = re.compile(r"\[unsure\b|\"unsure: |\bis unsure\b|\ban unsure one\b")


def rows() -> list[dict]:
    return parsed(FILE.read_text())


def marks() -> dict[str, int]:
    """{file: marks} of the code."""
    files = [file for folder in SHIPPED for file in (ROOT / folder).rglob("*") if file.is_file()]
    texts = [file for file in files if file.suffix not in (".md", ".pyc")]
    found = {str(file.relative_to(ROOT)): len(MARK.findall(file.read_text(errors="ignore"))) for file in texts}
    return {name: number for name, number in sorted(found.items()) if number}


def listed() -> dict[str, int]:
    """{file: marks} of the rows."""
    total: Counter[str] = Counter()
    for row in rows():
        total.update(row["code"])
    return dict(sorted(total.items()))


def lines(page: str) -> list[str]:
    """The paragraphs, items and table rows of a page, each in one line."""
    text = (ROOT / page).read_text()
    return [" ".join(one.split()) for one in re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\||\d+\. ))", text)]


def met(row: dict) -> bool:
    """Whether the page has the mark where it has the words."""
    return any(row["words"] in line and re.search(r"\bunsure\b", line) for line in lines(row["page"]))


def table() -> str:
    found = ["| Fact | Replaced by | Page |", "|---|---|---|"]
    for row in rows():
        page = Path(row["page"]).name
        link = "this page" if page == PAGE.name else f"[{page}]({page})"
        found.append(f"| {row['fact']} | {row['override']} | {link} |")
    return "\n".join(found)


def page() -> str:
    """The page as it should be."""
    before, _begin, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
