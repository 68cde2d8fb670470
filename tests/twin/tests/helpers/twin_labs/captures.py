"""Miniature captures for the checkers of rules: objects, answers and outputs from plain Python values."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

from vsphere_twin.calibrate.evidence import Evidence

XSI = 'xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" XMLSchema-instance:type'


def element(tag, value, kind=""):
    """A value as an element. A dict is an object, whose type is under the key _."""
    if isinstance(value, dict):
        inner = "".join(
            element(name, item)
            for name, one in value.items()
            if name != "_"
            for item in (one if isinstance(one, list) else [one])
        )
        return f'<{tag} {XSI}="{value.get("_", kind)}">{inner}</{tag}>'
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'<{tag} {XSI}="{kind or "xsd:string"}">{escape(text)}</{tag}>'


def thing(kind, moid, **properties):
    """An object of vCenter. A property that is a list has the items of an array."""
    sets = ""
    for name, value in properties.items():
        if isinstance(value, list):
            inner = "".join(element("item", one) for one in value)
            shown = f'<val {XSI}="ArrayOfItem">{inner}</val>'
        else:
            shown = element("val", value)
        sets += f"<propSet><name>{name}</name>{shown}</propSet>"
    return f'<ObjectContent><obj type="{kind}">{moid}</obj>{sets}</ObjectContent>'


def host(config=None, moid="host-101", name="host-001", **properties):
    return thing("HostSystem", moid, name=name, config=config or {}, **properties)


def vm(devices=(), moid="vm-101", on=True, extra=None, memory=65536, **more):
    """A VM on host-101."""
    config = {
        "hardware": {"numCPU": 16, "memoryMB": memory, "device": list(devices)},
        "extraConfig": [{"key": key, "value": value} for key, value in (extra or {}).items()],
        **more.pop("config", {}),
    }
    runtime = {"powerState": "poweredOn" if on else "poweredOff", "host": "host-101", **more.pop("runtime", {})}
    return thing("VirtualMachine", moid, name="vm-001", config=config, runtime=runtime, **more)


def card(number=0):
    return {"_": "VirtualVmxnet3", "key": 4000 + number, "macAddress": "00:50:56:00:00:01"}


def capture(*objects, methods=None, rest=None, outputs=None, bmcs=None, version="8.0.3"):
    """Evidence of these objects, answers of methods, REST answers, outputs by (kind, name), and Redfish resources."""
    files = {f"vcenter/{number:04}-x.xml": text.encode() for number, text in enumerate(objects)}
    for name, values in (methods or {}).items():
        inner = "".join(element("returnval", one) for one in values)
        files[f"methods/X-1/{name}.xml"] = f"<MethodResponse>{inner}</MethodResponse>".encode()
    for path, data in (rest or {}).items():
        files[f"rest{path}.json"] = json.dumps(data).encode()
    for (kind, name), texts in (outputs or {}).items():
        about = dict(texts)
        listed = [{"command": one, "file": f"{number}.txt"} for number, one in enumerate(about.pop("commands"))]
        files[f"{kind}/{name}/commands.json"] = json.dumps({**about, "commands": listed}).encode()
        for number, text in enumerate(texts["commands"].values()):
            shown = text if isinstance(text, str) else json.dumps(text)
            files[f"{kind}/{name}/{number}.txt"] = shown.encode()
    for name, resources in (bmcs or {}).items():
        for uri, data in resources.items():
            files[f"bmcs/{name}{uri}/index.json"] = json.dumps(data).encode()
    return Evidence(files, {"vcenter": {"version": version}, "anonymised": True})


def esxcli(commands, name="host-001"):
    """The outputs of a host."""
    return {("hosts", name): {"commands": {f"esxcli {words}": one for words, one in commands.items()}}}


def switch(platform, commands, model="", name="switch-001"):
    return {("switches", name): {"platform": platform, "model": model, "commands": commands}}


def guests(*all_slots, controller="ParaVirtualSCSIController", others=()):
    """VMs with the same controller, each with the slots of its adapters."""
    made = []
    for slots in all_slots:
        devices = [{"_": controller, "key": 1000}, *others, *(card(number) for number in range(len(slots)))]
        extra = {f"ethernet{number}.pciSlotNumber": slot for number, slot in enumerate(slots)}
        made.append(vm(devices, moid=f"vm-{101 + len(made)}", extra=extra))
    return capture(*made)


def guest(*slots, controller="ParaVirtualSCSIController"):
    return guests(slots, controller=controller)
