# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What modules about one host have in common."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun

from unit.plugins.modules.described import LOGIN
from wire.drive import run


@pytest.mark.parametrize(
    "module, given, named",
    [
        ("pvrdma_host", {"host": " ", "vmknic": "vmk1"}, ["host"]),
        ("pvrdma_host", {"host": "esx-01", "vmknic": ""}, ["vmknic"]),
        ("esxi_service", {"host": "", "service": "", "state": "started"}, ["host", "service"]),
    ],
)
def test_an_empty_name_is_refused_before_vcenter_is_asked(module, given, named):
    answer = run(f"aiready.vsphere.{module}", {**LOGIN, **given})
    assert (answer["failed"], answer["failure"]["code"]) == (True, "invalid_parameters")
    assert [problem.split()[0] for problem in answer["failure"]["problems"]] == named
    assert answer["msg"] == " ".join(answer["failure"]["problems"])


def noun(managers):
    made = HostNoun({}, None)
    made._found = SimpleNamespace(name="esx-01", row={"configManager": managers})
    return made


@pytest.mark.parametrize("managers", [None, SimpleNamespace(graphicsManager=None)], ids=["none at all", "not this one"])
def test_a_manager_that_the_host_does_not_have_is_an_error(managers):
    with pytest.raises(OperatorError) as refused:
        noun(managers).manager("graphicsManager")
    assert refused.value.failure == {"code": "manager_missing", "subject": "Host esx-01"}
    assert "graphicsManager" in refused.value.message


def test_a_manager_that_the_host_has_is_used():
    assert noun(SimpleNamespace(graphicsManager="it")).manager("graphicsManager") == "it"
