# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
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


def host_with(*names):
    """A noun and its host, whose kernel has these modules."""
    infos = [SimpleNamespace(name=name, optionString="", enabled=True, loaded=True) for name in names]
    system = SimpleNamespace(QueryModules=lambda: infos)
    found = SimpleNamespace(name="esx-01", row={"configManager": SimpleNamespace(kernelModuleSystem=system)})
    noun = Noun({}, None)
    noun._esxcli = SimpleNamespace(call=lambda _command, module: [{"Name": "pfctx", "Description": "For " + module}])
    return noun, found


def test_the_state_of_a_module_has_the_parameters_that_it_knows():
    noun, found = host_with("nmlx5_core", "nvidia")
    state = noun.look(found, SimpleNamespace(module="nmlx5_core"))
    assert (state.name, list(state.parameters)) == ("nmlx5_core", ["pfctx"])


def test_a_module_that_the_host_does_not_have_is_an_error_with_those_that_it_has():
    noun, found = host_with("nvidia", "igbn")
    with pytest.raises(OperatorError) as refused:
        noun.look(found, SimpleNamespace(module="nmlx5_core"))
    assert refused.value.failure == documented("module_not_found", subject=Noun.label, known=["igbn", "nvidia"])
