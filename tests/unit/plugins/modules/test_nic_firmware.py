# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import types

import pytest
from ansible_collections.aiready.vsphere.plugins.action import nic_firmware as action
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host import firmware, firmware_args, mlxconfig
from ansible_collections.aiready.vsphere.plugins.modules import nic_firmware as module

from unit.plugins.modules import described


def test_a_result_is_the_documented_one():
    params = described.checked({"settings": {"ATS_ENABLED": True}}, firmware_args.ARGUMENTS)
    device = mlxconfig.MstDevice("mt4125_pciconf0", "ConnectX6DX", "0000:18:00.0", "vmnic2")
    key = mlxconfig.Key("ATS_ENABLED", "False(0)", "False(0)", "False(0)")
    state = firmware.Adapter(device, {"ATS_ENABLED": key})
    ids = {"name": "vmnic2", "mst": device.mst, "pci": device.pci, "model": device.kind, "host": "esx-01"}
    result = described.plan(action.NicFirmware(params, None, "esx-01"), params, state, "devices", ids)
    described.assert_as_documented(module, result, "devices")


class Remote:
    """A host whose mst names its adapters once it was started; said holds what was run."""

    def __init__(self, columns="Default  Current  Next Boot", adapters=1):
        self.said = []
        self.columns, self.adapters = columns, adapters

    def run(self, argv):
        self.said.append(" ".join(argv))
        name = "mt4129_pciconf0" if "mst start" in self.said else "NA"
        texts = {"mst": f"ConnectX7(rev:0) {name} c3:00.0 mlx5_7 net-ens114 1\n" * self.adapters}
        values = " ".join(["False(0)"] * len(self.columns.split("  ")))
        table = f"Configurations: {self.columns}\n ATS_ENABLED {values}\n"
        return types.SimpleNamespace(rc=0, text=texts.get(argv[0], table), command=" ".join(argv))


def test_adapters_without_names_are_a_reason_to_start_mst():
    params, remote, items = described.checked({"settings": {}}, firmware_args.ARGUMENTS), Remote(), []
    action.NicFirmware(params, remote, "esx-01").read(items)
    assert remote.said == ["mst status -vv", "mst start", "mst status -vv", "mlxconfig -d mt4129_pciconf0 -e query"]
    assert [item.label for item in items] == ["mt4129_pciconf0"]


def test_a_host_without_adapters_of_nvidia_is_an_error():
    params, items = described.checked({"settings": {}}, firmware_args.ARGUMENTS), []
    with pytest.raises(OperatorError) as refused:
        action.NicFirmware(params, Remote(adapters=0), "esx-01").read(items)
    assert (refused.value.code, items) == ("no_adapters", [])


def test_tools_that_show_one_column_of_values_are_too_old():
    params, items = described.checked({"settings": {}}, firmware_args.ARGUMENTS), []
    action.NicFirmware(params, Remote("Next Boot"), "esx-01").read(items)
    assert [(item.error.code, "Next Boot" in item.error.message) for item in items] == [("tools_too_old", True)]
