# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Complete search with a budget: for small data centres it finds any existing placement. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Hashable, Iterator, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import fit

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import Place, Vm
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.search import Board


class Exact:
    """Backtracking over a board, up to a number of states; a known dead end is not entered twice."""

    def __init__(self, board: Board, vms: Sequence[Vm], budget: int) -> None:
        self._board = board
        self._vms = vms
        self._budget = budget
        self._dead: set[Hashable] = set()

    @property
    def gave_up(self) -> bool:
        """Return whether the search ended early, so that placements may exist."""
        return self._budget <= 0

    def run(self) -> bool:
        """Place all VMs and return whether that succeeded; the board is unchanged if not."""
        return self._descend(0)

    def _descend(self, at: int) -> bool:
        if at == len(self._vms):
            return True
        state = (at, self._signature())
        if state in self._dead or self._budget <= 0:
            return False
        self._budget -= 1
        if self._hopeful(at):
            vm = self._vms[at]
            for place in self._places(vm):
                self._board.put(vm, place)
                if self._descend(at + 1):
                    return True
                self._board.lift(vm)
        self._dead.add(state)
        return False

    def _places(self, vm: Vm) -> Iterator[Place]:
        """Yield placements on all hosts, but only one of several equal hosts."""
        seen = set()
        for room in sorted(self._board.allowed(vm), key=lambda room: self._board.rank(vm, room)):
            mine = vm.present is not None and vm.present.host == room.host.moid
            kind = (room.signature(), mine)
            if kind not in seen:
                seen.add(kind)
                yield from list(fit.options(room, vm))

    def _hopeful(self, at: int) -> bool:
        """Return whether each remaining VM has a placement by itself."""
        kinds = {(vm.kind, vm.job): vm for vm in self._vms[at:]}
        return all(any(fit.first(room, vm) is not None for room in self._board.allowed(vm)) for vm in kinds.values())

    def _signature(self) -> Hashable:
        rooms = tuple(room.signature() for room in self._board.rooms.values())
        return rooms, tuple(sorted(self._board.stores.items()))
