# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Outputs of switches in a capture: replaced words, refused commands, and the file that several sources share."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import captured
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import NoLogin, Refused, Session

CONFIG = """hostname leaf-01
qos profile finance
   priority-flow-control priority 3 no-drop
interface Ethernet1
   description to the ledger
   mtu 9214
   service-profile finance
"""


def text(table=None, keep_names=False, stays=()):
    return SwitchText(Scrubber(table or Table(bytes(32)), keep_names), stays, ["show version"])


@pytest.mark.parametrize(
    "line",
    [
        "   priority-flow-control priority 3 no-drop",
        "interface Ethernet1/1-2, swp1s0, xe-0/0/1, vmnic2",
        "Software image version: 4.30.1F",
        "OS Version: 10.5.2.3",
        "class type queuing c-out-8q-q3",
        "rxPfcFrames 0 100G 25% 0x1f oid:0x1000000000002",
        "127.0.0.1 255.255.255.0",
    ],
)
def test_words_of_switches_stay(line):
    assert text().output(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "ledger",
        "10.77.1.9:22",
        "http://10.77.1.9/x",
        "2001:db8::1-x",
        "0c42.a1be.0042",
        "0c42a1be0042",
        "JPE12345678",
        "a1b2c3d4",
        "übung",
    ],
)
def test_every_other_word_is_replaced(line):
    made = text().output(f"mtu {line} up")
    assert line not in made
    assert made.startswith("mtu ")
    assert made.endswith(" up")


@pytest.mark.parametrize(
    "line", ["username ops password 7 0822", "snmp-server community ledger", "Serial Number: 1", "ntp server ledger"]
)
def test_lines_with_secrets_are_dropped_and_the_table_does_not_learn_them(line):
    table = Table(bytes(32))
    for keep_names in (False, True):
        assert text(table, keep_names).output(f"mtu 9214\n{line}\nmtu 1500") == "mtu 9214\n\nmtu 1500"
    assert table.names == {}


def test_fields_of_json_are_dropped_by_their_names():
    given = {"password": "x1", "mtu": 9214, "description": "to the ledger", "users": {"ops": 1}, "modelName": "DCS-1"}
    made = json.loads(text(stays=["DCS-1"]).output(json.dumps(given)))
    assert made == {"password": "", "mtu": 9214, "description": "removed", "users": {}, "modelName": "DCS-1"}


def test_a_name_has_one_pseudonym_in_all_sources():
    table = Table(bytes(32))
    table.learn("host", "esx-07.example.com")
    assert text(table).output("esx-07 esx-07.example.com vmnic2") == "host-001 host-001 vmnic2"
    words = [text(table).output(word) for word in ("finance", "ledger", "finance")]
    assert words == ["word-001", "word-002", "word-001"]


class Line(Session):
    """A switch that answers one command."""

    name = "leaf-01"

    def __init__(self, trouble):
        self.trouble = trouble

    def run(self, command, answers=()):
        if command.startswith("show running-config |"):
            return CONFIG
        raise self.trouble(command, "no view of ledger")


def taken(dest, trouble=Refused, keep_names=False):
    platform = platform_of("eos", None)
    outputs = captured.read(platform, Line(trouble))
    return add.add(
        str(dest),
        keep_names,
        lambda table: captured.addition(platform, "leaf-01", ["leaf-01", "leaf-02"], outputs, table, keep_names),
    )


def test_a_refused_command_is_in_the_coverage_without_texts_of_the_site(tmp_path):
    made = taken(tmp_path / "a.zip")
    found = Capture(str(tmp_path / "a.zip"))
    config = found.files["snapshot/configs/switch-001.cfg"].decode()
    assert config.startswith("hostname switch-001\nqos profile word-001\n")
    assert "   description removed\n" in config
    assert not found.is_read("switch switch-001/02-show-version-json")
    assert made.coverage["switch switch-001/02-show-version-json"]["refused"] == {"": "no word-002 of word-003"}


def test_a_lost_switch_is_in_the_coverage(tmp_path):
    taken(tmp_path / "a.zip", NoLogin)
    one = Capture(str(tmp_path / "a.zip")).manifest["coverage"]["switch switch-001"]
    assert (one["answered"], one["refused"]) == (False, {"": "NoLogin"})


def test_a_switch_replaces_its_own_files_and_leaves_those_of_others(tmp_path):
    taken(tmp_path / "a.zip", NoLogin)
    first = Capture(str(tmp_path / "a.zip"))
    add.add(str(tmp_path / "a.zip"), False, lambda table: add.Addition("other", ("other/",), {"other/a.txt": "1"}))
    taken(tmp_path / "a.zip")
    found = Capture(str(tmp_path / "a.zip"))
    assert "switch switch-001" not in found.manifest["coverage"]
    assert found.files["other/a.txt"] == b"1"
    assert first.files.keys() <= found.files.keys()
    assert sorted(found.manifest["added"]) == ["other", "switch switch-001"]


def test_sources_with_and_without_names_are_not_mixed(tmp_path):
    taken(tmp_path / "a.zip")
    with pytest.raises(OperatorError) as error:
        taken(tmp_path / "a.zip", keep_names=True)
    assert error.value.code == "capture_not_written"


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(OperatorError) as error:
        taken(tmp_path / "none" / "a.zip")
    assert error.value.code == "capture_not_written"


def test_an_output_that_is_too_large_is_refused_and_hides_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(captured, "LARGEST", 2 * len(CONFIG))

    class Long(Session):
        def run(self, command):
            return "x" * 10_000 if command == "show interfaces | json" else CONFIG

    platform = platform_of("eos", None)
    outputs = captured.read(platform, Long())
    assert outputs.refused == {"show interfaces | json": "too_large"}
    made = captured.addition(platform, "leaf-01", [], outputs, Table(bytes(32)), False)
    assert {str(one["refused"]) for one in made.coverage.values()} == {"{}", "{'': 'too_large'}"}
