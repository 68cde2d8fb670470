# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs import params, state
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.drs.noun import DrsPlacement
from ansible_collections.aiready.vsphere.plugins.modules import drs_placement

from unit.answers import Module

from .described import LOGIN, assert_as_documented, checked, plan

NAMES = ["train-01", "train-02"]
KEPT = {"anti_affinity": False, "automation": "manual"}


class OnPaper(DrsPlacement):
    """The noun without a cluster."""

    def want(self, item):
        return state.Drs(state.Rule(tuple(NAMES), True), tuple((name, "manual") for name in NAMES))


def test_a_result_is_as_documented():
    now = state.Drs(None, tuple((name, "cluster") for name in NAMES))
    ids = {"name": "gpu", "moid": "domain-c8", "vms": NAMES}
    requested = params.request_of(checked({**LOGIN, "cluster": "gpu", "vms": NAMES, **KEPT}, params.ARGUMENTS))
    found = plan(OnPaper(Module(params={"planned": None})), requested, now, key="vms", ids=ids)
    paths = ("rule.vms", "automation.train-01")
    shown = dict(found, changes=[change for change in found["changes"] if change["path"] in paths])
    assert_as_documented(drs_placement, shown, "cluster")


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"vms": NAMES}, "name is needed for the rule; set it, or set anti_affinity=false."),
        ({"name": "apart"}, "vms is empty; list the VMs to keep apart"),
        ({"name": "apart", "vms": ["train-01"]}, "vms has one VM; a rule that keeps VMs apart needs at least two."),
        ({"name": "apart", "vms": ["a", "a", "b"]}, "VM a is listed 2 times; list it once."),
        ({"name": "apart", "vms": ["a", " "]}, "vms has an empty entry; remove it."),
        ({"name": "x" * 81, "vms": NAMES}, "name has 81 characters; vSphere allows at most 80."),
        ({"state": "absent"}, "name and vms are both missing; set at least one of them."),
        ({"cluster": " ", "name": "apart", "vms": NAMES}, "cluster is empty; set its name."),
        ({"anti_affinity": False, "automation": "manual", "name": "x"}, "or to set the automation of"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong, says):
    asked = checked({**LOGIN, "cluster": "gpu", **wrong}, params.ARGUMENTS)
    assert says in " ".join(params.check_params(asked))
