from __future__ import annotations

from ..contract import Row
from ..vib_lab import ESX, bare, installed, ready, seed, software, stored

HOST = {"host": ESX}
GONE = {**HOST, "state": "absent"}

ROWS = [
    Row(
        module="nvaie_vib",
        name="a bare host, then an update",
        seed=seed(),
        create={**HOST, "depot": stored("550.54.16")},
        modify={**HOST, "depot": stored("570.124.03")},
        delete=GONE,
        observe=software,
        created=installed("550.54.16"),
        modified=installed("570.124.03"),
        deleted=bare(),
    ),
    Row(
        module="nvaie_vib",
        name="a host that runs the graphics driver, then an older release",
        seed=ready(family="graphics"),
        create={**HOST, "depot": stored("550.54.16"), "replace": True},
        modify={
            **HOST,
            "depot": "/vmfs/volumes/datastore-01/" + stored("525.105.14").partition("] ")[2],
            "downgrade": "allow",
        },
        delete=GONE,
        observe=software,
        created=installed("550.54.16", runs=("graphics", "550.54.16")),
        modified=installed("525.105.14", runs=("graphics", "550.54.16")),
        deleted=bare(runs=("graphics", "550.54.16")),
    ),
    Row(
        module="nvaie_vib",
        name="the graphics product",
        seed=seed(),
        create={**HOST, "depot": stored("550.54.16", "graphics"), "family": "graphics"},
        modify={**HOST, "depot": stored("550.54.16"), "replace": True},
        delete=GONE,
        observe=software,
        created=installed("550.54.16", family="graphics"),
        modified=installed("550.54.16"),
        deleted=bare(),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed(hosts=2)
