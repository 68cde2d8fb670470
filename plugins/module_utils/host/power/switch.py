# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The power switch of a host: its BMC, as far as a restart needs it."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import power, session, system


class Switch:
    """Power of one server; connects to the BMC only when a caller needs it."""

    def __init__(self, bmc: session.Bmc, system_id: str | None) -> None:
        self._bmc = bmc
        self._system_id = system_id
        self._system: system.System | None = None

    @property
    def _server(self) -> system.System:
        if self._system is None:
            self._system = system.find(self._bmc, self._system_id)
        return self._system

    def power_state(self) -> str:
        """The power state that the BMC reports, such as On, Off or PoweringOff."""
        return power.state(self._bmc, self._server)

    def switch_on_if_off(self) -> None:
        """Power the server on if it is off; the BMC answers before the server runs."""
        if self.power_state() == power.OFF:
            power.switch(self._bmc, self._server, power.ON)


@contextlib.contextmanager
def opened(params: Mapping[str, Any]) -> Iterator[Switch | None]:
    """The power switch that the parameters define, or None."""
    if not params.get("bmc_address"):
        yield None
        return
    bmc = session.connect(params)
    try:
        yield Switch(bmc, params["system_id"])
    finally:
        bmc.close()
