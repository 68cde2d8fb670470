# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a journal says was changed, and the steps that restore it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

PLANNED, DONE, FAILED = "planned", "done", "failed"


@dataclass(frozen=True)
class Made:
    """One setting that a run changed."""

    path: str
    before: Any
    after: Any
    needs: str | None = None
    # The object of the setting, if several objects share it.
    of: str | None = None


@dataclass(frozen=True)
class Entry:
    """The changes of one task to one object.

    state: planned is left by a run that was killed during the changes, so each of them was made or not. A failed
    entry has the changes that are effective nevertheless.
    """

    id: str
    run: str
    when: str
    stage: str
    module: str  # without the name of the collection
    host: str  # the host of the inventory for which the task ran
    label: str
    ids: Mapping[str, Any]
    request: Mapping[str, Any]  # parameters of the module, without secrets and connection options
    changes: tuple[Made, ...]
    state: str = DONE


@dataclass(frozen=True)
class Step:
    """One call of a module that restores settings of one object.

    back has the values before the first run, left those after the last one, both by the path that the module reports.
    """

    stage: str
    host: str
    object: str
    module: str
    args: Mapping[str, Any]
    back: Mapping[str, Any]
    left: Mapping[str, Any]
    needs: str | None = None
    # Further values that we left, if a run was killed: {path: values}.
    also: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    # The step deletes the object, so everything that its module reports beside the setting goes with it.
    whole: bool = False
    # Values that an object must have so that it is deleted: {path: values}. Other settings must have none.
    intact: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    # Beginnings of further paths that the module reports, whose values follow from those of the step.
    follows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cannot:
    """A change that no step restores."""

    stage: str
    object: str
    what: str
    why: str
    # As in Step; empty for an object that is no host of the inventory.
    host: str = ""


@dataclass(frozen=True)
class Net:
    """One setting of one object over all entries: its first value and the last one."""

    path: str
    back: Any
    left: Any
    needs: str | None
    of: str | None
    also: tuple[Any, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the setting may have another value than the first one."""
        return self.back != self.left or bool(self.also)


if TYPE_CHECKING:
    # Entries of one object by one module, the oldest first.
    Inverse = Callable[[Sequence[Entry]], "list[Step | Cannot]"]


def net(entries: Sequence[Entry], settled: bool = False) -> dict[str, Net]:
    """Return {path: net change} of the entries of one object.

    settled: also settings that have their first value again. A killed restore may have left them pending a restart.
    """
    found: dict[str, Net] = {}
    for entry in entries:
        for made in entry.changes:
            old = found.get(made.path)
            back = made.before if old is None else old.back
            also = (made.before,) if entry.state == PLANNED and made.before != back else ()
            found[made.path] = Net(made.path, back, made.after, made.needs, made.of, also)
    return {path: one for path, one in found.items() if settled or one.differs}


def step(entries: Sequence[Entry], args: Mapping[str, Any], settings: Mapping[str, Net]) -> Step:
    """Return the step with these arguments for these settings of the entries."""
    last = entries[-1]
    needs = [one.needs for one in settings.values() if one.needs]
    return Step(
        stage=last.stage,
        host=last.host,
        object=last.label,
        module=last.module,
        args=args,
        back={path: one.back for path, one in settings.items()},
        left={path: one.left for path, one in settings.items()},
        needs=needs[0] if needs else None,
        also={path: one.also for path, one in settings.items() if one.also},
    )


def cannot(entries: Sequence[Entry], what: str, why: str) -> Cannot:
    """Return what no step restores, for the object of the entries. why is a whole sentence."""
    last = entries[-1]
    return Cannot(last.stage, last.label, what, why, last.host)
