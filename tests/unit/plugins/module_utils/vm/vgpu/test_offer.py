# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Why a host does not offer a profile, and which profiles are named instead."""

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import offer

from unit.plugins.module_utils.gpu.worlds import A40, A100, A100_MIG, gpu, host, vm


@pytest.mark.parametrize(
    "profile, offered, expected",
    [
        ("grid_a100-40c", ("grid_a100-40c",), ["grid_a100-40c"]),
        ("grid_a100-41c", A100, ["grid_a100-4c", "grid_a100-40c", "grid_a100-10c", "grid_a100-20c", "grid_a100-5c"]),
        ("NVIDIA_A40-12Q", A40, ["nvidia_a40-48q", "nvidia_a40-24c", "nvidia_a40-48c"]),
        ("nonsense", A100, []),
        ("grid_a100-40c", (), []),
    ],
)
def test_at_most_five_near_profiles_are_named(profile, offered, expected):
    assert offer.near(profile, offered) == expected


def against(profile, *others, **fields):
    state = vm(host=host(**fields), others=others)
    return [(problem.code, f"{problem.found} {problem.todo}") for problem in offer.against_profiles(state, [profile])]


@pytest.mark.parametrize(
    "names, listed",
    [
        (["b"], "cluster b does"),
        (["c", "b"], "cluster b and c do"),
        (list("fedcb"), "cluster b, c, d, e and f do"),
        (list("gfedcb"), "cluster b, c, d, e and 2 more do"),
    ],
)
def test_other_hosts_that_offer_a_profile_are_listed_up_to_five(names, listed):
    others = [host(name, offered=A40) for name in names]
    ((code, text),) = against("nvidia_a40-48c", *others, host("z"))
    assert (code, listed in text) == ("profile_on_other_host", True)


@pytest.mark.parametrize(
    "gpus, words",
    [
        ((), "shows no NVIDIA graphics device"),
        ((gpu("direct"),), "passthrough"),
        ((gpu("basic"),), "Basic"),
        ((gpu("shared", "sharedDirect"),), "Restart Xorg"),
        ((gpu("shared", "shared"),), "shared, not Shared Direct."),
        ((gpu(mode="multiInstanceGpu"), gpu(mode="multiInstanceGpu")), "MIG mode"),
        ((gpu(mode="multiInstanceGpu"), gpu()), "driver package"),
        ((gpu("basic"), gpu("direct")), "basic and direct, not Shared Direct"),
    ],
    ids=["none", "passthrough", "basic", "pending", "shared", "MIG", "MIG in part", "mixed"],
)
def test_a_host_that_offers_nothing_says_why(gpus, words):
    ((code, text),) = against("grid_a100-40c", offered=(), gpus=gpus)
    assert (code, words in text) == ("host_offers_nothing", True)


@pytest.mark.parametrize(
    "profile, offered, version, code, words",
    [
        ("grid_a100-40c", A40, "8.0.3", "profile_not_offered", "no host of the cluster has such a board"),
        ("grid_a100-3-20c", A100, "8.0.3", "profile_not_offered", "not in MIG mode"),
        ("grid_a100-40c", A100_MIG, "8.0.3", "profile_not_offered", "Switch MIG mode off"),
        ("grid_a100-40c", A100[:2], "8.0.3", "profile_not_offered", "other profiles of this board"),
        ("nvidia_x9-1c", A100, "8.0.3", "unknown_profile", "nvidia_x9-1c"),
    ],
    ids=["another board", "time-sliced", "MIG-backed", "another size", "unknown"],
)
def test_a_profile_that_nobody_offers_is_explained(profile, offered, version, code, words):
    ((found, text),) = against(profile, offered=offered, version=version)
    assert (found, words in text, offered[0] in text) == (code, True, True)


def test_profiles_for_graphics_alone_are_the_wrong_driver():
    ((found, text),) = against("nvidia_a40-24c", offered=("nvidia_a40-48q",), version="8.0.3")
    assert (found, "in place of the graphics driver" in text) == ("profile_not_offered", True)


def test_a_profile_that_is_offered_has_no_problem():
    assert against("grid_a100-40c") == []


@pytest.mark.parametrize(
    "state, code",
    [(vm(), "no_host"), (vm(host=host(connected=False)), "host_not_connected")],
    ids=["no host", "not connected"],
)
def test_a_host_that_cannot_be_asked_is_a_problem_only_where_a_profile_is_asked_for(state, code):
    assert [problem.code for problem in offer.against_profiles(state, ["grid_a100-40c"])] == [code]
    assert offer.against_profiles(state, []) == []


@pytest.mark.parametrize(
    "offered, instead",
    [(A100, "Move the VM to such a host."), (("nvidia_a40-24c",), "nvidia_a40-24c.")],
    ids=["nothing near", "a near one"],
)
def test_a_host_that_others_can_replace_names_what_it_offers_itself(offered, instead):
    ((_code, text),) = against("nvidia_a40-48c", host("b", offered=A40), offered=offered)
    assert text.endswith(instead)


@pytest.mark.parametrize("count", [8, 9])
def test_of_many_profiles_that_are_not_near_eight_are_named(count):
    offered = tuple(f"grid_p40-{number}q" for number in range(10, 10 + count))
    ((_code, text),) = against("grid_a100-40c", offered=offered)
    assert [name in text for name in offered] == [number < 8 for number in range(count)]


@pytest.mark.parametrize(
    "version, older",
    [("7.0.3", True), ("8.0.2", True), ("8.0.3", False), ("8.0.4", False), ("9.0.0", False), ("", False)],
)
def test_a_profile_that_came_with_a_newer_esxi_says_so(version, older):
    ((code, text),) = against("grid_a100-1-10c", offered=A100_MIG, version=version)
    assert (code, "ESXi 8.0.3" in text) == ("profile_not_offered", older)


@pytest.mark.parametrize("cluster", [True, False], ids=["in a cluster", "alone"])
def test_a_board_that_only_another_host_has_is_no_missing_board(cluster):
    state = dataclasses.replace(vm(host=host(offered=A40)), cluster=(host(offered=A100[:2]),) if cluster else ())
    (problem,) = offer.against_profiles(state, ["grid_a100-8c"])
    assert ("no host of the cluster has such a board" in problem.found) is not cluster


@pytest.mark.parametrize("version", ["7.0.3", "8.0.2"])
def test_the_older_esxi_is_named(version):
    ((_code, text),) = against("grid_a100-1-10c", offered=A100_MIG, version=version)
    assert version in text
