# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The power of a server through its BMC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import read_again
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.trouble import FateUnknown

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import Bmc
    from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import System

ON, OFF = "On", "Off"
# In the order of preference; the module uses the first that the server offers.
RESETS = {
    (ON, "graceful"): ("On", "ForceOn"),
    (ON, "forced"): ("ForceOn", "On"),
    (OFF, "graceful"): ("GracefulShutdown",),
    (OFF, "forced"): ("ForceOff",),
}
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 10.0
# Transitional power states of Redfish, with the state that follows.
TOWARDS = {"PoweringOn": ON, "PoweringOff": OFF}


def state(bmc: Bmc, system: System) -> str:
    """The PowerState of a server: On, Off, PoweringOn, PoweringOff, ..."""
    return read_again(bmc, system).power


def switch(bmc: Bmc, system: System, wanted: str, how: str = "graceful") -> None:
    """Ask for On or Off; the server needs a while for it, see wait."""
    reset = ((system.body.get("Actions") or {}).get("#ComputerSystem.Reset")) or {}
    offered = reset.get("ResetType@Redfish.AllowableValues") or _offered(bmc, reset)
    types = RESETS[(wanted, how)]
    chosen = next((name for name in types if offered is None or name in offered), None)
    if chosen is None or not reset.get("target"):
        todo = "Set `how: forced`, which cuts the power" if (wanted, how) == (OFF, "graceful") else "Use the console"
        raise OperatorError(
            bmc.name,
            f"cannot send {types[0]} to the server",
            f"The BMC offers only: {', '.join(offered or ()) or 'no reset'}",
            todo,
            code="reset_not_offered",
            offered=list(offered or ()),
        )
    try:
        bmc.change("POST", reset["target"], f"cannot send {chosen} to the server", {"ResetType": chosen})
    except FateUnknown:
        # The caller waits for the state and sees the result.
        return


def wait(bmc: Bmc, system: System, wanted: str, timeout_s: float) -> str:
    """The PowerState once it is the desired one; after the timeout the error contains the last one seen."""
    began = bmc.clock.now()
    pause = _SHORTEST_PAUSE_S
    while True:
        seen = state(bmc, system)
        if seen == wanted:
            return seen
        if bmc.clock.now() - began >= timeout_s:
            todo = (
                "Check the server's console. An ESXi host shuts down on request only in maintenance mode. "
                "`how: forced` cuts the power"
                if wanted == OFF
                else "Check the server's console and its event log"
            )
            raise OperatorError(
                bmc.name,
                f"the server did not reach the power state {wanted}",
                f"After {timeout_s} seconds its power state is {seen}",
                todo,
                code="power_timeout",
                last_state=seen,
            )
        bmc.clock.sleep(pause)
        pause = min(pause * 1.6, _LONGEST_PAUSE_S)


def _offered(bmc: Bmc, reset: Mapping[str, Any]) -> list[str] | None:
    """The values where the BMC keeps them in an ActionInfo; None if it does not list them."""
    path = reset.get("@Redfish.ActionInfo")
    if path is None:
        return None
    for parameter in bmc.look(path).body.get("Parameters") or ():
        if parameter.get("Name") == "ResetType":
            return parameter.get("AllowableValues")
    return None
