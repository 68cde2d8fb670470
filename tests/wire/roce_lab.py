"""A switch of a twin with an open session, what it does at its first port, and what goes wrong with it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from vsphere_twin.launch import launch

from . import drive_switch
from .rows.roce_qos import NAME, lab, port


@dataclass
class Bench:
    """One switch under test; set() runs roce_qos on its first two ports."""

    twin: object
    platform: str
    module: object

    @property
    def switch(self):
        return self.twin.world.fabric.switches[NAME]

    @property
    def device(self):
        return self.switch.device

    @property
    def control(self):
        return self.twin.control

    def set(self, check=False, **params):
        config = {key: params.pop(key) for key in list(params) if key in CONFIG}
        ports = [port(self.platform, number) for number in (1, 2)]
        given = {"host_ports": ports, "verify_timeout_s": 1, "config": config, **params}
        return self.module("roce_qos", given, check)

    def now(self, number=1):
        """What matters of the treatment of a port."""
        reported = self.device.treatment(port(self.platform, number))
        marking = reported.marking.get(reported.queues[reported.priorities[26]])
        return {
            "trust": reported.trust,
            "class": reported.priorities[26],
            "lossless": sorted(reported.no_drop & reported.pauses_sent & reported.pauses_heeded),
            "marks": marking is not None and marking.mark,
            "mtu": reported.mtu,
        }


CONFIG = ("mode", "priority", "dscp", "cnp_priority", "cnp_dscp", "bandwidth_percent", "ecn", "watchdog", "mtu", "dcbx")
LOSSLESS = {"trust": "dscp", "class": 3, "lossless": [3], "marks": True, "mtu": 9216}


@contextlib.contextmanager
def bench(platform, config=(), version=None):
    """A switch that an operator has given some lines, cabled at its first two ports."""
    seed = lab(platform)
    entry = seed["fabric"]["switches"][0]
    entry["config"] = list(config)
    if version is not None:
        entry["version"] = version
    with launch(seed, faces=("switches",)) as twin, drive_switch.connected(twin, NAME) as module:
        yield Bench(twin, platform, module)


def ended(answer, outcome, code):
    """A run that failed, and says how the switch was left."""
    assert answer["failed"], answer
    assert answer["failure"]["code"] == code, answer["failure"]
    assert answer["failure"]["outcome"] == outcome, answer["msg"]
    return True


def unchanged_by(lab_bench, prefix, **requested):
    """Whether a refusal of a line in the middle leaves the old state, and the result says so."""
    before = lab_bench.device.running()
    lab_bench.twin.world.switch_faults.fail_switch_command(prefix, NAME)
    ended(lab_bench.set(**requested), "old", "refused")
    return lab_bench.device.running() == before


def cut_at(lab_bench, prefix, **requested):
    """The answer of a run whose session is cut after a line took effect."""
    lab_bench.twin.world.switch_faults.drop_switch_command(prefix, NAME)
    return lab_bench.set(**requested)
