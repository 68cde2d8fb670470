"""What modules about hosts are to bring about while something goes wrong, and the things that go wrong."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from twin_labs.host_lab import FREE, GPU, esx, host, seed, settings
from vsphere_twin.model import network
from vsphere_twin.model.host import show_connection, touch
from vsphere_twin.vcenter.dispatch import Dispatcher

from .lab import A100
from .vib_lab import installed, software, stored

NAMES = tuple(f"esx-{number:02}.example.com" for number in range(1, 46))
LOSSLESS = {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": 2}
# Methods by which a client only looks, comes, waits or goes.
LOOKS = ("Retrieve", "Query", "Find", "Fetch", "WaitFor", "Create", "Destroy", "Login", "Logout")
# The same note again is the same note; whether a restart of Xorg took place when its answer was lost is unknown.
HARMLESS = (*LOOKS, "SetField", "RestartService")


@dataclass(frozen=True)
class Case:
    """One task, and what of the host it is about."""

    name: str
    params: dict
    observe: Callable[[Any, str], Any]
    wanted: Any
    seed: dict

    @property
    def module(self):
        return self.name.partition(",")[0]

    def __str__(self):
        return self.name


def hosts(**more):
    """A world with as many equal hosts as there are attempts."""
    return seed(*(esx(name, boot_seconds=0.1, **more) for name in NAMES))


def _bare():
    """The same, out of service and without a driver, with a depot on the datastore."""
    data = seed(
        *({"name": name, "maintenance": True, "state": "factory", "gpus": [A100]} for name in NAMES),
    )
    files = [{"depot": {"family": "nvaie", "version": "550.54.16", "release": "800"}}]
    data["datacenters"][0]["datastores"] = [{"name": "datastore-01", "capacity_gb": 100, "files": files}]
    return data


def _part(*keys):
    def observe(twin, name):
        state = settings(twin, name)
        return tuple(state[key] for key in keys)

    return observe


def _kernel(twin, name):
    known = host(twin, name).kernel.settings
    return known["atsSupport"].configured, known["maxPCIBusNumber"].configured


def _options(twin, name):
    return host(twin, name).kernel.modules["nmlx5_core"].options


def _given(twin, name):
    port = host(twin, name).passthru[FREE]
    return port.enabled, port.active, port.label


def _mtu(twin, name):
    (adapter,) = [one for one in host(twin, name).vmkernel if one.device == "vmk1"]
    (uplink,) = [one for one in host(twin, name).nics if one.device == "vmnic2"]
    return adapter.mtu, uplink.switch.mtu


def _notes(twin, name):
    fields = twin.world.get("CustomFieldsManager").fields
    return {fields[key].name: value for key, value in host(twin, name).custom_values.items() if key in fields}


def _service(twin, name):
    return host(twin, name).maintenance, _notes(twin, name)


def _ssh(twin, name):
    return host(twin, name).service("TSM-SSH").running, _notes(twin, name)


PLAIN = hosts()
CASES = [
    Case(
        "esxi_kernel_setting",
        {"settings": {"atsSupport": True, "maxPCIBusNumber": 127}},
        _kernel,
        ("TRUE", "127"),
        PLAIN,
    ),
    Case(
        "esxi_module_options",
        {"module": "nmlx5_core", "options": LOSSLESS},
        _options,
        "max_vfs=2,2 pfctx=0x08 pfcrx=0x08 trust_state=2",
        hosts(module_options={"nmlx5_core": "max_vfs=2,2"}),
    ),
    Case(
        "host_graphics",
        {
            "default_type": "shared",
            "assignment_policy": "consolidation",
            "devices": [{"id": "all", "type": "shared"}],
            "restart": "xorg",
        },
        _part("graphics", "gpus"),
        (("shared", "consolidation"), {GPU: ("shared", "shared", "sameSize")}),
        PLAIN,
    ),
    Case(
        "pci_passthrough",
        {"devices": [{"id": FREE, "state": "enabled", "label": "roce"}], "apply": "now"},
        _given,
        (True, True, "roce"),
        PLAIN,
    ),
    Case("pvrdma_host", {"vmknic": "vmk1"}, _part("tag", "firewall"), ("vmk1", True), PLAIN),
    Case("vmkernel_mtu", {"devices": ["vmk1"], "switch": "raise"}, _mtu, (9000, 9000), PLAIN),
    Case(
        "esxi_maintenance, in",
        {},
        _service,
        (True, {"aiready.vsphere.maintenance": "aiready.vsphere"}),
        PLAIN,
    ),
    Case("esxi_maintenance, out", {"state": "left", "owner": "any"}, _service, (False, {}), hosts(maintenance=True)),
    Case(
        "esxi_service",
        {"service": "TSM-SSH", "state": "started"},
        _ssh,
        (True, {"aiready.vsphere.service.TSM-SSH": "was stopped"}),
        PLAIN,
    ),
    Case(
        "nvaie_vib",
        {"depot": stored("550.54.16")},
        software,
        installed("550.54.16"),
        _bare(),
    ),
]


def renew(twin):
    """What the hosts of a world share, as it was at the beginning."""
    with twin.world.lock:
        notes = twin.world.get("CustomFieldsManager")
        notes.fields.clear()
        for one in twin.world.of_kind("HostSystem"):
            one.custom_values.clear()
        for switch in twin.world.of_kind("VmwareDistributedVirtualSwitch"):
            network.set_switch_mtu(twin.world, switch, 1500)
            twin.world.touch(switch)
        twin.world.touch(notes, *twin.world.of_kind("HostSystem"))


def go_away(twin, name, state="notResponding"):
    """vCenter loses a host, or has it again."""
    with twin.world.lock:
        one = host(twin, name)
        show_connection(one, state)
        touch(twin.world, one)


@contextlib.contextmanager
def deeds(monkeypatch, twin):
    """A Counter of what the vCenter carried out that is no mere look, with all that was said; tasks that succeeded."""
    done = collections.Counter()
    serve = Dispatcher._serve
    before = {task.moid for task in _tasks(twin)}

    def watched(self, call, request):
        answer = serve(self, call, request)
        command = str(request.arguments.get("method", ""))
        if not request.method.startswith(HARMLESS) and not command.endswith((".list", ".get")):
            done[f"{request.method} {command} {request.this._GetMoId()} {_said(request.arguments)}"] += 1
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Dispatcher, "_serve", watched)
        yield (
            lambda: (
                [deed for deed, times in done.items() if times > 1 and "_Task " not in deed]
                + _twice([task for task in _tasks(twin) if task.moid not in before])
            )
        )


def _tasks(twin):
    with twin.world.lock:
        return list(twin.world.of_kind("Task"))


def _twice(tasks):
    ended = collections.Counter((task.method, task.entity_name) for task in tasks if task.state != "error")
    return [deed for deed, times in ended.items() if times > 1]


def _said(arguments):
    return " ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
