from __future__ import annotations

from ..contract import Row
from ..lab import datacenter, lab
from ..observe import reserved, virtual_machine

# An address is the guest's business, and known once it has booted.
UNFORESEEN = ("address", "addresses")
BOTH = [{"name": "train-01"}, {"name": "train-02"}]


def powers(twin):
    """Power and notes of two VMs, reported by a plain client."""
    found = {}
    for name in ("train-01", "train-02"):
        with virtual_machine(twin, name) as machine:
            notes = reserved(machine.config.extraConfig)
            found[name] = (machine.runtime.powerState, notes)
    return found


def both(power, notes=()):
    return {"train-01": (power, dict(notes)), "train-02": (power, dict(notes))}


ROWS = [
    Row(
        module="vm_power",
        name="a fleet goes on, goes off to come back, and comes back",
        seed=lab({"networks": ["VM Network"]}, {"networks": ["VM Network"]}),
        create={"vms": BOTH, "state": "on", "wait_for": "address"},
        modify={"vms": BOTH, "state": "off", "again": True},
        delete={"vms": BOTH, "state": "on"},
        observe=powers,
        created=both("poweredOn"),
        modified=both("poweredOff", {"aiready.vsphere.power_on_again": "true"}),
        deleted=both("poweredOn"),
        unforeseen=UNFORESEEN,
    ),
    Row(
        module="vm_power",
        name="guests that cannot be asked are cut off when the user says so",
        seed=lab({"tools": "none"}, {"tools": "none"}),
        create={"vms": BOTH, "state": "on"},
        modify={"vms": BOTH, "state": "off", "force": True},
        delete={"vms": BOTH, "state": "on"},
        observe=powers,
        created=both("poweredOn"),
        modified=both("poweredOff"),
        deleted=both("poweredOn"),
        unforeseen=UNFORESEEN,
    ),
]

EXAMPLES_SEED = {
    **lab(),
    "datacenters": [datacenter("dc1", [{"name": "esx-01"}], [{"networks": ["VM Network"]}] * 2)],
}
# There is no state absent here; off is what undoes on.
EXAMPLES_UNDO = ("Shut a VM down and cut its power after a minute",)
