# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Load the files of an engine into its service, and report a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock, wait

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.service import Service

# Time limits of an engine to answer after its start, and to apply a new configuration.
ANSWERS_S, RELOADS_S = 60, 10


def containers_in_the_way(label: str, containers: Sequence[str]) -> OperatorError:
    return OperatorError(
        label,
        "cannot load its configuration without a restart",
        f"A restart stops these running containers: {', '.join(containers)}.",
        "Stop them, set `restart: allow`, or set `live-restore` in the engine configuration first. With "
        "`restart: later`, the module writes the files and you restart the engine.",
        "containers_would_be_lost",
        containers=list(containers),
    )


class Loading:
    """One engine that has to load its files."""

    def __init__(self, label: str, commands: Commands, restart: str, clock: type[Clock] = Clock) -> None:
        self._label = label
        self._commands = commands
        self._safe = restart == "safe"
        self._clock = clock

    def load(
        self,
        services: Sequence[Service],
        containers: Callable[[], Sequence[str]],
        is_loaded: Callable[[], bool],
        put_back: Callable[[], None],
        reload_first: bool = False,
        reread_units: bool = False,
    ) -> None:
        """Load by the least disruptive working method. services are in their start order, the engine itself last.

        containers() names those that a restart would stop, is_loaded() reads the engine again, and put_back() restores
        the old files.
        """
        begun = self._clock.wall()
        engine = services[-1]
        if reread_units:
            self._reread_units()
        if reload_first:
            engine.do("reload")
            if self._until(is_loaded, engine, RELOADS_S):
                return
        # A container may have started since they were counted.
        in_the_way = containers() if self._safe else ()
        if in_the_way and reload_first:
            self._take_back(engine, put_back, "did not load its new configuration", begun)
        elif in_the_way:
            put_back()
            if reread_units:
                self._reread_units()
            raise containers_in_the_way(self._label, in_the_way)
        started = all(service.start_afresh() for service in services)
        if not (started and self._until(is_loaded, engine, ANSWERS_S)):
            what = "does not run with its new configuration"
            self._take_back(engine, put_back, what, begun, services, reread_units)

    def _until(self, is_loaded: Callable[[], bool], engine: Service, limit_s: float) -> bool:
        def ended() -> str:
            return "loaded" if is_loaded() else "" if engine.look().active else "stopped"

        return wait(ended, limit_s, self._clock)[0] == "loaded"

    def _take_back(
        self,
        engine: Service,
        put_back: Callable[[], None],
        what: str,
        begun: float,
        services: Sequence[Service] = (),
        reread_units: bool = False,
    ) -> None:
        words = engine.last_words(since=begun)
        put_back()
        if reread_units:
            self._reread_units()
        if not services:
            engine.do("reload")
            after = "The module restored the old configuration, and the engine still runs with it"
        elif engine.start_afresh():
            after = "The module restored the old configuration, and the engine runs with it"
        else:
            after = "The module restored the old configuration, but the engine does not start with it either"
        raise OperatorError(
            self._label,
            what,
            f"{after}. The last lines of its journal: {words}.",
            f"Correct the error in the journal. See `journalctl -u {engine.unit}` for all lines.",
            "engine_refused",
            journal=words,
        )

    def _reread_units(self) -> None:
        self._commands.run(["systemctl", "daemon-reload"], limit_s=120)
