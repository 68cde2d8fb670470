"""The tasks of role guest_vm that install the driver and read it again ask for the same driver."""

from __future__ import annotations

import pytest
import yaml

from house.collection import NAME, ROOT

TASKS = ROOT / "roles" / "guest_vm" / "tasks"
MODULE = f"{NAME}.vgpu_guest_driver"
# The package is checked where it is installed.
AT_INSTALLATION = {"checksum"}


def options(name: str) -> dict:
    """Return the options of the module in this file."""
    steps = yaml.safe_load((TASKS / f"{name}.yml").read_text(encoding="utf-8"))
    steps += [one for step in steps for one in step.get("block", ())]
    (found,) = [step[MODULE] for step in steps if MODULE in step]
    return {key: value for key, value in found.items() if key not in AT_INSTALLATION}


@pytest.mark.parametrize("name", ["restart", "prove"])
def test_a_later_look_asks_for_the_driver_that_was_installed(name):
    assert options(name) == options("driver")
