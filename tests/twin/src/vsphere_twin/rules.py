"""The rules of the twin as data, and the tables of docs/rules.md: `python -m vsphere_twin.rules` writes them.

Prose between the tables stays in the page. data/rules.yml has the rules of the tables, data/calibration.yml has those
that a capture of a real site can confirm or refute.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import resources
from pathlib import Path

import yaml

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
COMMAND = "python -m vsphere_twin.rules"
_BLOCK = re.compile(r"(<!-- rules: (?P<name>[\w-]+) -->\n).*?(<!-- end of rules -->)", re.DOTALL)
CALIBRATION = "calibration"


def tables():
    """The tables of rules by name, each a list of rules with id, rule, source, mark and sometimes rejection."""
    return _data("rules.yml")["tables"]


def checks():
    """The rules that a capture can confirm or refute, in the order of their numbers."""
    return _data("calibration.yml")["checks"]


@cache
def by_id():
    """Each rule of the tables by its id."""
    return {rule["id"]: rule for rules in tables().values() for rule in rules}


def mark_of(rule):
    """How certain a rule is by its texts: sure, partly (a part is marked as unsure) or unsure."""
    source = rule["source"].replace("*", "").strip()
    if re.fullmatch(r"\[unsure[^\]]*\]", source):
        return "unsure"
    texts = (rule["rule"], rule.get("rejection", ""), source)
    return "partly" if any("[unsure" in text for text in texts) else "sure"


def written(page):
    """The page with the tables of the data."""
    found = tables()

    def table(block):
        name = block["name"]
        lines = _calibration() if name == CALIBRATION else _rules(found[name])
        return block[1] + "\n" + "\n".join(lines) + "\n\n" + block[3]

    return _BLOCK.sub(table, page)


def named(page):
    """The tables that the page has."""
    return [block["name"] for block in _BLOCK.finditer(page)]


def _rules(rules):
    rejections = any("rejection" in rule for rule in rules)
    columns = ["id", "rule", *(["rejection"] if rejections else []), "source"]
    return _table(columns, [[rule.get(column, "") for column in columns] for rule in rules])


def _calibration():
    rows = [
        [
            str(one["number"]),
            f"`{one['id']}`",
            one["rule"],
            ", ".join(one["rules"]) or "none",
            one["evidence"].replace("|", "\\|"),
            one["twin"] + (f": {one['note']}" if one.get("note") else ""),
            "; ".join(_calibrated(found) for found in one["calibrations"]) or "none",
        ]
        for one in checks()
    ]
    return _table(["#", "id", "rule", "rows above", "evidence", "in the twin", "calibrations"], rows)


def _calibrated(found):
    word = "to" if found["result"] == "fitted" else "by"
    return f"{found['result']} {word} {found['capture']} ({found['release']})"


def _table(columns, rows):
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return [*lines, *("| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows)]


def _data(name):
    return yaml.safe_load(resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    sys.exit(0)
