# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The table in the guide is the table that the code uses."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.function_map import MAPS, OFF, ON, WORDS

ROOT = Path(__file__).parents[6]
GUIDE = ROOT / "docs" / "bios.md"


def cell(function, word):
    """What one make does for one word; settings that not every BIOS has stand in brackets."""
    reported = []
    for setting in function.settings:
        if word in setting.values:
            names = " or ".join(f"`{name}`" for name in setting.names)
            values = setting.values[word]
            # The guide says once that boards spell these in several ways.
            shown = values[:1] if values in (ON, OFF) else values
            text = f"{names} = {' or '.join(f'`{value}`' for value in shown)}"
            reported.append(text if setting.needed else f"({text})")
    return "<br>".join(reported) + ("" if function.sure else " *[unsure]*")


def table():
    """The rows of the guide."""
    return [
        f"| `{name}: {word}` | " + " | ".join(cell(MAPS[vendor][name], word) for vendor in MAPS) + " |"
        for name, words in WORDS.items()
        for word in words
    ]


def test_the_guide_lists_the_attributes_of_every_function():
    written = [line for line in GUIDE.read_text().splitlines() if line.startswith("| `") and ": " in line[:30]]
    assert written == table()
