"""Guests and time for tests of how a training is watched."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import verdict
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.interruption import Interrupted
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import watch as training_watch
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest, Guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.steps import Answer

from unit.plugins.module_utils.training.runs import guests as guests_of
from unit.plugins.module_utils.training.runs import planned


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self):
        self.time, self.family = 0.0, 1

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds

    def parent(self):
        return self.family


class Steps:
    """Guests that answer as configured: output of the launcher and states by the second."""

    def __init__(self, clock, output=(), status=None, states=None):
        self.clock, self.done, self.asked = clock, [], []
        self.output = dict(output)  # {second: what is printed then}
        self.status = status  # (second, exit status)
        self.states = states or {}  # {guest: (second, Answer fields)}
        self.refuse = None

    def pull(self, guest):
        self.done.append(("pull", guest.name))

    def look(self, guest):
        return guests_of(3)[guest.name]

    def build(self, guest):
        return {"version": "1", "frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["mpi"]}, ""

    def counters(self, guest):
        return {"net": {"ens224": (int(self.clock.time), 0)}, "rdma": {}}

    def start(self, guest, argv, files):
        self.done.append(("start", guest.name))
        if self.refuse == guest.name:
            raise OperatorError(guest.name, "it was to start", "It does not", "Look", "not_started")

    def launch(self, guest):
        self.done.append(("launch", guest.name))

    def stop(self, guest, run=None):
        self.done.append(("stop", guest.name) if run is None else ("remove", guest.name, run))
        return 0

    def ask(self, guest, beat, offset, most):
        now = self.clock.time
        self.asked.append((now, guest.name))
        text = "".join(said for second, said in sorted(self.output.items()) if second <= now).encode()
        ended = self.status is not None and self.status[0] <= now
        fields = {
            "running": True,
            "gone": False,
            "exit_status": None,
            "out_of_memory": False,
            "status": self.status[1] if ended and most else None,
            "size": len(text) if most else 0,
            "output": text[offset : offset + most] if most else b"",
            "room": 100_000,
            "said": "",
            "ready": True,
        }
        second, changed = self.states.get(guest.name, (1e9, {}))
        if second <= now:
            if changed == "interrupt":
                raise Interrupted()
            fields.update(changed)
        return Answer(**fields)


def watched(steps, clock, lost=None, **changes):
    """(the course, what was reported) of a run; lost is {guest: the second after which it is silent}."""
    made = planned(**{"limits": {"wall_s": 600, "stall_s": 60}, **changes})
    guests = Guests([Guest(place.name, None) for place in made.places])
    ask, hear = guests.ask, guests.hear

    def asking(names, work, *limits):
        silent = {name: "no route" for name in names if name in (lost or {}) and lost[name] <= clock.time}
        # Whoever waits for such a guest waits long.
        clock.time += training_watch.ANSWER_S if silent and names != list(silent) else 0
        given, others = ask([name for name in names if name not in silent], work, *limits)
        return given, {**others, **silent}

    def hearing(names, work):
        back = [name for name in names if name not in lost or lost[name] > clock.time]
        given, others = hear(back, work)
        return given, {**others, **{name: "no route" for name in names if name not in back}}

    guests.ask, guests.hear, reported = asking, hearing, []
    watch = training_watch.Watch(made, guests, steps, guests_of(3), reported.append, clock)
    try:
        watch.run({})
    finally:
        watch.reported = reported
        Last.watch, Last.made = watch, made
    return watch.course, verdict.judge(made, watch.course)


class Last:
    """The last watch, also of a run that was left by an error."""
