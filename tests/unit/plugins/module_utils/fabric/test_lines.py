# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.onyx import settings as onyx_settings
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.os10 import text as os10_text

DEEP = """
! a comment
interface Ethernet1
   mtu 9214
   !
   tx-queue 3
      no priority
qos  trust  dscp
"""


@pytest.mark.parametrize("offset", ["", "    "], ids=["flush", "pasted with an offset"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_configuration_is_a_tree_however_it_is_indented(offset, end):
    root = lines.tree(end.join(offset + line for line in DEEP.split("\n")))
    port = root.get("interface Ethernet1")
    assert [child.text for child in root.children] == ["interface Ethernet1", "qos trust dscp"]
    assert [child.text for child in port.children] == ["mtu 9214", "tx-queue 3"]
    assert [(len(above), line.text) for above, line in port.walk()] == [
        (0, "mtu 9214"),
        (0, "tx-queue 3"),
        (1, "no priority"),
    ]
    assert port.rest("mtu") == ["9214"]
    assert root.has("qos trust dscp")
    assert not root.has("qos trust")
    assert root.get("interface Ethernet") is None, "names that only begin alike are others"


def test_a_staircase_of_lines_does_not_exceed_what_python_can_call():
    root = lines.tree("\n".join(" " * depth + f"line {depth}" for depth in range(2000)))
    assert [line.text for _above, line in root.walk()] == [f"line {depth}" for depth in range(2000)]
    assert root.render().count("line") == 2000
    assert max(len(above) for above, _line in root.walk()) == lines.DEEPEST - 1


@pytest.mark.parametrize("title", ["\x1b]", "\x1b]0;x"])
def test_titles_without_end_take_little_time(title):
    began = time.process_time()
    assert lines.without_terminal(title * 20_000 + "\x07mtu") == title * 19_999 + "mtu"
    assert time.process_time() - began < 1


@pytest.mark.parametrize("platform, first", [("nxos", "Ethernet1/1"), ("os10", "ethernet1/1/1"), ("onyx", "1/1")])
def test_a_range_of_ports_has_an_end(platform, first):
    names = {
        "nxos": lines.ports,
        "os10": os10_text.port_names,
        "onyx": lambda text: onyx_settings.ports_of("ethernet", text),
    }[platform](f"{first}-99999")
    assert len(names) == lines.MOST_PORTS + 1


@pytest.mark.parametrize(
    "text, kept",
    [
        ("leaf-1# show running-config\nmtu 1\nleaf-1#", ["mtu 1"]),
        ("leaf-1(config-if-Et1)#show x\nmtu 1", ["mtu 1"]),
        ("mtu 1\n --More-- \r        \rmtu 2\n", ["mtu 1", "mtu 2"]),
        ("a\x1b[2Kb", ["ab"]),
    ],
    ids=["prompts", "prompt of a mode", "a pager", "escapes"],
)
def test_what_a_terminal_adds_is_left_out(text, kept):
    assert [line.strip() for line in lines.cleaned(text) if line.strip()] == kept


@pytest.mark.parametrize(
    "text, found",
    [("{}", {}), ('sw# show x | json\n{"a": 1}\nsw#', {"a": 1}), ("no json", None), ("{broken", None), (None, None)],
)
def test_json_is_found_behind_an_echo(text, found):
    assert lines.from_json(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ("3", [3]),
        ("0-2 5", [0, 1, 2, 5]),
        ("24,26, 48", [24, 26, 48]),
        ("af31 cs6 ef", [26, 46, 48]),
        ("", []),
        (None, []),
    ],
)
def test_numbers_of_lists_ranges_and_names(text, found):
    assert lines.numbers(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ("Ethernet1", ["Ethernet1"]),
        ("Ethernet1/1-3", ["Ethernet1/1", "Ethernet1/2", "Ethernet1/3"]),
        ("Ethernet 1/1-1/2, 1/9", ["Ethernet1/1", "Ethernet1/2", "Ethernet1/9"]),
        ("Ethernet1/1/1-2", ["Ethernet1/1/1", "Ethernet1/1/2"]),
        ("mgmt0", ["mgmt0"]),
    ],
)
def test_ports_of_ranges(text, found):
    assert lines.ports(text) == found


def test_one_row_of_json_may_come_without_its_list():
    assert lines.rows({"a": 1}) == [{"a": 1}]
    assert lines.rows([1]) == [1]
    assert lines.rows(None) == []


@pytest.mark.parametrize(
    "text, reported",
    [
        ("\r\n      ^\r\n% Invalid input (at token 2: 'x')\r\nleaf-01#", "% Invalid input (at token 2: 'x')"),
        (
            "% Unavailable command (not supported on this hardware platform)",
            "% Unavailable command (not supported on this hardware platform)",
        ),
        ("hostname a\n", None),
        ("", None),
        ("% 10 of memory is used\n" + "line\n" * 9, None),
    ],
)
def test_complaints_are_no_outputs(text, reported):
    assert lines.complaint(text) == reported


def test_a_place_of_json_is_a_table_or_nothing():
    assert lines.part({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert [lines.part(tree, "a", "b") for tree in ({"a": 3}, {"a": {"b": None}}, [], None)] == [{}, {}, {}, {}]


def test_numbers_in_names_count_as_numbers():
    names = ["Eth1/10", "Eth1/2", "swp3s10", "Eth1/1", "swp3s2", "10", "9", "Po1", ""]
    ordered = ["", "9", "10", "Eth1/1", "Eth1/2", "Eth1/10", "Po1", "swp3s2", "swp3s10"]
    assert sorted(names, key=lines.natural) == ordered
    assert lines.natural("Eth1/10") == ["Eth", 1, "/", 10, ""]
