"""Failures of the hosts' BMCs: planned by a test, used up once each."""

from __future__ import annotations

import threading


class BmcFaults:
    """All planned failures of BMCs, by the name of the host. The methods named take_* use up what they report."""

    def __init__(self):
        self._lock = threading.Lock()
        self.clear()

    def clear(self):
        """Forget every plan."""
        with self._lock:
            self._unavailable: dict[str, int] = {}
            self._forgetting: dict[str, int] = {}
            self._rejections: list[tuple] = []
            self._latency_s: dict[str, float] = {}

    def bmc_unavailable(self, host, count=1):
        """The next requests to a BMC are answered 503, as while it restarts or is busy."""
        with self._lock:
            self._unavailable[host] = self._unavailable.get(host, 0) + int(count)

    def bmc_reject(self, host, attribute=None, count=1):
        """The next settings of a BMC, of one attribute or of any, are refused."""
        with self._lock:
            self._rejections += [(host, attribute)] * int(count)

    def bmc_forget(self, host, count=1):
        """The next settings are accepted, and are lost in the boot that should make them active."""
        with self._lock:
            self._forgetting[host] = self._forgetting.get(host, 0) + int(count)

    def bmc_latency(self, host, seconds: float):
        """Every request to a BMC is answered this much later."""
        with self._lock:
            self._latency_s[host] = float(seconds)

    def latency_of(self, host):
        """Seconds by which the answers of a BMC are late."""
        return self._latency_s.get(host, 0.0)

    def take_unavailable(self, host):
        """Return whether this request is answered 503."""
        return self._take(self._unavailable, host)

    def take_forgetting(self, host):
        """Return whether these settings will be lost."""
        return self._take(self._forgetting, host)

    def take_rejection(self, host, attributes):
        """Return whether these settings are refused."""
        with self._lock:
            for plan in self._rejections:
                if plan[0] == host and (plan[1] is None or plan[1] in attributes):
                    self._rejections.remove(plan)
                    return True
        return False

    def _take(self, plans, host):
        with self._lock:
            if plans.get(host, 0) > 0:
                plans[host] -= 1
                return True
        return False
