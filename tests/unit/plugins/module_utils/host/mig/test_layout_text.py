from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import layout_text
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.planner import RequestedInstance
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS


@pytest.mark.parametrize(
    "gpu, text, profile_id",
    [
        ("a100_40gb", "9", 9),
        ("a100_40gb", 9, 9),
        ("a100_40gb", "3g", 9),
        ("a100_40gb", "3g.20gb", 9),
        ("a100_40gb", "MIG 3g.20gb", 9),
        ("a100_40gb", "3G.20GB", 9),
        ("a100_40gb", "1g", 19),
        ("a100_40gb", "1g.10gb", 15),
        ("a100_40gb", "1g_double", 15),
        ("a100_40gb", "1g.5gb+me", 20),
        ("a100_40gb", "1g+me", 20),
        ("a100_80gb", "1g.10gb", 19),
        ("a100_80gb", "3g.39gb", 9),
        ("a100_80gb", "7g.79gb", 0),
        ("gb200", "1g.24gb", 19),
        ("gb200", "7g.189gb", 0),
        ("h100_94gb", "3g.48gb", 9),
        ("a30", "2g.12gb+me", 6),
        ("a30", "14", 14),
        ("rtx_pro_6000_blackwell", "1g.24gb+me.all", 65),
        ("rtx_pro_6000_blackwell", "2g-me", 66),
    ],
)
def test_a_profile_is_found_by_id_name_or_slices(gpu, text, profile_id):
    assert layout_text.find_profile(GPUS[gpu], text).id == profile_id


@pytest.mark.parametrize(
    "gpu, text, said",
    [
        ("a100_40gb", "2", "2 is not the id of a profile"),
        ("a30", "19", "19 is not the id of a profile"),
        ("a100_40gb", "3g.40gb", "3g.40gb does not exist on this GPU, which has 3g.20gb"),
        ("a100_40gb", "3g.21gb", "3g.21gb does not exist on this GPU, which has 3g.20gb"),
        ("a100_40gb", "3g.200gb", "3g.200gb does not exist on this GPU, which has 3g.20gb"),
        ("a100_40gb", "1g.6gb", "1g.6gb does not exist on this GPU, which has 1g.5gb and 1g.10gb"),
        ("a100_40gb", "5g", "5g does not exist on this GPU"),
        ("a100_40gb", "2g.10gb+me", "2g.10gb+me does not exist on this GPU"),
        ("a100_40gb", "whole", "whole is not the name of a profile"),
    ],
)
def test_what_a_gpu_does_not_have_is_reported_with_what_it_has(gpu, text, said):
    with pytest.raises(layout_text.Unresolved) as problem:
        layout_text.find_profile(GPUS[gpu], text)
    assert str(problem.value) == said


@pytest.mark.parametrize(
    "text, slices",
    [("1c", 1), ("2c.3g.20gb", 2), ("MIG 1c.2g.10gb", 1), ("7c", 7), (1, None), ("3", None), ("3g", None)],
)
def test_a_compute_instance_is_named_by_its_slices_and_not_by_a_number_alone(text, slices):
    assert layout_text.find_compute(text) == slices


def test_an_entry_says_profile_start_and_compute_instances():
    entries = ["3g", "19:6", {"profile": "2g", "start": 0, "compute": ["1c", "1c"]}, {"profile": 19, "compute": []}]
    found, problems = layout_text.resolve(GPUS["a100_40gb"], entries, default_compute=True)
    assert problems == []
    assert found == [
        RequestedInstance(9, None, (3,)),
        RequestedInstance(19, 6, (1,)),
        RequestedInstance(14, 0, (1, 1)),
        RequestedInstance(19, None, ()),
    ]


def test_without_a_default_compute_instances_are_left_alone():
    found, _problems = layout_text.resolve(GPUS["a100_40gb"], ["3g"], default_compute=False)
    assert found == [RequestedInstance(9, None, None)]


def test_every_problem_of_a_layout_is_reported():
    entries = ["2", {"profile": "3g", "start": 2}, {"profile": "2g", "compute": ["2c", "1c"]}]
    found, problems = layout_text.resolve(GPUS["a100_40gb"], entries, default_compute=True)
    assert found == []
    assert problems == [
        "2 is not the id of a profile",
        "3g.20gb cannot begin at slot 2, only at 0, 4",
        "2g.10gb has 2 compute slices, but its compute instances ask for 3",
    ]


@pytest.mark.parametrize(
    "entry",
    [None, True, 1.5, [], {}, {"profile": True}, {"profile": "3g", "start": "x"}, {"profile": "3g", "compute": "1c"},
     {"profile": "3g", "compute": ["5c"]}, {"profile": "3g", "slots": 1}],
)  # fmt: skip
def test_an_entry_of_another_form_is_a_problem(entry):
    assert len(layout_text.check_entries(["3g", entry])) >= 1
    assert layout_text.check_entries(["3g", 9, {"profile": "1g", "start": 0, "compute": ["1c"]}]) == []


@pytest.mark.parametrize(
    "entry, said",
    [
        ("9:", "in '9:4'"),
        ("9:x", "in '9:4'"),
        ({"profile": "9:x"}, "in '9:4'"),
        ({"profile": "9:0", "start": 4}, "has a start twice"),
    ],
)
def test_a_start_that_cannot_be_read_is_no_free_choice(entry, said):
    (problem,) = layout_text.check_entries([entry])
    assert said in problem


def test_a_start_that_yaml_has_read_as_a_number_is_recognised():
    _found, (problem,) = layout_text.resolve(GPUS["a100_40gb"], [9 * 60 + 4], default_compute=True)
    assert problem == "544 is not the id of a profile (9:4 has to be quoted, YAML reads 9:4 as 544)"


def test_a_start_is_checked_against_those_of_its_profile():
    _found, problems = layout_text.resolve(GPUS["a100_40gb"], ["3g:0", "4g:4"], default_compute=True)
    assert problems == ["4g.20gb cannot begin at slot 4, only at 0"]
