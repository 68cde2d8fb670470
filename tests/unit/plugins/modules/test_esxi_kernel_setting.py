# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host import kernel
from ansible_collections.aiready.vsphere.plugins.modules import esxi_kernel_setting as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}


class Noun(module.KernelSettings):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one_and_holds_only_what_the_task_names():
    row = {"Type": "Bool", "Configured": "FALSE", "Runtime": "FALSE", "Default": "FALSE"}
    state = kernel.settings_of([{"Name": "atsSupport", **row}, {"Name": "vga", **row, "Configured": "TRUE"}])
    params = described.checked({**HOST, "settings": {"atsSupport": True}}, module.ARGUMENTS)
    described.assert_as_documented(module, described.plan(Noun(params, None), params, state))
