# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters in the firmware of network adapters; the documentation is in the module of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun, run
from ansible_collections.aiready.vsphere.plugins.module_utils.host import firmware, firmware_args, mlxconfig
from ansible_collections.aiready.vsphere.plugins.module_utils.host.firmware_args import FirmwareRequest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import RemoteAction

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
    from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed, Remote, RemoteModule

# On ESXi the tools are outside of the search path.
FOLDERS = ("", "/opt/mellanox/bin/")
# What a shell answers for a command that it does not find, or may not start.
NO_COMMAND = (126, 127)


class ActionModule(RemoteAction):
    """Runs on the controller, sends its commands over the connection of the play."""

    ARGUMENTS = firmware_args.ARGUMENTS

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._host = (task_vars or {}).get("inventory_hostname") or self._play_context.remote_addr
        return super().run(tmp, task_vars)

    def work(self, module: RemoteModule, remote: Remote) -> None:
        items: list[Item[FirmwareRequest, firmware.Adapter]] = []
        run(module, NicFirmware(module.params, remote, self._host), items, "devices")


class NicFirmware(Noun[FirmwareRequest, firmware.Adapter]):
    """The adapters of one host. They are known only after a read, so read creates the items."""

    def __init__(self, params: Mapping[str, Any], remote: Remote, host: str) -> None:
        self._host = host
        self._request = request(FirmwareRequest, params)
        self._names = sorted(self._request.settings)
        self._needs = firmware.NEEDS[self._request.activation]
        self._remote = remote
        self._folder: str | None = None

    def read(self, items: Sequence[Item[FirmwareRequest, firmware.Adapter]]) -> None:
        devices = mlxconfig.devices(self._status())
        # Linux lists its adapters without names until mst was started.
        if not any(one.named for one in devices):
            self._tool("mst", "start")
            devices = mlxconfig.devices(self._status())
        if not devices:
            raise OperatorError(
                "mst",
                "cannot find a network adapter of NVIDIA",
                "`mst status` lists none",
                "Check that the adapter is present, and that the host was restarted after the installation of NMST",
                "no_adapters",
            )
        for device in firmware.meant(devices, self._request.devices):
            ids = {"name": device.net or device.mst, "mst": device.mst, "pci": device.pci, "model": device.kind}
            ids["host"] = self._host
            item: Item[FirmwareRequest, firmware.Adapter] = Item(device.mst, self._request, ids)
            cast("list[Item[FirmwareRequest, firmware.Adapter]]", items).append(item)
            self._look(item, device)

    def want(self, item: Item[FirmwareRequest, firmware.Adapter]) -> firmware.Adapter:
        return firmware.want(_label(item.now.device), item.now, self._request.settings)

    def compare(self, now: firmware.Adapter, wanted: firmware.Adapter) -> list[Change]:
        return firmware.compare(now, wanted, self._names, self._needs)

    def apply(self, items: Sequence[Item[FirmwareRequest, firmware.Adapter]]) -> None:
        for item in items:
            item.touched = True
            done = self._tool("mlxconfig", "-d", item.label, "-y", "set", *firmware.assignments(item.changes))
            if done.rc != 0 or "-E-" in done.text:
                item.error = _failed(_label(item.now.device), "cannot set its firmware parameters", done)

    def prove(self, items: Sequence[Item[FirmwareRequest, firmware.Adapter]]) -> None:
        for item in items:
            item.proved = self._query(item.now.device)
            left = self.compare(item.proved, item.wanted)
            if left and item.error is None:
                item.error = not_proved(
                    _label(item.now.device),
                    "the new values are not saved for the next start",
                    left,
                    "Check the output of mlxconfig on the host",
                )

    def project(self, state: firmware.Adapter) -> dict[str, Any]:
        return firmware.project(state, self._names)

    def pending(self, state: firmware.Adapter) -> list[dict[str, Any]]:
        return firmware.pending(state, self._names, self._needs)

    def _look(self, item: Item[FirmwareRequest, firmware.Adapter], device: mlxconfig.MstDevice) -> None:
        try:
            item.now = self._query(device)
        except OperatorError as error:
            item.error = error

    def _query(self, device: mlxconfig.MstDevice) -> firmware.Adapter:
        done = self._tool("mlxconfig", "-d", device.mst, "-e", "query")
        keys, columns = mlxconfig.keys(done.text)
        if done.rc != 0 or not keys:
            raise _failed(_label(device), "cannot read its firmware parameters", done)
        if not {"Current", "Next Boot"} <= set(columns):
            raise OperatorError(
                _label(device),
                "cannot read the running values and those of the next start",
                f"mlxconfig shows only {', '.join(columns)}",
                "Install newer firmware tools (MFT), or check that the adapter is a ConnectX-5 or newer",
                "tools_too_old",
            )
        return firmware.Adapter(device, keys)

    def _status(self) -> str:
        done = self._tool("mst", "status", "-vv")
        if done.rc in NO_COMMAND:
            raise OperatorError(
                "mst",
                "cannot find the firmware tools of NVIDIA (MFT)",
                f"There is no mst in the search path, nor in {FOLDERS[-1]}",
                "Install MFT. On ESXi install the VIBs NMST and MFT, and restart the host",
                "tools_missing",
            )
        return done.text

    def _tool(self, name: str, *arguments: str) -> Completed:
        """Run a tool in the folder where it was found first."""
        folders = FOLDERS if self._folder is None else (self._folder,)
        for folder in folders:
            done = self._remote.run([folder + name, *arguments])
            if done.rc not in NO_COMMAND:
                self._folder = folder
                break
        return done


def _label(device: mlxconfig.MstDevice) -> str:
    return f"{device.net or device.mst} ({device.kind}, {device.pci})"


def _failed(label: str, wanted: str, done: Completed) -> OperatorError:
    return OperatorError(
        label,
        wanted,
        f"`{done.command}` ended with {done.rc}: {' / '.join(mlxconfig.complaint(done.text))}",
        "Run the command on the host to see all of its output",
        "mlxconfig_failed",
        command=done.command,
        rc=done.rc,
    )
