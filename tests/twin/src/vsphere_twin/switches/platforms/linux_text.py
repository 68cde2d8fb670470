"""Text as the tools of Linux switches write it."""

from __future__ import annotations

import json
import re


def simple(headers, rows, right=(), after="", pad=0):
    """Columns two blanks apart under dashes; right names the right-aligned ones, pad widens heads as tabulate does."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max([len(head) + pad, *(len(row[at]) for row in rows)]) for at, head in enumerate(headers)]

    def line(cells):
        placed = [cell.rjust(widths[at]) if at in right else cell.ljust(widths[at]) for at, cell in enumerate(cells)]
        return "  ".join(placed).rstrip() + after

    return [line(headers), "  ".join("-" * width for width in widths) + after, *(line(row) for row in rows)]


def indented(lines, blanks):
    """Lines moved to the right."""
    return [" " * blanks + line for line in lines]


def text(lines):
    """Lines with their ends."""
    return "".join(f"{line}\n" for line in lines)


def natural(name):
    """A key that sorts swp2 before swp10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(name))]


def lldp_json(switch):
    """Return the output of lldpctl -f json on the neighbours."""
    found = [
        {
            near.name: {
                "via": "LLDP",
                "rid": "1",
                "chassis": {peer.system: {"id": {"type": "mac", "value": peer.chassis}}},
                "port": {"id": {"type": "ifname", "value": peer.port}, "descr": peer.description, "ttl": "120"},
            }
        }
        for near, peer in switch.neighbours()
    ]
    return json.dumps({"lldp": {"interface": found}}, indent=2) + "\n"
