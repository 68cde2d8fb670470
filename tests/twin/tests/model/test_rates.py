"""Figures follow from the state of a way, and each of them has a reason and a source."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from vsphere_twin.model import ends, rates

GOOD = ends.State(ends.PORT, hops=1)
LARGE = rates.Load()
BROKEN = {
    "TCP": replace(GOOD, rdma=False),
    "lossy": replace(GOOD, loses=True),
    "drops early": replace(GOOD, drops_early=True, marks=False),
    "memory far away": replace(GOOD, apart=("vm",)),
    "saving power": replace(GOOD, saving=("host",)),
    "half the line": replace(GOOD, line_gbps=50.0),
}


@pytest.mark.parametrize("name", rates.FIGURES)
def test_each_figure_says_why_and_from_where(name):
    one = rates.FIGURES[name]
    assert one.value > 0
    assert min(len(one.unit), len(one.reason), len(one.source)) > 1


@pytest.mark.parametrize("state", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_costs_more_than_the_noise(state):
    assert rates.gbps(state, LARGE) < rates.gbps(GOOD, LARGE) * (1 - 2 * rates.of("noise"))


@pytest.mark.parametrize(
    "state, load",
    [
        (replace(GOOD, marks=False), replace(LARGE, both=True)),
        (replace(GOOD, notices_first=False), replace(LARGE, both=True)),
    ],
    ids=["no marks", "late notices"],
)
def test_what_only_crowds_notice(state, load):
    assert rates.gbps(state, LARGE) == rates.gbps(GOOD, LARGE)
    assert rates.gbps(state, load) < 0.95 * rates.gbps(GOOD, load)


@pytest.mark.parametrize("line", [25.0, 40.0, 100.0, 200.0, 400.0])
def test_no_line_gives_more_than_it_has(line):
    for pvrdma, mtu in itertools.product((True, False), (1024, 4096)):
        found = rates.gbps(replace(GOOD, line_gbps=line, pvrdma=pvrdma), rates.Load(1 << 20, mtu=mtu))
        assert 0.8 * line < found < line


def test_a_small_path_mtu_costs_what_the_headers_take():
    wide = replace(GOOD, line_gbps=400.0)
    assert rates.gbps(wide, replace(LARGE, mtu=1024)) < 0.96 * rates.gbps(wide, LARGE)


@pytest.mark.parametrize("size", [2, 64, 1024, 65536])
def test_bandwidth_grows_with_the_size(size):
    assert rates.gbps(GOOD, replace(LARGE, size=size)) <= rates.gbps(GOOD, replace(LARGE, size=2 * size))


def test_latency_has_an_order():
    kinds = [
        replace(GOOD, carrier=ends.CARD),
        replace(GOOD, carrier=ends.MEMORY, pvrdma=True),
        GOOD,
        replace(GOOD, hops=3),
        replace(GOOD, pvrdma=True),
        replace(GOOD, pvrdma=True, rdma=False),
    ]
    found = [rates.latency_us(one, 2) for one in kinds]
    assert found == sorted(found)


def test_noise_is_small_and_the_same_each_time():
    found = {rates.noisy(100.0, "a", "b", number) for number in range(50)}
    assert found == {rates.noisy(100.0, "a", "b", number) for number in range(50)}
    assert all(abs(one - 100) <= 0.3 for one in found)
    assert len(found) == 50
