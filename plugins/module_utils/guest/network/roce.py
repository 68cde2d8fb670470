# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""guest_roce: read and set the RoCE QoS of one adapter of this guest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.args import ROCE_INTENT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import linux, linux_text
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent, problems
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, rdma, roce_state
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.roce_state import State

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link


ARGUMENTS = dict(
    ROCE_INTENT,
    mac={"type": "str"},
    name={"type": "str"},
    data_path={"type": "str", "choices": list(roce_state.DATA_PATHS), "required": True},
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
)


@dataclass(frozen=True)
class RoceRequest:
    """The RoCE traffic class of one adapter, found by its name or by its MAC address."""

    mac: str | None
    name: str | None
    data_path: str
    state: str
    intent: Intent


def request_of(params: Mapping[str, Any]) -> RoceRequest:
    """The request of the task."""
    return request(RoceRequest, params, intent=intent(params["config"] or {}))


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with the parameters, as sentences."""
    found = [f"config.{problem}" for problem in problems(intent(params["config"] or {}))]
    if params["mac"] is not None and adapter.mac_of(params["mac"]) is None:
        found.append(f"mac: {params['mac']} is not a MAC address. Write it as 00:50:56:12:34:56.")
    if params["name"] is not None and not params["name"].strip():
        found.append("name: it is empty. Name the adapter, or set mac.")
    return found


class Roce(Noun[RoceRequest, State]):
    """The RoCE traffic class of one adapter."""

    def __init__(self, requested: RoceRequest, commands: Commands, files: Files, warn: Callable[[str], None]) -> None:
        self._requested = requested
        self._commands = commands
        self._files = files
        self._warn = warn

    def read(self, items: Sequence[Item[RoceRequest, State]]) -> None:
        for item in items:
            item.now = self._look()
            item.ids.update(name=item.now.interface, mac=item.now.mac, device=item.now.device)

    def _look(self) -> State:
        mac = adapter.mac_of(self._requested.mac) if self._requested.mac else None
        link = adapter.find(adapter.read_all(self._commands), mac, self._requested.name)
        device, port = rdma.device_of(rdma.devices(self._files), link.name)
        if device is None:
            raise self._no_rdma(link)
        name, number = device["name"], cast("rdma.Port", port)["port"]
        around = self._commands.run(linux.look())
        values, tools, adapters = linux.adapters(around.stdout)
        said = {}
        if roce_state.owns(self._requested.data_path, self._requested.intent) and link.name in adapters:
            said = linux.sections(self._commands.run(linux.ask(link.name, values, tools, name, str(number))).stdout)
        end = linux.endpoint("", link.name, values, (name, str(number)), said)
        if end.agents:
            self._warn(f"{link.name}: {', '.join(end.agents)} sends LLDP for it and may overwrite these settings.")
        return State(
            interface=link.name,
            mac=link.mac,
            device=name,
            port=number,
            traffic_class=self._number(roce_state.tos_path(name, number)),
            override=self._number(roce_state.override_path(name, number)),
            tools=[tool for tool in ("mlnx_qos", "dcb") if tool in tools],
            trust=end.trust,
            pfc=end.pfc,
            dscp_map=end.dscp_map,
            dcbx_owner=end.dcbx_owner,
            kept=self._kept(link.name),
        )

    def _no_rdma(self, link: Link) -> OperatorError:
        checks = {
            "pvrdma": "that it is a PVRDMA adapter in vCenter, that the module vmw_pvrdma is loaded, and that it has "
            "an address. Without an address it has no GIDs",
            "sriov": "that the adapter is an SR-IOV one in vCenter, and that the module mlx5_ib is loaded",
            "passthrough": "that the adapter is passed through in vCenter, and that the module mlx5_ib is loaded",
        }
        return OperatorError(
            f"Adapter {link.name}",
            "cannot set the RoCE traffic class",
            "The adapter has no RDMA device" + ("" if link.addresses else " and no address"),
            f"Check {checks[self._requested.data_path]}",
            "no_rdma",
            interface=link.name,
        )

    def _number(self, path: str) -> int | None:
        return linux_number(self._files.text(path))

    def _kept(self, interface: str) -> list[str]:
        text = self._files.text(roce_state.unit_path(interface))
        if text is None or not self._commands.run(["systemctl", "is-enabled", roce_state.unit_name(interface)]).ok:
            return []
        return roce_state.lines_of(text)

    def want(self, item: Item[RoceRequest, State]) -> State:
        now, path = item.now, self._requested.data_path
        if self._requested.state == "absent":
            # The adapter settings last until the next boot; nothing records the earlier ones.
            return replace(now, traffic_class=0 if now.traffic_class else now.traffic_class, kept=[])
        if roce_state.owns(path, self._requested.intent) and not now.tools:
            raise OperatorError(
                f"Adapter {now.interface}",
                "cannot set DSCP trust and priority flow control",
                "Neither mlnx_qos nor dcb is installed",
                "Install iproute2 5.11 or newer, or DOCA-OFED, then run the task again",
                "tool_missing",
            )
        return roce_state.want(now, self._requested.intent, path)

    def compare(self, now: State, wanted: State) -> list[Change]:
        return roce_state.compare(now, wanted)

    def apply(self, items: Sequence[Item[RoceRequest, State]]) -> None:
        for item in items:
            try:
                self._change(item)
            except OperatorError as error:
                item.error = error

    def _change(self, item: Item[RoceRequest, State]) -> None:
        wanted, paths = item.wanted, {change.path for change in item.changes}
        item.touched = True
        if "traffic_class" in paths:
            self._report_connection_manager(wanted)
        if "override" in paths:
            self._put(roce_state.override_path(wanted.device, wanted.port), wanted.override)
        if paths & {"trust", "pfc", "dscp_map", "dcbx_owner"}:
            for argv in roce_state.adapter_commands(wanted, self._requested.intent):
                self._must(wanted, [argv[0].rpartition("/")[2], *argv[1:]])
        if "kept" in paths:
            self._keep(wanted)

    def _report_connection_manager(self, wanted: State) -> None:
        path = roce_state.tos_path(wanted.device, wanted.port)
        if not self._files.exists(roce_state.CONFIGFS):
            self._commands.run(["modprobe", "rdma_cm"])
        self._commands.run(["mkdir", "-p", f"{roce_state.CONFIGFS}/{wanted.device}"])
        if not self._files.exists(path):
            raise OperatorError(
                f"RDMA device {wanted.device}",
                f"cannot set the traffic class {wanted.traffic_class} for its connections",
                f"The file {path} does not exist",
                "Check that the module rdma_cm is loaded, that configfs is mounted at /sys/kernel/config, and that the "
                "device supports RoCE",
                "no_connection_manager",
                path=path,
            )
        self._put(path, wanted.traffic_class)

    def _put(self, path: str, value: int | None) -> None:
        """Write a value to a file of the kernel directly, because such a file cannot be replaced."""
        try:
            with open(self._files.at(path), "w", encoding="ascii") as file:
                file.write(f"{value}\n")
        except OSError as error:
            raise OperatorError(
                path,
                f"cannot set it to {value}",
                f"The kernel reports: {error.strerror}",
                "Run the task as root (`become: true`). If the kernel still refuses the value, check that the device "
                "supports it",
                "kernel_refused",
                path=path,
            ) from error

    def _keep(self, wanted: State) -> None:
        path, name = roce_state.unit_path(wanted.interface), roce_state.unit_name(wanted.interface)
        if not wanted.kept:
            self._commands.run(["systemctl", "disable", name])
            self._files.remove(path)
            self._commands.run(["systemctl", "daemon-reload"])
            return
        self._files.write(path, roce_state.unit(wanted.interface, wanted.kept))
        self._must(wanted, ["systemctl", "daemon-reload"])
        self._must(wanted, ["systemctl", "enable", name])

    def _must(self, wanted: State, argv: Sequence[str]) -> None:
        self._commands.must(
            argv,
            f"Adapter {wanted.interface}",
            "cannot set the RoCE traffic class",
            "Check the output. Firmware that takes its settings from the switch (config.dcbx: ieee) refuses others",
            "adapter_refused",
        )

    def prove(self, items: Sequence[Item[RoceRequest, State]]) -> None:
        for item in items:
            item.proved = self._look()
            left = self.compare(item.proved, item.wanted)
            if left and item.error is None:
                item.error = not_proved(
                    f"Adapter {item.now.interface}",
                    "is not in the desired state after the change",
                    left,
                    "Check whether lldpad or the LLDP agent of the firmware resets it, then run the task again",
                )

    def project(self, state: State) -> dict[str, Any]:
        return roce_state.project(state, self._requested.data_path, self._requested.intent)


def linux_number(text: str | None) -> int | None:
    """106 of '106', '0x6a', 'Global tclass=106'; None where there is no file."""
    if text is None:
        return None
    found = linux_text.traffic_class(text.strip().splitlines()[0] if text.strip() else "")
    return 0 if found is None else found
