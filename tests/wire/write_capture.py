"""Write the capture of the twin in tests/data/captures: `python -m wire.write_capture`, with tests on PYTHONPATH."""

from __future__ import annotations

import contextlib
import importlib
import os
import ssl
import sys
import tempfile
from pathlib import Path

from pyVim.connect import Disconnect, SmartConnect
from pyVim.task import WaitForTask
from pyVmomi import vim

ROOT = Path(__file__).resolve().parents[2]
DEST = ROOT / "tests" / "data" / "captures" / "twin-small.zip"
SEED = "small"
Device = vim.vm.device.VirtualPCIPassthrough
# Two vGPUs that share a GPU, and a whole port: what running VMs show is evidence for most rules of VMs.
PORT = Device.AllowedDevice(vendorId=0x15B3, deviceId=0x101D)
DEVICES = {
    "train-01": [Device.VmiopBackingInfo(vgpu="grid_a100-20c"), Device.VmiopBackingInfo(vgpu="grid_a100-20c")],
    "train-02": [Device.DynamicBackingInfo(deviceName="", assignedId="", allowedDevice=[PORT], customLabel="fabric")],
}
SETTINGS = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "256"}


def start_vms(twin):
    """Give the VMs of the seed their devices, and start them."""
    tls = ssl.create_default_context(cafile=str(twin.ca_file))
    client = SmartConnect(host=twin.host, port=twin.port, user=twin.username, pwd=twin.password, sslContext=tls)
    for name, backings in DEVICES.items():
        vm = client.content.searchIndex.FindByInventoryPath(f"lab/vm/training/{name}")
        changes = [
            vim.vm.device.VirtualDeviceSpec(operation="add", device=Device(key=-number, backing=backing))
            for number, backing in enumerate(backings, 1)
        ]
        extra = [vim.option.OptionValue(key=key, value=value) for key, value in SETTINGS.items()]
        spec = vim.vm.ConfigSpec(memoryReservationLockedToMax=True, deviceChange=changes, extraConfig=extra)
        WaitForTask(vm.ReconfigVM_Task(spec))
        WaitForTask(vm.PowerOnVM_Task())
    Disconnect(client)


def main():
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    importlib.import_module("conftest")
    from vsphere_twin.launch import launch
    from wire import drive, drive_switch

    with contextlib.ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        twin = running.enter_context(launch(SEED, faces=("switches", "redfish")))
        start_vms(twin)
        made = os.path.join(folder, DEST.name)
        reached = drive.connection(twin, os.path.join(folder, "sessions"))
        driver = running.enter_context(contextlib.closing(drive.Driver(reached, twin)))
        answers = [driver(module, dest=made) for module in ("site_capture_info", "host_capture_info")]
        answers += [driver("bmc_capture_info", at=host, dest=made) for host in twin.bmc_endpoints]
        switches = twin.world.fabric.switches
        answers += [drive_switch.run(twin, name, "switch_capture_info", {"dest": made}) for name in switches]
        if any(answer["failed"] for answer in answers):
            sys.exit(str([answer["msg"] for answer in answers if answer["failed"]]))
        # The table of pseudonyms stays behind.
        DEST.write_bytes(Path(made).read_bytes())


if __name__ == "__main__":
    main()
