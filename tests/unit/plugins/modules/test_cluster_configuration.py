# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.profile import document as profile

from unit.plugins.modules import described

KERNEL = "profile/esx/system/kernel_settings"


def leaf(kind):
    return {"type": "object", "additionalProperties": {"type": kind}}


def schema(**sections):
    found = {"properties": sections}
    for name in ("system", "esx", "profile"):
        found = {"properties": {name: found}}
    return found


def requested(uncovered="fail", **settings):
    return profile.ProfileRequest("gpu", {**dict.fromkeys(profile.PLACES, {}), **settings}, profile.PLACES, uncovered)


ATS = requested(kernel_settings={"atsSupport": True})


def test_a_place_is_a_path():
    params = {**described.LOGIN, "places": {"kernel_settings": "a//b"}}
    (problem,) = profile.check_params({**described.checked({**params, "cluster": "gpu"}, profile.ARGUMENTS)})
    assert problem.startswith("places.kernel_settings is 'a//b', which is not a path")


@pytest.mark.parametrize(
    "kind, value, expected", [("string", True, "TRUE"), ("boolean", True, True), ("string", 8, "8"), ("integer", 8, 8)]
)
def test_a_value_has_the_type_of_the_schema(kind, value, expected):
    now = profile.Profile(True, {}, schema(kernel_settings=leaf(kind)))
    wanted = profile.want("Cluster gpu", now, requested(kernel_settings={"atsSupport": value}))
    (change,) = profile.compare(now, wanted)
    assert (change.path, change.after) == (f"{KERNEL}/atsSupport", expected)


def test_other_parts_of_the_document_stay():
    document = {"profile": {"esx": {"system": {"kernel_settings": {"other": "1", "atsSupport": "TRUE"}}}}}
    now = profile.Profile(True, document, schema(kernel_settings=leaf("string")))
    assert profile.compare(now, profile.want("Cluster gpu", now, ATS)) == []
    wanted = profile.want("Cluster gpu", now, requested(kernel_settings={"atsSupport": None}))
    assert wanted.document["profile"]["esx"]["system"]["kernel_settings"] == {"other": "1"}


def test_a_setting_outside_of_the_schema_fails_or_is_reported():
    now = profile.Profile(True, {}, schema(module_options=leaf("string")))
    with pytest.raises(OperatorError) as caught:
        profile.want("Cluster gpu", now, ATS)
    assert (caught.value.code, caught.value.data["settings"]) == ("settings_reverted", [f"{KERNEL}/atsSupport"])
    reported = profile.want("Cluster gpu", now, requested("report", kernel_settings={"atsSupport": True}))
    assert reported == now
    assert profile.reverted(now, ATS) == [f"{KERNEL}/atsSupport"]


SOMEWHERE = {"properties": {"esx": {"$ref": "#/definitions/esx"}}}
ELSEWHERE = {
    "properties": {"profile": SOMEWHERE},
    "definitions": {"esx": {"properties": {"boot": {"properties": {"ats_support": {"type": "boolean"}}}}}},
}


def test_a_setting_at_another_place_of_the_schema_is_named_and_set_there():
    now = profile.Profile(True, {}, ELSEWHERE)
    with pytest.raises(OperatorError, match="The schema has similar names: profile/esx/boot/ats_support. Set `places`"):
        profile.want("Cluster gpu", now, ATS)
    asked = replace(ATS, places={**profile.PLACES, "kernel_settings": "profile/esx/boot"})
    wanted = profile.want("Cluster gpu", now, asked)
    assert wanted.document == {"profile": {"esx": {"boot": {"ats_support": True}}}}
    assert profile.project(wanted, asked)["settings"] == {"profile/esx/boot/ats_support": True}
    assert profile.compare(wanted, profile.want("Cluster gpu", wanted, asked)) == []


def test_a_part_of_the_schema_that_contains_itself_is_read_once():
    node = {"properties": {**{name: {"$ref": "#/definitions/node"} for name in "abcdef"}, "ats_support": {}}}
    found = {"properties": {"tree": {"$ref": "#/definitions/node"}}, "definitions": {"node": node}}
    assert profile.similar(found, ATS) == ["tree/ats_support"]


def modules_schema(section):
    for name in reversed(profile.PLACES["module_options"].split("/")):
        section = {"properties": {name: section}}
    return section


TEXT = {"type": "string"}
LISTED = modules_schema({"type": "array", "items": {"properties": {"module_name": TEXT, "options": TEXT}}})
LOADED = {"module_name": "m", "load": True}
OTHER = {"module_name": "vmkusb", "options": "a=1  b"}


@pytest.mark.parametrize(
    "there, asked, expected",
    [
        ([], {"max_vfs": [4, 0]}, [{"module_name": "m", "options": "max_vfs=4,0"}]),
        ([OTHER], {"on": True}, [OTHER, {"module_name": "m", "options": "on=1"}]),
        ([{"module_name": "m", "options": "x=0x8 y=1"}], {"x": 8}, [{"module_name": "m", "options": "x=0x8 y=1"}]),
        ([{"module_name": "m", "options": "x=1 y=1"}], {"x": None}, [{"module_name": "m", "options": "y=1"}]),
        ([OTHER, {"module_name": "m", "options": "x=1"}], {"x": None}, [OTHER]),
        ([{**LOADED, "options": "x=1"}], {"x": None}, [{**LOADED, "options": ""}]),
    ],
    ids=["new", "beside another module", "the same number", "removed", "the last one removed", "beside another key"],
)
def test_options_of_a_kernel_module_are_one_text_in_a_list(there, asked, expected):
    document = {"profile": {"esx": {"vmkernel": {"module_settings": there}}}} if there else {}
    now = profile.Profile(True, document, LISTED)
    wanted = profile.want("Cluster gpu", now, requested(module_options={"m": asked}))
    assert wanted.document["profile"]["esx"]["vmkernel"]["module_settings"] == expected
    changed = [change.path for change in profile.compare(now, wanted)]
    assert changed == ([f"{profile.PLACES['module_options']}/m/{next(iter(asked))}"] if there != expected else [])


def test_a_list_of_modules_holds_nothing_but_options():
    now = profile.Profile(True, {}, LISTED)
    lost = requested(module_options={"m": {"x": {"deep": 1}}})
    assert profile.reverted(now, lost) == [f"{profile.PLACES['module_options']}/m/x/deep"]


def test_without_a_profile_nothing_is_reverted():
    now = profile.Profile()
    assert (profile.want("Cluster gpu", now, ATS), profile.reverted(now, ATS)) == (now, [])
    assert profile.project(now, ATS) == {"managed": False, "settings": {}}
