# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Watch any number of tasks with one list view and one property filter, also after a lost session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import retrieve

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import Data, Ref
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

_REBUILDS = 5
_PATHS = ("info.state", "info.error", "info.result")


@dataclass
class News:
    """Known state of a task."""

    state: str = ""
    result: Data = None
    fault: vmodl.MethodFault | None = None
    percent: int | None = None
    gone: bool = False

    @property
    def ended(self) -> bool:
        return self.gone or self.state in ("success", "error")


class Watch:
    """Report which of the given tasks have ended."""

    _collector: Ref
    _view: Ref
    _followed: dict[str, Ref]

    def __init__(self, vcenter: VCenter) -> None:
        self._vcenter = vcenter
        self._news: dict[str, News] = {}
        self.abandon()

    def poll(self, tasks: Sequence[Ref], longest_s: int) -> dict[str, News]:
        """News of those tasks that have ended; waits on the server, up to a limit, while there is nothing new."""
        for rebuilds_left in range(_REBUILDS, -1, -1):
            try:
                self._follow(tasks)
                self._wait(longest_s)
                break
            except (vmodl.fault.ManagedObjectNotFound, vmodl.query.InvalidCollectorVersion) as fault:
                # The collector, the view and their versions end with the session that made them.
                if not rebuilds_left:
                    raise explain(fault, self._vcenter.name, f"watch {len(tasks)} tasks") from fault
                self.abandon()
                self._news.update(self.look(tasks))
                if self._ended(tasks):
                    break
            except vmodl.MethodFault as fault:
                raise explain(fault, self._vcenter.name, f"watch {len(tasks)} tasks") from fault
        return self._ended(tasks)

    def look(self, tasks: Sequence[Ref]) -> dict[str, News]:
        """News of tasks by one plain read, without any waiting."""
        rows = retrieve(self._vcenter, {"Task": ["info"]}, tasks, skip_gone=True)
        seen = {row.moid: _news_of(row.get("info")) for row in rows}
        return {task._GetMoId(): seen.get(task._GetMoId(), News(gone=True)) for task in tasks}

    def close(self) -> None:
        """Tidy up on the server; it would do so itself at the end of the session."""
        for thing in (self._collector, self._view):
            if thing is not None:
                try:
                    thing.Destroy()
                except (vmodl.MethodFault, OperatorError):
                    continue
        self.abandon()

    def abandon(self) -> None:
        """Forget the objects on the server, because they are gone or cannot be reached."""
        self._collector = self._view = None
        self._version = ""
        self._followed = {}

    def _follow(self, tasks: Sequence[Ref]) -> None:
        wanted = {task._GetMoId(): task for task in tasks}
        if self._collector is None:
            # Forks share the session: updates of the session's own collector would go to the first client that asks.
            self._collector = self._vcenter.content.propertyCollector.CreatePropertyCollector()
            self._view = self._vcenter.content.viewManager.CreateListView(obj=list(tasks))
            self._collector.CreateFilter(spec=_filter_spec(self._view), partialUpdates=False)
        else:
            new = [task for moid, task in wanted.items() if moid not in self._followed]
            old = [task for moid, task in self._followed.items() if moid not in wanted]
            if not new:
                return
            for lost in self._view.Modify(add=new, remove=old) or ():
                self._news[lost._GetMoId()] = News(gone=True)
        self._followed = wanted

    def _wait(self, longest_s: int) -> None:
        options = vmodl.query.PropertyCollector.WaitOptions(maxWaitSeconds=longest_s)
        while True:
            answer = self._collector.WaitForUpdatesEx(version=self._version, options=options)
            if answer is None:
                return
            self._version = answer.version
            for filter_update in answer.filterSet or ():
                for update in filter_update.objectSet or ():
                    self._note(update)
            if not answer.truncated:
                return

    def _note(self, update: Data) -> None:
        moid = update.obj._GetMoId()
        if update.kind == "leave":
            # A removal from the view has the same form; then no caller asks for this news any more.
            self._news.setdefault(moid, News()).gone = True
            return
        news = self._news.setdefault(moid, News())
        for change in update.changeSet or ():
            if change.name == "info.state":
                news.state = str(change.val)
            elif change.name == "info.result":
                news.result = change.val
            elif change.name == "info.error":
                news.fault = change.val

    def _ended(self, tasks: Sequence[Ref]) -> dict[str, News]:
        known = {task._GetMoId(): self._news.get(task._GetMoId()) for task in tasks}
        return {moid: news for moid, news in known.items() if news is not None and news.ended}


def _news_of(info: vim.TaskInfo | None) -> News:
    if info is None:
        return News(state="unreadable")
    return News(str(info.state), info.result, info.error, info.progress)


def _filter_spec(view: Ref) -> Data:
    collector = vmodl.query.PropertyCollector
    step = collector.TraversalSpec(name="tasks", type=vim.view.ListView, path="view", skip=False)
    return collector.FilterSpec(
        propSet=[collector.PropertySpec(type=vim.Task, all=False, pathSet=list(_PATHS))],
        objectSet=[collector.ObjectSpec(obj=view, skip=True, selectSet=[step])],
    )
