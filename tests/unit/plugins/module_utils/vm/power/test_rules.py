# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power import rules


@pytest.mark.parametrize(
    "said, reason, todo",
    [
        (
            "Invalid memory setting: memory reservation (sched.mem.min) should be equal to memsize(65536).",
            "no_full_reservation",
            "memory_reservation=all",
        ),
        ("The firmware could not allocate 33554432 KB of PCI MMIO. Increase the size", "mmio_too_small", "mmio=auto"),
        (
            "pciPassthru:14: No SR-IOV virtual function (VF) is available for given physical function (PF).",
            "no_virtual_function",
            "Free a virtual function",
        ),
        ("Device 'PCI device 0' is not available on the host.", "device_not_available", "that no other VM"),
        ("The operation would violate a virtual machine affinity/anti-affinity rule.", "drs_rule", "drs_placement"),
        ("Invalid CPU reservation for the latency-sensitive VM", "no_full_cpu_reservation", "latency sensitivity"),
    ],
)
def test_what_the_vendor_says_leads_to_what_to_do(said, reason, todo):
    error = OperatorError("VM a", "is not on", f"vCenter answered: {said}", "Look.", "vm_config", fault="X")
    reported = rules.explained(error)
    assert said in reported.message
    assert todo in reported.message
    assert reported.failure == documented("vm_config", subject="VM a", fault="X", reason=reason)


def test_words_that_nobody_knows_keep_the_general_advice():
    error = OperatorError("VM a", "is not on", "The moon is full.", "Wait.", "vm_config")
    assert rules.explained(error) is error
