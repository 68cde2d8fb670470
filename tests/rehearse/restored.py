"""Compare the data centre before a run with the one after the run and its restore, object by object.

It reads the twin's model, the configurations of its switches, and vCenter by plain pyVmomi, without the collection.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from e2e import dump, third_party

from . import playbook
from .failure import RehearsalFailed

RESTORE = playbook.ROOT / "playbooks" / "restore.yml"
# Objects whose state a run changes, by the first words of their names below.
CHANGED = ("twin HostSystem", "twin VirtualMachine", "twin ClusterComputeResource", "client HostSystem", "switch")
BY_ANOTHER = "changed since by another"
# Differences in the message of a failure.
SHOWN = 40
State = dict[str, dict[str, str]]
Lasting = Mapping[str, tuple[str, ...]]


def state(twin: Any) -> State:
    """Return {name of an object: {path: value}}, with the observer before the name."""
    with twin.world.lock:
        found = {f"twin {name}": values for name, values in dump.of_world(twin.world).items()}
    for name, switch in twin.world.fabric.switches.items():
        found[f"switch {name}"] = {"running": switch.device.running(), "saved": switch.device.startup()}
    found.update({f"client {name}": values for name, values in third_party.read(twin).items()})
    return found


def left(before: State, after: State, lasting: Lasting) -> list[str]:
    """Return one line for each difference, apart from those that last: {first words of a name: beginnings of paths}."""
    lines = []
    for name, paths in third_party.differences(before, after).items():
        kept = tuple(path for words, some in lasting.items() if f"{name} ".startswith(f"{words} ") for path in some)
        for path, (old, new) in sorted(paths.items()):
            if not path.startswith(kept):
                lines += [f"{name}, {path}: {change}" for change in _changes(old, new)]
    return lines


def _changes(old: str | None, new: str | None) -> list[str]:
    """Return the lines in which configurations differ, or both values."""
    if old is None or new is None or "\n" not in old + new:
        return [f"{old} -> {new}"]
    found = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""))[2:]
    return [line for line in found if not line.startswith("@@")] or ["another end of a line"]


def changed(before: State, after: State) -> None:
    """Check that the comparison sees the changes of the run."""
    found = third_party.differences(before, after)
    missing = [words for words in CHANGED if not any(name.startswith(f"{words} ") for name in found)]
    if missing:
        raise RehearsalFailed(f"The run changed no {', '.join(missing)}, so a comparison proves nothing.")


def unchanged(before: State, after: State) -> None:
    """Check that check mode changed nothing; requests to a BMC are counted."""
    _require(left(before, after, {"twin HostSystem": dump.HISTORY}), "The plan of restore changed the data centre")


def same(before: State, after: State, lasting: Lasting) -> str:
    """Check that the state before the run is restored."""
    _require(left(before, after, lasting), "Restore does not end in the state before the run")
    values = sum(len(paths) for paths in before.values())
    last = sum(len(paths) for paths in third_party.differences(before, after).values())
    return f"{len(before)} objects with {values} values are as before the run, {last} differences last"


def undisturbed(output: str) -> None:
    """Check that restore attributes none of the changes to somebody else: nobody else was there."""
    found = [" ".join(line.split()) for line in output.splitlines() if BY_ANOTHER in line]
    _require(found, "Restore reports changes by another")


def _require(wrong: list[str], failure: str) -> None:
    if wrong:
        more = f"\nand {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise RehearsalFailed("\n".join([f"{failure}:", *wrong[:SHOWN]]) + more)
