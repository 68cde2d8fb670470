"""esxcli through vCenter: arguments and results as ManagedMethodExecuter has them in XML."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.sax.saxutils import escape

from .command import FAULT_SUMMARY, Rows, Single, table, typed

_NAMESPACES = (
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xmlns="urn:vim25" versionId="5.0"'
)
HANDLER = "ha-cli-handler-"
METHOD = "vim.EsxCLI."


class BadCall(Exception):
    """A call that names something that does not exist: moid, method, version or an argument."""

    def __init__(self, what):
        super().__init__(what)
        self.what = what


def command_for(moid, method):
    """Return the command that an object and a method of it represent."""
    if not moid.startswith(HANDLER):
        raise BadCall("moid")
    if not any(moid == HANDLER + one.namespace.replace(".", "-") for one in table().values()):
        raise BadCall("moid")
    found = table().get(method.removeprefix(METHOD))
    if found is None or moid != HANDLER + found.namespace.replace(".", "-"):
        raise BadCall("method")
    return found


def read_arguments(command, pairs):
    """Arguments from (name, XML) pairs; a list repeats its element."""
    known = {one.name: one for one in command.arguments}
    arguments = {}
    for name, xml in pairs:
        if name not in known:
            raise BadCall(name)
        try:
            elements = list(ElementTree.fromstring(f"<all>{xml}</all>"))
        except ElementTree.ParseError:
            raise BadCall(name) from None
        if elements:
            arguments[name] = typed(known[name], [one.text or "" for one in elements])
    for one in command.arguments:
        if one.required and one.name not in arguments:
            raise BadCall(one.name)
    return arguments


def write(command, value):
    """The XML of a result."""
    if isinstance(value, Rows):
        return _obj("ArrayOfDataObject", "".join(_data_object(command, value.structure, one) for one in value.entries))
    if isinstance(value, Single):
        return _obj(_type_name(command, value.structure), _fields(value.structure, value.entry))
    if isinstance(value, list):
        return _obj("ArrayOfString", "".join(f"<string>{escape(one)}</string>" for one in value))
    if value is None or isinstance(value, bool):
        return _obj("xsd:boolean", "false" if value is False else "true")
    return _obj("xsd:long" if isinstance(value, int) else "xsd:string", escape(str(value)))


def write_fault(lines):
    """The XML of esxcli's own fault."""
    messages = "".join(f"<errMsg>{escape(line)}</errMsg>" for line in lines)
    fault = f'<fault xsi:type="VimEsxCLICLIFault">{messages}</fault>'
    return _obj("LocalizedMethodFault", f"{fault}<localizedMessage>{FAULT_SUMMARY}</localizedMessage>")


def write_info(namespace):
    """Return FetchCLIInfo's data of a namespace, from which clients learn options and layout; None if unknown."""
    found = [one for one in table().values() if one.namespace == namespace]
    if not found:
        return None
    methods = "".join(_method(one) for one in sorted(found, key=lambda one: one.name))
    return _obj("VimCLIInfo", f"{_item(namespace, namespace.rpartition('.')[2], '')}{methods}")


def _method(command):
    name = command.name.rpartition(".")[2]
    params = "".join(_param(one) for one in command.arguments)
    return f"<method>{_item(name, name, command.help)}{params}</method>"


def _param(argument):
    aliases = [f"--{argument.long}", *([f"-{argument.short}"] if argument.short else [])]
    written = "".join(f"<aliases>{alias}</aliases>" for alias in aliases)
    flag = "true" if argument.flag else "false"
    return f"<param>{_item(argument.name, argument.long, '')}{written}<flag>{flag}</flag></param>"


def _item(name, display, text):
    return f"<name>{name}</name><displayName>{display}</displayName><help>{escape(text)}</help>"


def _obj(kind, content):
    return f'<obj {_NAMESPACES} xsi:type="{kind}">{content}</obj>'


def _data_object(command, structure, entry):
    return f'<DataObject xsi:type="{_type_name(command, structure)}">{_fields(structure, entry)}</DataObject>'


def _type_name(command, structure):
    return f"VimEsxCLI{command.name.replace('.', '')}{structure.name}"


def _fields(structure, entry):
    out = []
    for name, label, _kind, many in structure.fields():
        value = entry.get(label)
        if many:
            out += [f"<{name}>{escape(str(one))}</{name}>" for one in value or ()]
        elif value is not None:
            out.append(f"<{name}>{_text(value)}</{name}>")
    return "".join(out)


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(str(value))
