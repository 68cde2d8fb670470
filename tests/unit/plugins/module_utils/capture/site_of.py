"""A capture in memory from plain values, for tests that read captures."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

XSI = 'xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" XMLSchema-instance:type'


def element(tag, value):
    """A value as an element. A dict is an object, whose type is under the key _."""
    if isinstance(value, dict):
        inner = "".join(
            element(name, item)
            for name, one in value.items()
            if name != "_"
            for item in (one if isinstance(one, list) else [one])
        )
        return f'<{tag} {XSI}="{value.get("_", "")}">{inner}</{tag}>'
    return f"<{tag}>{escape(str(value).lower() if isinstance(value, bool) else str(value))}</{tag}>"


def thing(kind, moid, **properties):
    """The file of an object of vCenter."""
    sets = "".join(f"<propSet><name>{name}</name>{element('val', one)}</propSet>" for name, one in properties.items())
    return f'<ObjectContent><obj type="{kind}">{moid}</obj>{sets}</ObjectContent>'


def outputs(folder, commands, **about):
    """The files of a switch or of the esxcli of a host."""
    listed = [{"command": command, "file": f"{number}.txt"} for number, command in enumerate(commands)]
    files = {f"{folder}/commands.json": json.dumps({**about, "commands": listed}).encode()}
    for number, text in enumerate(commands.values()):
        files[f"{folder}/{number}.txt"] = (text if isinstance(text, str) else json.dumps(text)).encode()
    return files


def capture(*objects, **files):
    made = Capture.__new__(Capture)
    made.path = "site.zip"
    made.files = {f"vcenter/{number:04}.xml": text.encode() for number, text in enumerate(objects)}
    for one in files.values():
        made.files.update(one)
    made.manifest = {"format": 1, "coverage": {}, "anonymised": True, "vcenter": {"version": "8.0.3"}}
    return made
