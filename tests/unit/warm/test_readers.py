"""What tests read faster is what Python, pyVmomi and Ansible read."""

from __future__ import annotations

import email.parser
import http.client
import io

import pytest
from pyVmomi import VmomiSupport, vim

from warm import lazy

HEADERS = {
    "usual": b"Host: a\r\nContent-Length:  12 \r\nX-y:z\r\n\r\n",
    "none": b"\r\n",
    "nothing": b"",
    "twice": b"A: b\r\nA: c\r\n\r\n",
    "continued": b"A: b\r\n c\r\n\r\n",
    "bare line feeds": b"A: b\nB: c\n\n",
    "no header": b"bad line\r\nA: b\r\n\r\n",
    "no name": b":x\r\n\r\n",
    "of a mailbox": b"From me\r\nA: b\r\n\r\n",
    "Latin-1": b"A: \xe4\xf6\r\n\r\n",
    "parts": b"Content-Type: multipart/mixed\r\n\r\n",
}


@pytest.mark.parametrize("raw", HEADERS.values(), ids=HEADERS)
def test_headers_are_those_of_the_parser_of_mails(raw):
    read = http.client.parse_headers(io.BytesIO(raw))
    parsed = email.parser.Parser(_class=http.client.HTTPMessage).parsestr(raw.decode("iso-8859-1"))
    assert read.items() == parsed.items()
    assert read.as_string() == parsed.as_string()
    assert vars(read).keys() == vars(parsed).keys()
    assert list(map(type, read.defects)) == list(map(type, parsed.defects))


def test_objects_of_a_type_share_no_list_and_have_what_was_given():
    one, other = vim.vm.ConfigSpec(name="one"), vim.vm.ConfigSpec()
    one.extraConfig.append(vim.option.OptionValue(key="a", value="b"))
    assert (one.name, other.name) == ("one", None)
    assert (len(one.extraConfig), len(other.extraConfig)) == (1, 0)
    assert type(other.extraConfig) is type(one.extraConfig)


@pytest.mark.parametrize("field, value", [("name", 5), ("memoryMB", "5"), ("deviceChange", [5]), ("unknown", None)])
def test_fields_are_still_checked(field, value):
    with pytest.raises((TypeError, AttributeError)):
        setattr(vim.vm.ConfigSpec(), field, value)
    with pytest.raises((TypeError, AttributeError)):
        vim.vm.ConfigSpec(**{field: value})


def test_an_array_that_has_to_be_there_is_still_missed():
    spec = VmomiSupport.GetVmodlType("vmodl.query.PropertyCollector.FilterSpec")()
    with pytest.raises(TypeError, match="Required field"):
        spec.propSet = []


def test_variables_are_the_same_only_as_the_very_same_objects_under_the_same_names():
    first, second = ["a"], ["a"]
    known = dict(lazy._pairs({"x": first, "y": 1}))
    assert known["x"].value is first
    assert lazy._same(known, {"x": first, "y": 1})
    assert not lazy._same(known, {"x": second, "y": 1})
    assert not lazy._same(known, {"y": 1, "x": first})
    assert not lazy._same(known, {"x": first, "z": 1})
    assert not lazy._same(known, {"x": first})
