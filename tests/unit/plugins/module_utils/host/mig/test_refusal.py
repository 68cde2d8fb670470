from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import layout_text, refusal
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.rules import Rules
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS


def refused(gpu, *entries, branch=None):
    rules = Rules(GPUS[gpu], branch)
    requests, problems = layout_text.resolve(rules.gpu, entries, default_compute=True)
    with pytest.raises(OperatorError) as error:
        refusal.refuse_impossible("GPU 0", rules, requests, problems, entries)
    return error.value


@pytest.mark.parametrize(
    "gpu, entries, reasons",
    [
        ("a100_40gb", ["3g", "3g", "3g"], [
            "3g.20gb fits 2 times, 3 requested",
            "9 compute slices requested (3g.20gb 3 x 3), the GPU has 7",
            "12 memory slots requested (3g.20gb 4 x 3), the GPU has 8",
        ]),
        # A 3g takes half of the memory for less than half of the slices.
        ("h100_80gb_sxm", ["3g", "3g", "1g"], ["9 memory slots requested (3g.40gb 4 x 2, 1g.10gb 1), the GPU has 8"]),
        ("a100_40gb", ["1g:6", "1g:6"], ["1g.5gb at slot 6 overlaps another one"]),
        ("a100_40gb", ["3g:0", "4g"], ["these instances fit, but not with the requested starts"]),
        ("rtx_pro_6000_blackwell", ["1g+me.all", "1g"], [
            "5 DEC engines requested, the GPU has 4", "5 JPEG engines requested, the GPU has 4",
            "5 ENC engines requested, the GPU has 4",
        ]),
        ("a100_40gb", ["1g", "1g", "1g", "2g", "2g", "1g_double"], [
            "8 compute slices requested", "9 memory slots requested",
        ]),
        ("a30", ["1g+me", "2g+me"], [
            "2 JPEG engines requested, the GPU has 1", "2 OFA engines requested, the GPU has 1",
        ]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else value,
)  # fmt: skip
def test_the_arithmetic_is_reported(gpu, entries, reasons):
    found = refused(gpu, *entries).data["reasons"]
    assert len(found) == len(reasons)
    for said, reason in zip(found, reasons, strict=True):
        assert said.startswith(reason)


def test_before_r510_a_4g_is_refused_beside_a_3g():
    assert refused("a100_40gb", "4g", "3g", branch=470).data["reasons"] == [
        "drivers before R510 reject a 4g beside a 3g"
    ]


def test_sums_that_fit_without_a_placement_are_reported_with_the_starts():
    # As a device would say that keeps its last slots for itself.
    halves = [replace(one, starts=(0,)) if one.key == "2g" else one for one in GPUS["a30"].profiles]
    rules = Rules(replace(GPUS["a30"], profiles=tuple(halves)))
    requests, _problems = layout_text.resolve(rules.gpu, ["2g", "2g"], default_compute=True)
    with pytest.raises(OperatorError) as error:
        refusal.refuse_impossible("GPU 0", rules, requests, [], ["2g", "2g"])
    assert "there is no placement without overlap: 2g.12gb covers 2 of 4 memory slots from 0" in error.value.message


def test_the_nearest_layouts_are_legal_parts_and_none_is_part_of_another():
    rules = Rules(GPUS["a100_40gb"])
    found = refusal.nearest(rules, {19: 1, 14: 1, 9: 1, 5: 2})
    assert found == [{5: 1, 9: 0, 14: 1, 19: 1}, {5: 0, 9: 1, 14: 1, 19: 1}, {5: 1, 9: 1, 14: 0, 19: 0}]
    assert all(rules.legal(part) for part in found)


def test_a_huge_request_is_refused_as_fast_as_a_small_one():
    error = refused("h100_80gb_sxm", *["1g"] * 400, *["2g"] * 400, *["1g_double"] * 400)
    assert "1g.10gb fits 7 times, 400 requested" in error.message


def test_unknown_profiles_alone_are_reported_without_arithmetic():
    message = refused("a30", "19").message
    assert "19 is not the id of a profile" in message
    assert "The profiles of this GPU are 4g.24gb (id 0), 2g.12gb (id 5)" in message
    assert "reboot" not in message


def test_a_request_for_everything_is_answered_with_what_is_possible():
    gpu = GPUS["rtx_pro_6000_blackwell"]
    everything = [profile.id for profile in gpu.profiles for _once in range(profile.max_instances)]
    found = refused("rtx_pro_6000_blackwell", *everything).data["nearest"]
    assert len(found) == 4
    assert all(Rules(gpu).legal(Counter(ids)) for ids in found)
    assert all(len(ids) == 4 for ids in found)
