"""Moments in the life of the twin's tasks, for tests in which no clock may decide what comes first."""

from __future__ import annotations

from vsphere_twin.model import tasks


class Held:
    """Tasks of one method of a twin that do not end before they are let go."""

    def __init__(self, monkeypatch, running, method):
        self._world, self._method, self._really = running.world, method, tasks._end
        self._waiting, self._free = [], False
        monkeypatch.setattr(tasks, "_end", self._end)

    def _end(self, world, task, work):
        if world is self._world and task.method == self._method and not self._free:
            self._waiting.append((task, work))
        else:
            self._really(world, task, work)

    def let_go(self):
        """They end now, and those that come later as ever."""
        with self._world.lock:
            self._free, waiting = True, self._waiting
            self._waiting = []
            for task, work in waiting:
                self._really(self._world, task, work)


def after_task(monkeypatch, running, method, action, number=1):
    """Do something at the end of the nth task of a method, before anybody can see that it has ended."""
    really, ended = tasks._end, []

    def end(world, task, work):
        really(world, task, work)
        if world is running.world and task.method == method:
            ended.append(task)
            if len(ended) == number:
                action()

    monkeypatch.setattr(tasks, "_end", end)
