# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A figure of Matplotlib as an SVG with the colours and the font of the page, a title and a description."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Placeholders in a figure. The page has colours for light, dark and print under the same names.
COLOURS = {
    "ink": "#010101",
    "muted": "#020202",
    "rule": "#030303",
    "page": "#040404",
    "first": "#050505",
    "second": "#060606",
    "pass": "#070707",
    "warn": "#080808",
    "fail": "#090909",
    "idle": "#0a0a0a",
}
_COLOUR = re.compile("|".join(COLOURS.values()))
_NAMES = {value: f"var(--{name})" for name, value in COLOURS.items()}
# Fixed, so that the same figure has the same names of clips and markers.
SETTINGS: dict[RcKeyType, str] = {"svg.fonttype": "none", "svg.hashsalt": "aiready.vsphere"}


def drawn(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as text; name is unique in the page, because all ids start with it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(buffer.getvalue())
    _strip(root)
    for element in root.iter():
        _adapt(element, name)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.attrib.update({"class": "plot", "role": "img", "aria-labelledby": f"{name}-title {name}-desc"})
    root.attrib.pop("version", None)
    for index, (tag, text) in enumerate((("title", title), ("desc", description))):
        child = ElementTree.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        child.text = text
        root.insert(index, child)
    return ElementTree.tostring(root, encoding="unicode")


def _strip(root: ElementTree.Element) -> None:
    """Remove metadata, and the style sheet, which would apply to the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)


def _adapt(element: ElementTree.Element, name: str) -> None:
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.attrib[key] = f"{name}-{value}"
        elif key == f"{{{XLINK}}}href" and value.startswith("#"):
            element.attrib[key] = f"#{name}-{value[1:]}"
        else:
            ours = value.replace("url(#", f"url(#{name}-")
            ours = re.sub(r"font: (?:\w+ )?([\d.]+px) [^;]+", r"font-size: \1", ours)
            element.attrib[key] = _COLOUR.sub(lambda found: _NAMES[found[0]], ours)
