"""How much fits on one GPU, and what a host offers."""

from __future__ import annotations

import pytest

from vsphere_twin.model import catalogue
from vsphere_twin.model.gpu import Gpu, Resident
from vsphere_twin.model.mig import MigState
from vsphere_twin.model.release import RELEASES


def gpu(board="a100_pcie_40gb", **more):
    return Gpu("0000:17:00.0", catalogue.board(board), active_type="sharedDirect", **more)


def fill(card, name, release="8.0.3"):
    """How many vGPUs of one type go onto the GPU until it is full."""
    entry, _board = catalogue.profile(name)
    for count in range(100):
        start = card.room_for(entry, RELEASES[release])
        if start is None:
            return count
        card.residents.append(Resident(object(), 13000, entry, start))
    raise AssertionError(f"{name} never fills the GPU")


SLICED = [
    (entry.name, board)
    for board in catalogue.board_keys()
    for entry in catalogue.board(board).profiles
    if not entry.mig
]


@pytest.mark.parametrize("name,board", SLICED)
def test_as_many_of_equal_size_fit_as_the_catalogue_says(name, board):
    entry, _owner = catalogue.profile(name)
    driver = "nvaie" if entry.series == "c" else "graphics"
    assert fill(gpu(board, driver=driver), name) == entry.most_same_size


MIG = {
    "grid_a100-7-40c": 1,
    "grid_a100-4-20c": 1,
    "grid_a100-3-20c": 2,
    "grid_a100-2-10c": 3,
    "grid_a100-1-10c": 4,
    "grid_a100-1-5c": 7,
    "grid_a100-1-5cme": 1,
}


@pytest.mark.parametrize("name,most", MIG.items())
def test_as_many_instances_fit_as_the_mig_guide_says(name, most):
    assert fill(gpu(mig=MigState(True, True)), name) == most


@pytest.mark.parametrize(
    "order,fits",
    [
        (["3-20c", "1-5c", "2-10c", "1-5c"], True),
        (["1-5c", "1-5c", "2-10c", "3-20c"], False),
        (["4-20c", "3-20c"], True),
        (["3-20c", "4-20c"], True),
        (["7-40c", "1-5c"], False),
        (["2-10c", "2-10c", "2-10c", "1-5c"], True),
    ],
)
def test_instances_fit_in_the_orders_that_were_captured(order, fits):
    card = gpu(mig=MigState(True, True))
    made = []
    for suffix in order:
        entry, _board = catalogue.profile(f"grid_a100-{suffix}")
        start = card.room_for(entry, RELEASES["8.0.3"])
        made.append(start is not None)
        if start is not None:
            card.residents.append(Resident(object(), 13000, entry, start))
    assert all(made) == fits


def test_mixed_size_uses_the_published_places_so_that_fewer_of_one_size_fit():
    assert fill(gpu(), "grid_a100-8c") == 5
    assert fill(gpu(vgpu_mode="mixedSize"), "grid_a100-8c") == 4


@pytest.mark.parametrize("release,fits", [("8.0.2", False), ("8.0.3", True)])
def test_sizes_mix_only_from_update_3(release, fits):
    card = gpu(vgpu_mode="mixedSize")
    fill_one, _board = catalogue.profile("grid_a100-20c")
    card.residents.append(Resident(object(), 13000, fill_one, 0))
    other, _board = catalogue.profile("grid_a100-10c")
    assert (card.room_for(other, RELEASES[release]) is not None) == fits


OFFERS = {
    "NVAIE driver, Shared Direct": ({}, {}, "8.0.3", {"grid_a100-40c", "grid_a100-4c"}, {"grid_a100-7-40c"}),
    "MIG on": ({"mig": True}, {}, "8.0.3", {"grid_a100-7-40c", "grid_a100-1-5cme"}, {"grid_a100-40c"}),
    "MIG before 8.0 Update 3": (
        {"mig": True},
        {},
        "8.0.2",
        {"grid_a100-1-5c"},
        {"grid_a100-1-5cme", "grid_a100-1-10c"},
    ),
    "Shared": ({"graphics_type": "shared"}, {}, "8.0.3", set(), {"grid_a100-40c"}),
    "no driver": ({}, {"driver": {"family": "none"}}, "8.0.3", set(), {"grid_a100-40c"}),
    "graphics driver": ({}, {"driver": {"family": "graphics"}}, "8.0.3", set(), {"grid_a100-40c"}),
    "graphics driver on an A40": (
        {"board": "a40"},
        {"driver": {"family": "graphics"}},
        "8.0.3",
        {"nvidia_a40-48q"},
        {"nvidia_a40-48c"},
    ),
    "passed through": ({"passthrough": True}, {}, "8.0.3", set(), {"grid_a100-40c"}),
}


@pytest.mark.parametrize("card,host,release,there,missing", OFFERS.values(), ids=OFFERS)
def test_a_host_offers_what_its_state_allows(lab, card, host, release, there, missing):
    here = lab(hosts=[{"name": "esx-1", "gpus": [{"board": "a100_pcie_40gb", **card}], **host}], release=release)
    offered = {entry.name for entry in here.hosts[0].vgpu_types}
    assert there <= offered
    assert not missing & offered
