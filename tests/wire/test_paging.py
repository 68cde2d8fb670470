"""A vCenter that answers in pages: everything is read, also when the session is lost between two pages."""

from __future__ import annotations

import pytest

from .lab import lab
from .observe import gpu_setup

FLEET = [{"name": f"train-{number:02}"} for number in range(1, 8)]
REQUEST = {"vms": FLEET, "profiles": ["grid_a100-5c"]}


@pytest.fixture
def paging(twin):
    running = twin(seed=lab(*[{}] * len(FLEET)))
    running.world.most_per_page = 2
    return running


def test_a_fleet_is_found_read_and_proved_over_many_pages(paging, drive):
    answer = drive(paging)("vgpu_profile", **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert [vm["changed"] for vm in answer["vms"]] == [True] * len(FLEET)
    assert paging.requests["ContinueRetrievePropertiesEx"] > len(FLEET)
    seen = gpu_setup(paging, *[entry["name"] for entry in FLEET])
    assert [vm["profiles"] for vm in seen.values()] == [REQUEST["profiles"]] * len(FLEET)


@pytest.mark.parametrize("page", [1, 3])
def test_a_reading_whose_session_is_dropped_between_two_pages_starts_again(paging, drive, monkeypatch, page):
    module = drive(paging)
    module("vgpu_profile", check=True, **REQUEST)
    asked = []

    def closes(method):
        asked.append(method)
        if asked.count("ContinueRetrievePropertiesEx") == page and method == "ContinueRetrievePropertiesEx":
            paging.world.faults.drop_sessions()
        return False

    monkeypatch.setattr(paging.world.faults, "take_closing", closes)
    paging.requests.clear()
    answer = module("vgpu_profile", check=True, **REQUEST)
    assert not answer["failed"], answer["msg"]
    assert [vm["name"] for vm in answer["vms"]] == [entry["name"] for entry in FLEET]
    assert paging.requests["Login"] == 1
