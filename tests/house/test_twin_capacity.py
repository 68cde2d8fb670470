# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The model of the collection and the twin count the same vGPUs, for every board of the catalogue in every mode.

The GPU is empty, has one vGPU, or is full but for one. For an empty GPU both count each type, for the others one type
per size. The loads are powered on in the twin, so each vGPU is where the twin's rules put it.
"""

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.catalogue import BOARDS, all_profiles
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import capacity, model

from vsphere_twin.model import catalogue, mig, resources
from vsphere_twin.model.gpu import Gpu, Resident
from vsphere_twin.model.release import RELEASES

NEWEST = RELEASES["9.1.0"]
DRIVERS = ("nvaie", "graphics")
MODES = {
    model.SAME_SIZE: {},
    model.MIXED_SIZE: {"vgpu_mode": "mixedSize"},
    model.MIG: {"mig": mig.MigState(True, True)},
}


def cards(key, mode):
    """An empty GPU with each driver that has types for it."""
    board = catalogue.board(key)
    for driver in DRIVERS:
        card = Gpu("0000:17:00.0", board, active_type="sharedDirect", driver=driver, **MODES[mode])
        if card.types(NEWEST) and (mode != model.MIG or board.migs):
            yield card


def filled(card, kind, number):
    """The GPU with up to this many vGPUs of a type, or None if it takes fewer."""
    card = dataclasses.replace(card, residents=[])
    for key in range(number):
        start = card.room_for(kind, NEWEST)
        if start is None:
            return None
        card.residents.append(Resident(None, key, kind, start))
    return card


def more(card, kind):
    """How many more the twin takes."""
    trial, number = dataclasses.replace(card, residents=list(card.residents)), 0
    while (start := trial.room_for(kind, NEWEST)) is not None:
        trial.residents.append(Resident(None, -1 - number, kind, start))
        number += 1
    return number


def sizes(card):
    """One type per size: the series of a type does not matter to either."""
    return list({(one.fb_gb, one.mig_profile_id): one for one in card.types(NEWEST)}.values())


def cases(card):
    """Each load with the types to count beside it."""
    yield card, card.types(NEWEST)
    for kind in sizes(card):
        for number in sorted({1, more(card, kind) - 1} - {0}):
            yield filled(card, kind, number), sizes(card)


def modelled(card, mode):
    carries = tuple(sorted(one.profile.name for one in card.residents))
    return model.Gpu("0000:17:00.0", card.board.title, card.board.prefix, mode, carries=carries)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("key", [board.key for board in BOARDS])
def test_both_count_the_same(key, mode):
    different = [
        (load.driver, [one.profile.name for one in load.residents], kind.name, there, expected)
        for card in cards(key, mode)
        for load, kinds in cases(card)
        for kind in kinds
        for there, expected in [(capacity.most(modelled(load, mode), kind.name), more(load, kind))]
        if there != expected
    ]
    assert different == []


def test_every_type_of_the_catalogue_is_compared():
    compared = {
        kind.name
        for board in BOARDS
        for mode in MODES
        for card in cards(board.key, mode)
        for kind in card.types(NEWEST)
        if more(card, kind)
    }
    assert compared == set(all_profiles())


@pytest.mark.parametrize("key", [board.key for board in BOARDS if board.mig_backed])
def test_both_count_the_same_beside_two_sizes(key):
    """The larger one starts first."""
    (card, *_rest) = cards(key, model.MIG)
    kinds = list({one.mig_profile_id: one for one in card.types(NEWEST)}.values())
    kinds.sort(key=lambda one: -card.kind.profile(one.mig_profile_id).size)
    different = []
    for at, large in enumerate(kinds):
        for small in kinds[at:]:
            load = filled(card, large, 1)
            start = load.room_for(small, NEWEST)
            if start is None:
                continue
            load.residents.append(Resident(None, 2, small, start))
            different += [
                (large.name, small.name, kind.name)
                for kind in kinds
                if capacity.most(modelled(load, model.MIG), kind.name) != more(load, kind)
            ]
    assert different == []


@pytest.mark.parametrize("cpus", [1, 2, 8, 64, 256])
def test_the_estimated_overhead_of_a_vm_with_a_gpu_is_enough_for_the_twin(cpus):
    sizes = [2**power for power in range(10, 25)]
    estimates = {memory_mb: model.overhead_mb(memory_mb, cpus) for memory_mb in sizes}
    assert [one for one, mb in estimates.items() if mb < resources.overhead_of(cpus, one, mapped=True)] == []
