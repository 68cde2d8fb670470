"""Messages become the same objects as by pyVmomi's own handlers, the first time and again."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from xml.parsers import expat

import pytest
from pyVmomi import SoapAdapter, VmomiSupport, vim, vmodl

VERSION = "vim.version.v8_0_2_0"
Fast = SoapAdapter.SoapDeserializer
SAMPLES = {bool: True, str: "a <b> ä", float: 1.5, datetime: datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)}
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="urn:vim25" xmlns:v="urn:vim25"'


class Own(Fast):
    """pyVmomi's handlers as they were before."""

    StartElementHandler = Fast.StartElementHandler.__wrapped__
    EndElementHandler = Fast.EndElementHandler.__wrapped__


def read(reader, text, kind, fault=False):
    parser = expat.ParserCreate(namespace_separator=SoapAdapter.NS_SEP)
    parser.buffer_text = True
    one = reader(version=VERSION)
    one.Deserialize(parser, kind, fault, {None: ["urn:vim25"], "xsd": [SoapAdapter.XMLNS_XSD]})
    parser.Parse(text, True)
    return one.result


def shown(value):
    """A value with the types of all its parts."""
    if isinstance(value, VmomiSupport.DataObject):
        return type(value), {info.name: shown(getattr(value, info.name)) for info in value._GetPropertyList()}
    if isinstance(value, list):
        return type(value), [shown(one) for one in value]
    if isinstance(value, VmomiSupport.ManagedObject):
        return type(value), value._moId, value._stub, value._serverGuid
    return type(value), value


def sample(kind, depth, dice):
    """A value of a type, with all fields down to a depth and those that must be there below."""
    if issubclass(kind, VmomiSupport.ManagedObject):
        return kind("id-1")
    if issubclass(kind, list):
        return kind([one for one in (sample(kind.Item, depth, dice) for _ in range(2)) if one is not None])
    if issubclass(kind, VmomiSupport.Enum):
        return dice.choice(kind.values) if kind.values else None
    if issubclass(kind, VmomiSupport.DataObject):
        made = kind()
        for info in made._GetPropertyList():
            if depth < 1 and info.flags & VmomiSupport.F_OPTIONAL:
                continue
            value = sample(info.type, depth - 1, dice)
            if value is not None:
                setattr(made, info.name, value)
        return made
    if kind in SAMPLES:
        return SAMPLES[kind]
    if kind is object:
        return dice.choice([1, "text", True])
    return kind(1) if issubclass(kind, int) else None


def all_kinds():
    names = sorted(key for key in VmomiSupport._wsdlDefMap if key[0] == "urn:vim25")
    kinds = [VmomiSupport.GetWsdlType(*name) for name in names]
    return [kind for kind in kinds if issubclass(kind, VmomiSupport.DataObject)]


def test_objects_of_many_types_are_the_same_the_first_time_and_again():
    dice = random.Random(19)
    read_kinds = set()
    for kind in dice.sample(all_kinds(), 400):
        try:
            text = SoapAdapter.Serialize(sample(kind, 2, dice), version=VERSION)
        except TypeError:
            continue  # it has required fields of types without a sample
        expected = shown(read(Own, text, kind))
        assert shown(read(Fast, text, kind)) == expected
        assert shown(read(Fast, text, kind)) == expected
        read_kinds.add(kind)
    assert len(read_kinds) > 300


MESSAGES = {
    "a type by a prefix": (
        vim.vm.ConfigSpec,
        f'<a {XSI}><extraConfig xsi:type="v:OptionValue"><key>k</key><value xsi:type="xsd:int" '
        'xmlns:xsd="http://www.w3.org/2001/XMLSchema">5</value></extraConfig></a>',
    ),
    "a value of any type": (
        vim.option.OptionValue,
        f'<a {XSI} xmlns:xsd="http://www.w3.org/2001/XMLSchema"><key/><value xsi:type="ArrayOfString">'
        "<string>x</string><string/></value></a>",
    ),
    "references": (
        vim.host.Summary,
        f'<a {XSI}><host type="HostSystem">host-1</host><rebootRequired>1</rebootRequired></a>',
    ),
    "a reference as a value of any type": (
        vim.option.OptionValue,
        f'<a {XSI}><key>k</key><value xsi:type="ManagedObjectReference" type="Task">t-1</value></a>',
    ),
    "a fault inside": (
        vim.TaskInfo,
        f'<a {XSI}><key>k</key><error><fault xsi:type="NotSupported"/><localizedMessage>no</localizedMessage>'
        "</error></a>",
    ),
    "a reference of another server": (
        vim.host.Summary,
        f'<a {XSI}><host type="HostSystem" serverGuid="g">host-1</host></a>',
    ),
    "a name of a type": (vmodl.query.PropertyCollector.PropertySpec, f"<a {XSI}><type>HostSystem</type></a>"),
    "dates": (vim.TaskInfo, f"<a {XSI}><queueTime>2026-01-02T03:04:05.678Z</queueTime></a>"),
}
BROKEN = {
    "an unknown element": (vim.host.Summary, f"<a {XSI}><nothing/></a>"),
    "no truth": (vim.host.Summary, f"<a {XSI}><rebootRequired>maybe</rebootRequired></a>"),
    "no number": (vim.vm.ConfigSpec, f"<a {XSI}><memoryMB>much</memoryMB></a>"),
    "no choice": (vim.host.Summary, f"<a {XSI}><overallStatus>blue</overallStatus></a>"),
    "no date": (vim.TaskInfo, f"<a {XSI}><queueTime>then</queueTime></a>"),
    "an element in a text": (vim.vm.ConfigSpec, f"<a {XSI}><name><b/></name></a>"),
    "a reference without a type": (vim.host.Summary, f"<a {XSI}><host>host-1</host></a>"),
    "an unknown type": (vim.vm.ConfigSpec, f'<a {XSI}><extraConfig xsi:type="Nothing"/></a>'),
    "another type": (vim.vm.ConfigSpec, f'<a {XSI}><flags xsi:type="OptionValue"/></a>'),
}


@pytest.mark.parametrize("kind, text", MESSAGES.values(), ids=MESSAGES)
def test_unusual_elements_become_the_same(kind, text):
    expected = shown(read(Own, text, kind))
    assert [shown(read(Fast, text, kind)) for _again in range(2)] == [expected, expected]


@pytest.mark.parametrize("kind, text", BROKEN.values(), ids=BROKEN)
def test_messages_that_are_wrong_end_with_the_same_error(kind, text):
    errors = []
    for reader in (Own, Fast, Fast):
        with pytest.raises((TypeError, KeyError, AttributeError, ValueError)) as raised:
            read(reader, text, kind)
        errors.append((raised.type, str(raised.value)))
    assert errors == [errors[0]] * 3


def test_a_fault_at_the_top_is_that_fault():
    inside = "<faultMessage><key>k</key></faultMessage>"
    text = f'<NotSupportedFault {XSI} xsi:type="NotSupported">{inside}</NotSupportedFault>'
    expected = shown(read(Own, text, object, fault=True))
    assert expected[0] is vmodl.fault.NotSupported
    assert shown(read(Fast, text, object, fault=True)) == expected
