# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix, names

GUIDE = (Path(__file__).parents[6] / "docs" / "driver.md").read_text(encoding="utf-8")


def table(name):
    """The rows of a marked table of the guide, as lists of cells."""
    block = GUIDE.split(f"<!-- {name} -->\n")[1].split("<!-- end -->")[0]
    lines = [line for line in block.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def families():
    return [
        [
            f"`{prefix.text}`",
            names.FAMILIES[prefix.family],
            f"`{prefix.family}`",
            "yes" if prefix.sure else "by habit",
        ]
        for prefix in names.PREFIXES
    ]


def branches():
    long_term = {(True, True): "yes", (True, False): "yes, uncertain"}
    return [
        [
            f"R{branch.number}",
            str(branch.major),
            long_term.get((branch.long_term, branch.sure), "no"),
            ", ".join(f"R{number}" for number in matrix.guest_branches(f"{branch.number}.1")),
        ]
        for branch in matrix.BRANCHES
    ]


def releases():
    return [
        [
            release.name,
            release.host,
            release.guest,
            "sure" if release.sure else "unsure",
            "yes" if release.seen_on_esxi else "",
            release.nvaie,
        ]
        for release in matrix.RELEASES
    ]


@pytest.mark.parametrize(
    "name, rows",
    [("families", families), ("branches", branches), ("releases", releases)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_the_tables_of_the_guide_are_the_data_of_the_modules(name, rows):
    assert table(name) == rows()
