"""One result in every form: text, JSON, XML, CSV, key=value, and the XML of vCenter."""

from __future__ import annotations

import csv
import json
from xml.etree import ElementTree

import pytest

from vsphere_twin.esxcli import soap, text
from vsphere_twin.esxcli.command import BOOL, HEX, INT, Argument, Command, Refused, Rows, Single, Structure, table

CARD = Structure(
    "Card",
    ("Name", "Vendor ID", "Number of VMs", "Is Used", "Tags"),
    types={"Vendor ID": HEX, "Number of VMs": INT, "Is Used": BOOL},
    lists=("Tags",),
    hidden=("Address",),
    header="<Address>",
)
ENTRY = {
    "Name": "a <b>",
    "Vendor ID": 0x10DE,
    "Number of VMs": 2,
    "Is Used": True,
    "Tags": ["x", "y"],
    "Address": "0:1",
}
COMMAND = Command("card.list", "", (), None)
NAMESPACE = "{urn:vim25}"


def test_text_shows_labels_and_hides_what_is_for_programs():
    assert text.show(Rows(CARD, [ENTRY])) == (
        "0:1\n   Name: a <b>\n   Vendor ID: 0x10de\n   Number of VMs: 2\n   Is Used: true\n   Tags: x, y\n"
    )


def test_tables_have_a_header_and_aligned_columns():
    lines = text.show(Rows(CARD, [ENTRY], table=True)).splitlines()
    assert lines[0] == "Name   Vendor ID  Number of VMs  Is Used  Tags"
    assert lines[1] == "-----  ---------  -------------  -------  ----"
    assert lines[2].split() == ["a", "<b>", "0x10de", "2", "true", "x,", "y"]


def test_structured_forms_have_all_fields_under_names_without_blanks():
    (row,) = json.loads(text.show(Rows(CARD, [ENTRY]), "json"))
    assert row == {
        "Address": "0:1",
        "IsUsed": True,
        "Name": "a <b>",
        "NumberofVMs": 2,
        "Tags": ["x", "y"],
        "VendorID": 0x10DE,
    }


def test_csv_has_a_header_and_a_row():
    header, row = csv.reader(text.show(Rows(CARD, [ENTRY]), "csv").splitlines())
    assert dict(zip(header, row, strict=True))["Tags"] == "x, y"


def test_xml_and_key_value_carry_types():
    root = ElementTree.fromstring(text.show(Single(CARD, ENTRY), "xml").encode())
    kinds = {field.get("name"): field[0].tag.rpartition("}")[2] for field in root.iter() if field.get("name")}
    assert kinds == {
        "Address": "string",
        "IsUsed": "boolean",
        "Name": "string",
        "NumberofVMs": "integer",
        "Tags": "list",
        "VendorID": "integer",
    }
    assert "Card[0].NumberofVMs.integer=2\n" in text.show(Rows(CARD, [ENTRY]), "keyvalue")


def test_vcenter_gets_one_element_per_field_and_list_item():
    root = ElementTree.fromstring(soap.write(COMMAND, Rows(CARD, [ENTRY])))
    (row,) = root
    kind = "{http://www.w3.org/2001/XMLSchema-instance}type"
    assert (root.get(kind), row.get(kind)) == ("ArrayOfDataObject", "VimEsxCLIcardlistCard")
    assert [(one.tag.removeprefix(NAMESPACE), one.text) for one in row] == [
        ("Address", "0:1"),
        ("IsUsed", "true"),
        ("Name", "a <b>"),
        ("NumberofVMs", "2"),
        ("Tags", "x"),
        ("Tags", "y"),
        ("VendorID", "4318"),
    ]


@pytest.mark.parametrize("value,written", [(None, "true"), (False, "false"), (7, "7"), ("a & b", "a & b")])
def test_vcenter_gets_scalars_with_their_type(value, written):
    assert ElementTree.fromstring(soap.write(COMMAND, value)).text == written


def test_arguments_of_vcenter_are_typed_and_lists_repeat_their_element():
    command = Command("a.b", "", (Argument("nic-name", many=True), Argument("on", type=BOOL)), None)
    pairs = [("nicname", "<nicname>a</nicname><nicname>b &amp; c</nicname>"), ("on", "<on>true</on>")]
    assert soap.read_arguments(command, pairs) == {"nicname": ["a", "b & c"], "on": True}


@pytest.mark.parametrize("pairs", [[("frob", "<frob>1</frob>")], [("on", "<on>")], []])
def test_arguments_that_make_no_sense_are_named(pairs):
    with pytest.raises(soap.BadCall):
        soap.read_arguments(Command("a.b", "", (Argument("on", type=BOOL, required=True),), None), pairs)


def test_a_value_of_the_wrong_type_is_refused():
    with pytest.raises(Refused, match="Invalid data constraint for parameter 'on'"):
        soap.read_arguments(Command("a.b", "", (Argument("on", type=BOOL),), None), [("on", "<on>maybe</on>")])


@pytest.mark.parametrize("name", sorted(table()))
def test_short_options_and_names_on_the_wire_are_unique_in_each_command(name):
    arguments = table()[name].arguments
    shorts = [one.short for one in arguments if one.short]
    assert len(shorts) == len(set(shorts))
    assert len(arguments) == len({one.name for one in arguments})
