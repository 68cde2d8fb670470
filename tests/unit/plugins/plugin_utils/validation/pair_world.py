"""A made-up run between pairs: guests that answer as configured, on a clock that passes when somebody sleeps."""

from __future__ import annotations

import threading

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import outcome
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training.reach import Guest, Guests, UnreachableError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation import pair_watch

from unit.plugins.module_utils.validation.pairs.ends import BANDWIDTH, LATENCY, RPING, TCP, pinged, request, seen

GOOD = {"ping": pinged(9000), "rping": RPING, "ib_write_lat": LATENCY, "ib_write_bw": BANDWIDTH, "iperf3": TCP}


class Clock(pair_watch.Clock):
    """Time that passes when somebody sleeps."""

    def __init__(self):
        self.time, self.family = 1000.0, 1

    def now(self):
        return self.time

    def wall(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds

    def parent(self):
        return self.family


class Steps:
    """Guests that answer as configured, and that see what goes on at the same time."""

    def __init__(self, clock, looks):
        self.clock, self.looks = clock, looks
        self.says = dict(GOOD)  # {program: text of its client, or (status, text), or a function of (guest, test)}
        self.servers = {}  # {program: (status, text)} of servers that end before their client comes
        self.silent = {}  # {guest: why it does not answer}
        self.done, self.busy, self.clashes = [], set(), []
        self.lock = threading.Lock()

    def _here(self, guest):
        if guest.name in self.silent:
            raise UnreachableError(self.silent[guest.name])

    def look(self, guest):
        self._here(guest)
        found = self.looks[guest.name]
        return found(self.clock.time) if callable(found) else found

    def serve(self, guest, test, limit_s):
        self._here(guest)
        self._enter(guest.name, f"serve {test.check}")
        ended = test.tool in self.servers
        return outcome.Side(ports=tuple(range(18515, 18515 + len(test.servers))), ended=ended)

    def call(self, guest, test, ports, limit_s):
        self._here(guest)
        self._enter(guest.name, f"call {test.check}")
        said = self.says[test.tool]
        said = said(guest, test) if callable(said) else said
        self._leave(guest.name)
        said = said if isinstance(said, tuple) else (0, said)
        return outcome.Side({str(number): said for number in range(1, len(test.clients) + 1)})

    def collect(self, guest):
        self._here(guest)
        self._leave(guest.name)
        ended = next(iter(self.servers.values()), (None, "Waiting for client to connect...\n"))
        return outcome.Side({"1": ended})

    def stop(self, guest, run=None):
        self._here(guest)
        self.done.append((guest.name, "stop" if run is None else f"remove {run}"))
        return 0

    def _enter(self, name, what):
        with self.lock:
            self.done.append((name, what))
            if name in self.busy:
                self.clashes.append((name, what))
            self.busy.add(name)

    def _leave(self, name):
        with self.lock:
            self.busy.discard(name)


class World:
    """A run with as many guests as wanted."""

    def __init__(self, guests=2, looks=None, **changes):
        self.request = request(guests, **changes)
        self.names = [guest.name for guest in self.request.guests]
        self.clock, self.reported, self.kept = Clock(), [], {}
        self.steps = Steps(self.clock, {name: seen(name) for name in self.names} | dict(looks or {}))

        def true(argv, data):
            return {"rc": 0, "stdout": "", "stderr": ""}

        self.reaches = [Guests([Guest(name, true) for name in self.names]) for _turn in (1, 2)]
        self.watch = pair_watch.PairWatch(
            self.request, *self.reaches, self.steps, self.reported.append, self._keep, self.clock
        )

    def _keep(self, words, text):
        name = ".".join(words)
        self.kept[name] = text
        return f"evidence/{name}.txt"

    def run(self):
        self.watch.look()
        self.watch.run()
        return self.watch.measurements

    def of(self, check):
        return {
            (one["subject"]["from"], one["subject"]["to"]): one
            for one in self.watch.measurements
            if one["check"] == check
        }
