# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import read
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import Device
from pyVmomi import vim


def info(pci, name, vendor, kind="basic"):
    return vim.host.GraphicsInfo(pciId=pci, deviceName=name, vendorName=vendor, graphicsType=kind, memorySizeInKB=0)


def test_the_display_adapter_of_the_server_is_no_device_of_the_driver():
    found = [
        info("0000:03:00.0", "Integrated Matrox G200eW3", "Matrox Electronics Systems Ltd."),
        info("0000:17:00.0", "GA100 [A100 PCIe 40GB]", "NVIDIA Corporation", "sharedDirect"),
    ]
    assert read._devices(found) == (Device("0000:17:00.0", "GA100 [A100 PCIe 40GB]", "sharedDirect"),)
    assert read._devices(None) == ()
