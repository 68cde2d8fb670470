# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The common style of all plots. The first plot imports Matplotlib."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any, Iterable, Iterator, cast

from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.svg import COLOURS, SETTINGS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

# In units of the picture. A plot is a little smaller on a phone, and a little larger on a desktop.
WIDTH = 440
UNIT = 72.0
OLDEST = (3, 7)
FONT = 12.5
COLOUR_OF = {"rdma": COLOURS["first"], "tcp": COLOURS["second"]}
DASHES: dict[str, str | tuple[int, tuple[int, int]]] = {"rdma": "-", "tcp": (0, (5, 2))}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


class NoPlots(Exception):
    """The reason why Matplotlib is missing."""


@contextlib.contextmanager
def ready() -> Iterator[None]:
    """The settings for all figures, independent of the settings of the user."""
    try:
        import matplotlib
    except ImportError as error:
        raise NoPlots(f"Matplotlib cannot be imported: {error}") from None
    if matplotlib.__version_info__[:2] < OLDEST:
        raise NoPlots(f"Matplotlib is {matplotlib.__version__}")
    # An operator cannot act on messages about caches and fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                **SETTINGS,
                "font.size": FONT,
                "text.color": COLOURS["ink"],
                "text.parse_math": False,
                "axes.labelcolor": COLOURS["muted"],
                "axes.edgecolor": COLOURS["rule"],
                "axes.facecolor": "none",
                "axes.grid": True,
                "axes.axisbelow": True,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "grid.color": COLOURS["rule"],
                "grid.linewidth": 0.7,
                "xtick.color": COLOURS["rule"],
                "ytick.color": COLOURS["rule"],
                "xtick.labelcolor": COLOURS["muted"],
                "ytick.labelcolor": COLOURS["muted"],
                "legend.frameon": False,
                "legend.fontsize": FONT - 0.5,
                "lines.linewidth": 2,
                "hatch.linewidth": 0.8,
            }
        )
        yield


def figure(height: float, rows: int = 1, width: float = WIDTH, **layout: Any) -> tuple[Figure, list[Axes]]:
    """A figure of this height in units, with axes one below the other."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width / UNIT, height / UNIT), dpi=UNIT, layout="constrained", **layout)
    cast("ConstrainedLayoutEngine", made.get_layout_engine()).set(w_pad=6 / UNIT, h_pad=5 / UNIT)
    return made, [made.add_subplot(rows, 1, index + 1) for index in range(rows)]


def named(axes: Axes, label: str, simulated: bool) -> None:
    """Put the label and the mark of simulated values above the axis, because rotated text is hard to read."""
    axes.set_title(label, loc="left", fontsize=FONT - 0.5, color=COLOURS["muted"], pad=8)
    if simulated:
        axes.set_title("simulated", loc="right", fontsize=FONT - 0.5, color=COLOURS["warn"], style="italic", pad=8)


def legend(made: Figure, handles: Iterable[Artist], columns: int = 3) -> None:
    """A legend above all panels, from left to right."""
    made.legend(handles=handles, loc="outside upper left", ncols=columns, handlelength=2.4, columnspacing=1.6)


def whole(axes: Axes, values: Iterable[float]) -> None:
    """Ticks at these whole numbers, as far as there is room, and always at the last one."""
    row = sorted(set(values))
    apart = (row[-1] - row[0]) / 16
    kept = row[-1:]
    for value in reversed(row[:-1]):
        if kept[-1] - value >= apart:
            kept.append(value)
    axes.set_xticks(kept[::-1], [f"{value:g}" for value in kept[::-1]])
