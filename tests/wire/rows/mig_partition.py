from __future__ import annotations

from ..contract import Row
from ..lab import lab
from ..mig import A30, A100, H100, partitions

HOST = "esx-01"
ON = {"gpus": ["all"]}
OFF = {**ON, "mode": "disabled", "vsphere": "instances"}


def layout(*entries, gpus=("all",)):
    return {"gpus": list(gpus), "layout": list(entries), "vsphere": "instances"}


def waits(now, later):
    """A mode that becomes another one with the reboot of the host."""
    return {"mode": now, "pending": later, "instances": {}}


def active(mode, **instances):
    return {"mode": mode, "pending": mode, "instances": {int(start[1:]): what for start, what in instances.items()}}


def row(name, gpus, create, modify, created, modified, deleted, delete=None):
    return Row(
        module="mig_partition",
        name=name,
        seed=lab(gpus=gpus, ssh="running"),
        faces=("ssh",),
        at=HOST,
        create=create,
        modify=modify,
        delete=delete or OFF,
        observe=lambda twin: partitions(twin, HOST),
        created=created,
        modified=modified,
        deleted=deleted,
    )


ROWS = [
    row(
        "Ampere on ESXi, whose mode waits for the reboot",
        [A100, A100],
        create={"gpus": ["0"]},
        modify=ON,
        created=[waits(False, True), active(False)],
        modified=[waits(False, True), waits(False, True)],
        deleted=[active(False), active(False)],
    ),
    row(
        "Hopper, from mode to layout at once",
        [H100],
        create=layout("3g", "2g", "1g"),
        modify=layout("4g", 9),
        created=[active(True, _0=("2g.20gb", ()), _2=("1g.10gb", ()), _4=("3g.40gb", ()))],
        modified=[active(True, _0=("4g.40gb", ()), _4=("3g.40gb", ()))],
        deleted=[active(False)],
    ),
    row(
        "a layout that no order of creation reaches",
        [{**A100, "mig": True}],
        create=layout("4g", "1g.10gb", "1g", "1g"),
        modify=layout("1g.10gb", *["1g"] * 6),
        delete=layout(),
        created=[
            active(True, _0=("4g.20gb", ()), _4=("1g.5gb", ()), _5=("1g.5gb", ()), _6=("1g.10gb", ())),
        ],
        modified=[active(True, **{f"_{slot}": ("1g.5gb", ()) for slot in range(6)}, _6=("1g.10gb", ()))],
        deleted=[active(True)],
    ),
    row(
        "one of two GPUs, with compute instances and starts",
        [{**A30, "mig": True}, {**A30, "mig": {"enabled": True, "instances": [[0, 0]]}}],
        create=layout({"profile": "2g", "start": 0, "compute": ["1c", "1c"]}, "2g+me", gpus=["0"]),
        modify=layout({"profile": "2g", "compute": ["2c"]}, "1g.6gb", "1g+me", gpus=["0"]),
        delete=layout(gpus=["0"]),
        created=[
            active(True, _0=("2g.12gb", (1, 1)), _2=("2g.12gb+me", ())),
            active(True, _0=("4g.24gb", (4,))),
        ],
        modified=[
            active(True, _0=("2g.12gb", (2,)), _2=("1g.6gb", ()), _3=("1g.6gb+me", ())),
            active(True, _0=("4g.24gb", (4,))),
        ],
        deleted=[active(True), active(True, _0=("4g.24gb", (4,)))],
    ),
]

EXAMPLES_FACES = ("ssh",)
EXAMPLES_UNDO = ("Disable MIG mode",)
# The data centre in which the examples of the documentation play: GPUs that switch at once.
EXAMPLES_SEED = lab(gpus=[H100, H100], ssh="running")
