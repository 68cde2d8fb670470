# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The table of boards and vGPU types as it was read once against its sources: a slip of a digit shows."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import boards

from unit import approved

KINDS = ("time_sliced", "mig_backed", "other_series")


def line(entry, left_out=()):
    if not hasattr(entry, "_asdict"):
        return str(entry).replace(" ", "")
    reported = {key: value for key, value in entry._asdict().items() if key not in left_out}
    return ";".join(f"{key}={value}" for key, value in reported.items()).replace(" ", "")


@pytest.mark.parametrize("board", boards.BOARDS, ids=lambda board: board.key)
def test_types_of_a_board(board):
    reported = {kind: [line(entry) for entry in getattr(board, kind)] for kind in KINDS}
    approved.check(__file__, board.key, {"board": line(board, KINDS), **reported})
