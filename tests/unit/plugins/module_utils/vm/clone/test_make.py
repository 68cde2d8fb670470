# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""When a task of a VM is worth another try."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.tasks import Outcome
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import make
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone.state import Machine
from pyVmomi import vim, vmodl

UNCLEAR = OperatorError("VM train-01", "cannot be created", "The answer was lost", "Look", "connection_lost")
LATE = OperatorError("VM train-01", "cannot be created", "It takes long", "Wait", "task_timeout")


@pytest.mark.parametrize(
    "outcome, again",
    [
        (Outcome(), False),
        (Outcome(error=UNCLEAR), False),
        (Outcome(error=UNCLEAR, uncertain=True), True),
        (Outcome(error=LATE, uncertain=True), False),
        (Outcome(error=UNCLEAR, fault=vim.fault.DuplicateName()), True),
        (Outcome(error=UNCLEAR, fault=vmodl.fault.ManagedObjectNotFound()), True),
        (Outcome(error=UNCLEAR, fault=vim.fault.NoPermission()), False),
    ],
    ids=["done", "failed", "lost", "late", "made by others", "removed by others", "refused"],
)
def test_a_task_is_tried_again_where_another_may_have_been_faster_and_never_for_ever(outcome, again):
    assert [make._again(outcome, attempt) for attempt in range(3)] == [again, again, False]


def test_the_state_of_a_vm_is_that_of_the_latest_reading():
    item = Item("train-01", {}, {})
    item.now = Machine(exists=True)
    assert make.current(item).exists
    item.proved = Machine()
    assert not make.current(item).exists
