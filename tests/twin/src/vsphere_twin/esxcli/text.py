"""The forms in which the command line shows a result: text, JSON, XML, CSV and key=value."""

from __future__ import annotations

import csv
import io
import json
from xml.sax.saxutils import escape

from .command import BOOL, HEX, INT, Rows, Single, wire_name

FORMATTERS = ("csv", "json", "keyvalue", "xml")
_INDENT = "   "


def show(value, formatter=None):
    """Return a result as the command line prints it, with its line end; nothing for a command without output."""
    if value is None:
        return ""
    if formatter is not None:
        return _STRUCTURED[formatter](value)
    if isinstance(value, Rows):
        return _table(value) if value.table else _blocks(value)
    if isinstance(value, Single):
        return _block(value.structure, value.entry)
    if isinstance(value, list):
        return "".join(f"{one}\n" for one in value)
    return f"{plain(value)}\n"


def plain(value):
    """A value in one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(one) for one in value)
    return str(value)


def _shown(structure, label, entry):
    value = entry.get(label)
    if structure.type_of(label) == HEX and value is not None:
        return f"0x{value:04x}" if value > 0xFF or label.endswith("ID") else f"0x{value:02x}"
    return plain(value)


def _table(rows):
    structure = rows.structure
    if not rows.entries:
        return ""
    columns = structure.labels
    lines = [[_shown(structure, label, entry) for label in columns] for entry in rows.entries]
    widths = [max(len(label), *(len(line[at]) for line in lines)) for at, label in enumerate(columns)]
    right = [structure.type_of(label) == INT for label in columns]
    shown = [_line(columns, widths, right), _line(["-" * width for width in widths], widths, right)]
    return "".join(f"{line.rstrip()}\n" for line in [*shown, *(_line(line, widths, right) for line in lines)])


def _line(cells, widths, right):
    aligned = zip(cells, widths, right, strict=True)
    return "  ".join(cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in aligned)


def _blocks(rows):
    return "\n".join(_block(rows.structure, entry) for entry in rows.entries)


def _block(structure, entry):
    header = structure.header
    if header and header.startswith("<"):
        header = plain(entry.get(header[1:-1]))
    lines = [header] if header else []
    lines += [f"{_INDENT}{label}: {_shown(structure, label, entry)}" for label in structure.labels]
    return "".join(f"{line}\n" for line in lines)


def _json(value):
    return json.dumps(_data(value), indent=2) + "\n"


def _data(value):
    if isinstance(value, Rows):
        return [_record(value.structure, entry) for entry in value.entries]
    if isinstance(value, Single):
        return _record(value.structure, value.entry)
    return value


def _record(structure, entry):
    return {
        name: list(entry.get(label) or ()) if many else _or_empty(entry.get(label), kind)
        for name, label, kind, many in structure.fields()
    }


def _or_empty(value, kind):
    if value is None:
        return {BOOL: False, INT: 0, HEX: 0}.get(kind, "")
    return value


def _xml(value):
    start = '<?xml version="1.0" encoding="utf-8"?>\n<output xmlns="http://www.vmware.com/Products/ESX/5.0/esxcli">\n<root>\n'
    if isinstance(value, Rows):
        inner = "".join(_xml_structure(value.structure, entry) for entry in value.entries)
        body = f'<list type="structure">\n{inner}</list>\n'
    elif isinstance(value, Single):
        body = _xml_structure(value.structure, value.entry)
    else:
        body = _xml_value(value)
    return f"{start}{body}</root>\n</output>\n"


def _xml_structure(structure, entry):
    fields = "".join(
        f'<field name="{name}">\n{_xml_value(value)}</field>\n' for name, value in _record(structure, entry).items()
    )
    return f'<structure typeName="{structure.name}">\n{fields}</structure>\n'


def _xml_value(value):
    if isinstance(value, list):
        return f'<list type="string">\n{"".join(_xml_value(one) for one in value)}</list>\n'
    kind = _kind(value)
    return f"<{kind}>{escape(plain(value))}</{kind}>\n"


def _kind(value):
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"


def _csv(value):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    # Each line of esxcli's ends with a comma.
    if isinstance(value, (Rows, Single)):
        entries = value.entries if isinstance(value, Rows) else [value.entry]
        writer.writerow([*(wire_name(label) for _name, label, _kind, _many in value.structure.fields()), ""])
        for entry in entries:
            writer.writerow([*(plain(one) for one in _record(value.structure, entry).values()), ""])
    else:
        writer.writerow([plain(value), ""])
    return out.getvalue()


def _keyvalue(value):
    if not isinstance(value, (Rows, Single)):
        return f"{_kind(value)}={plain(value)}\n"
    name = value.structure.name
    entries = [(f"{name}", value.entry)] if isinstance(value, Single) else []
    if isinstance(value, Rows):
        entries = [(f"{name}[{at}]", entry) for at, entry in enumerate(value.entries)]
    return "".join(
        f"{key}.{field}.{_kind(content)}={plain(content)}\n"
        for key, entry in entries
        for field, content in _record(value.structure, entry).items()
    )


_STRUCTURED = {"json": _json, "xml": _xml, "csv": _csv, "keyvalue": _keyvalue}
