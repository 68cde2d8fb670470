# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The five steps of each module: read, want, compare, apply, prove.

Only this file decides whether the steps change anything. A noun does not read check mode: planned() returns what an
earlier task of the same dry run would create or change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Sequence, TypeVar

from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item, S, W
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

T = TypeVar("T")

# The summary has the errors of so many items; more are not readable in one line.
SHOWN = 10


class Noun(Generic[W, S]):
    """What a module manages. read, apply and prove take all items at once and do all I/O; the rest is pure.

    What goes wrong with one item is recorded in item.error; an OperatorError that is raised by read, apply or
    prove concerns the whole task.
    """

    def read(self, items: Sequence[Item[W, S]]) -> None:
        """Read the current state into item.now and item.ids."""
        raise NotImplementedError

    def want(self, item: Item[W, S]) -> S:
        """The desired state. Raises OperatorError for an invalid request."""
        raise NotImplementedError

    def compare(self, now: S, wanted: S) -> list[Change]:
        """The list of changes that lead from one state to the other."""
        raise NotImplementedError

    def explain(self, item: Item[W, S]) -> None:
        """Add to the result of an item what its plan adds: ids and warnings. want and compare cannot, they are pure."""

    def validate(self, items: Sequence[Item[W, S]]) -> None:
        """In check mode, let the server validate item.changes without a change, if it can. Records item.error."""

    def keep(self, items: Sequence[Item[W, S]]) -> None:
        """Outside check mode: handle items without changes. This must not change anything."""

    def apply(self, items: Sequence[Item[W, S]]) -> None:
        """Make exactly item.changes; sets item.touched before the first request that changes something."""
        raise NotImplementedError

    def prove(self, items: Sequence[Item[W, S]]) -> None:
        """Read every touched item again into item.proved. A difference is an error, unless the item has one."""
        raise NotImplementedError

    def project(self, state: S) -> dict[str, object]:
        """A state as the user sees it in before, after and the diff."""
        raise NotImplementedError

    def pending(self, state: S) -> list[dict[str, object]]:
        """Settings of this state that are pending a restart: [{what, needs}]."""
        return []


def planned(module: AnsibleModule, value: T) -> T | None:
    """What an earlier task of the same dry run would change; None outside check mode, where it has done so."""
    return value if module.check_mode else None


def run(
    module: AnsibleModule, noun: Noun[W, S], items: Sequence[Item[W, S]], result_key: str, single: bool = False
) -> None:
    """Take the items through the five steps of a noun and leave the module with their results.

    single: the task is about one object, so that the result is that object's and no list of one.
    """
    trouble: OperatorError | None = None
    book = journal.of(module)
    try:
        noun.read(items)
        for item in _sound(items):
            _plan(noun, item)
        todo = [item for item in _sound(items) if item.changes]
        right = [item for item in _sound(items) if not item.changes]
        if todo and module.check_mode:
            noun.validate(todo)
        elif todo:
            if book is not None:
                book.planned(todo)
            noun.apply(todo)
            noun.prove([item for item in todo if item.touched])
        if right and not module.check_mode:
            noun.keep(right)
    except OperatorError as error:
        trouble = error
        for item in _sound(items):
            if item.wanted is None or item.changes:
                item.error = error
    if book is not None:
        warning = book.ended([(item, _effective(noun, item)) for item in items])
        if warning:
            module.warn(warning)
    _leave(module, noun, items, result_key, trouble, single)


def _plan(noun: Noun[W, S], item: Item[W, S]) -> None:
    try:
        item.wanted = noun.want(item)
        item.changes = noun.compare(item.now, item.wanted)
        noun.explain(item)
    except OperatorError as error:
        item.error = error


def _sound(items: Sequence[Item[W, S]]) -> list[Item[W, S]]:
    return [item for item in items if item.error is None]


def _leave(
    module: AnsibleModule,
    noun: Noun[W, S],
    items: Sequence[Item[W, S]],
    result_key: str,
    trouble: OperatorError | None,
    single: bool,
) -> None:
    results = [_result(noun, item) for item in items]
    answer: dict[str, object] = {
        "changed": any(result["changed"] for result in results),
        result_key: results[0] if single else results,
    }
    if module._diff:
        made = [(item, _made(noun, item)) for item in items]
        answer["diff"] = [_diff(item, changes) for item, changes in made if changes]
    failed = [item for item in items if item.error is not None]
    if not failed and trouble is None:
        module.exit_json(**answer)
    if trouble is None and len(items) == 1:
        trouble = failed[0].error
    if trouble is not None:
        answer.update(msg=trouble.message, failure=trouble.failure)
    else:
        reported = [item.error.message for item in failed[:SHOWN] if item.error is not None]
        if len(failed) > SHOWN:
            reported.append(f"The errors of the other {len(failed) - SHOWN} are in `{result_key}`.")
        answer.update(
            msg=f"{len(failed)} of {len(items)} failed. {' '.join(reported)}",
            failure=documented("some_failed", failed=[item.label for item in failed]),
        )
    module.fail_json(**answer)


def _result(noun: Noun[W, S], item: Item[W, S]) -> dict[str, object]:
    """The result of an item, with the same keys in every case."""
    if item.proved is not None:
        last = item.proved
    elif item.error is None:
        last = item.wanted
    else:
        last = item.now
    return dict(
        item.ids,
        changed=bool(item.changes) if item.error is None else item.touched,
        before=noun.project(item.now) if item.now is not None else {},
        after=noun.project(last) if last is not None else {},
        changes=[change.as_result() for change in item.changes],
        pending=_pending(noun, item),
        failed=item.error is not None,
        msg=item.error.message if item.error is not None else "",
        failure=item.error.failure if item.error is not None else {},
    )


def _pending(noun: Noun[W, S], item: Item[W, S]) -> list[dict[str, object]]:
    """Pending settings as read after the changes. In check mode, also those of the planned changes."""
    if item.proved is not None:
        waiting = list(noun.pending(item.proved))
    else:
        planned = {change.path: change.needs for change in item.changes if item.error is None}
        found = noun.pending(item.now) if item.now is not None else []
        waiting = [entry for entry in found if entry["what"] not in planned]
        waiting += [{"what": path, "needs": needs} for path, needs in planned.items() if needs]
    return sorted(waiting, key=lambda entry: str(entry["what"]))


def _made(noun: Noun[W, S], item: Item[W, S]) -> list[Change]:
    """The changes made or planned. A failed item has the changes that are effective nevertheless."""
    if item.error is None:
        return item.changes
    return noun.compare(item.now, item.proved) if item.proved is not None else []


def _effective(noun: Noun[W, S], item: Item[W, S]) -> list[Change] | None:
    """The changes that were made, for the journal; None for a failed item whose state could not be read."""
    if item.error is not None and item.touched and item.proved is None:
        return None
    return _made(noun, item)


def _diff(item: Item[W, S], changes: Sequence[Change]) -> dict[str, object]:
    name = item.ids.get("path") or item.ids.get("name") or item.label
    # All GPUs of a host have the same name.
    place = item.ids.get("pci")
    if place and place not in name:
        name = f"{name} at {place}"
    shown: dict[str, object] = {
        "before_header": name,
        "after_header": name,
        "before": {change.path: change.before for change in changes},
        "after": {change.path: change.after for change in changes},
    }
    # The diff shows the commands below the difference.
    if item.ids.get("commands"):
        shown["prepared"] = "\n".join([*item.ids["commands"], ""])
    return shown
