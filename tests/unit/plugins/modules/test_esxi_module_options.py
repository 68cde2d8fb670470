# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.host import module_state
from ansible_collections.aiready.vsphere.plugins.modules import esxi_module_options as module

from unit.plugins.modules import described

HOST = {**described.LOGIN, "host": "esx-01.example.com"}
OPTIONS = {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": 2}


class Noun(module.ModuleOptions):
    label = "Host esx-01.example.com"


def test_a_result_is_the_documented_one():
    params = described.checked({**HOST, "module": "nmlx5_core", "options": OPTIONS}, module.ARGUMENTS)
    state = module_state.Module("nmlx5_core", True, True, {}, {})
    described.assert_as_documented(module, described.plan(Noun(params, None), params, state))
