"""A GPU that is attached and does not answer: it is named, and hides none of those that do."""

from __future__ import annotations

import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig import info, inventory, listing

from . import samples
from .asking import ask
from .device import Device

HANDLE = "Unable to determine the device handle for GPU"
FORMS = {
    f"{HANDLE}1: 0000:34:00.0: Unknown Error\n": ["0000:34:00.0"],
    f"{HANDLE} 0000:34:00.0: GPU is lost.  Reboot the system to recover this GPU\n": ["0000:34:00.0"],
    f"{HANDLE}0000:34:00.0: Unknown Error\n": ["0000:34:00.0"],
    f"{HANDLE} 00000000:34:00.0: Unknown Error\n": ["0000:34:00.0"],
    f"{HANDLE} 1: Unknown Error\n": ["GPU 1"],
    f"{HANDLE}1\n": ["GPU 1"],
    "": ["a GPU whose address is unknown"],
}


@pytest.mark.parametrize("complaint", FORMS, ids=[one.strip() or "no word" for one in FORMS])
@pytest.mark.parametrize("stream, rc", [("stderr", 0), ("stdout", 15)])
def test_info_shows_the_gpus_that_answer_and_names_the_missing_one(complaint, stream, rc):
    device = Device(attached=2, complaint=complaint, complaint_to=stream, complaint_rc=rc if complaint else 0)
    gpus, missing, sentence = info.look(device, ["all"])
    assert ([gpu["pci"] for gpu in gpus], missing) == (["0000:0f:00.0"], FORMS[complaint])
    assert sentence == f"1 of 2 GPUs answer. Missing: {missing[0]}"


def test_a_gap_in_the_minor_numbers_names_what_nothing_else_names():
    assert info.look(Device(attached=2, minor=1), ["all"])[1] == ["/dev/nvidia0"]
    # A number beyond those of the GPUs that are attached leaves two candidates, which prove nothing.
    assert info.look(Device(attached=2, minor=4), ["all"])[1] == ["a GPU whose address is unknown"]


def test_several_missing_gpus_are_counted_each():
    said = f"{HANDLE}1: 0000:34:00.0: Unknown Error\n{HANDLE}2: 0000:35:00.0: Unknown Error\n" * 2
    missing = info.look(Device(attached=4, complaint=said), ["all"])[1]
    assert missing == ["0000:34:00.0", "0000:35:00.0", "a GPU whose address is unknown"]


def test_a_gpu_that_is_missing_is_known_also_where_it_is_no_longer_counted():
    found = Device(attached=1, complaint=f"{HANDLE}1: 0000:34:00.0: Unknown Error\n")
    assert info.look(found, ["all"])[1] == ["0000:34:00.0"]


def test_where_all_gpus_answer_nothing_is_missing():
    assert info.look(Device(), ["all"])[1:] == ([], "")


@pytest.mark.parametrize("gpus", [["all"], ["a100_40gb", "all"]])
def test_all_is_refused_before_any_change_where_a_gpu_is_missing(gpus):
    device = Device(attached=8, complaint=f"{HANDLE}1: 0000:34:00.0: Unknown Error\n")
    with pytest.raises(OperatorError, match=r"1 of 8 GPUs answer. Missing: 0000:34:00\.0") as raised:
        ask(device, gpus=gpus, layout=["3g"])
    assert (raised.value.code, len(raised.value.failure["missing"]), device.commands) == ("gpu_lost", 7, [])


def test_all_goes_on_with_the_others_where_the_user_says_so():
    device = Device(attached=2, complaint=f"{HANDLE}1: 0000:34:00.0: Unknown Error\n")
    result, warnings = ask(device, gpus=["all"], layout=["3g"], lost_gpus="ignore")
    assert (result["changed"], len(device.layout)) == (True, 1)
    assert warnings == ["1 of 2 GPUs answer. Missing: 0000:34:00.0."]


def test_an_index_is_refused_also_then():
    with pytest.raises(OperatorError, match="an index may name another GPU"):
        ask(Device(attached=2), gpus=["0"], lost_gpus="ignore")


def test_an_error_without_a_document_stays_an_error():
    device = Device()
    device.refusals = [("-x", f"{HANDLE} 0000:0F:00.0: GPU is lost.\n", 15, 0, 9)]
    with pytest.raises(OperatorError, match="ended with status 15") as raised:
        info.look(device, ["all"])
    assert raised.value.code == "gpu_lost"


def test_an_error_beside_a_document_of_all_gpus_is_not_passed_over():
    device = Device(complaint="Insufficient Permissions\n", complaint_rc=4)
    with pytest.raises(OperatorError) as raised:
        info.look(device, ["all"])
    assert raised.value.code == "no_permission"


@pytest.mark.parametrize("text", ["device handle for GPU", f"{HANDLE}\n", f"{HANDLE} of the host\n"])
def test_words_that_name_no_gpu_make_none_up(text):
    assert inventory.parse(Device().run(["nvidia-smi", "-q", "-x"]).stdout, text).missing == []


TABLES = {
    "a30_535.183.01__lgi": listing.instances,
    "a100-pcie40_esxi_510.47.03__lci": listing.compute_instances,
    "h100-sxm80_580.173.02_mig-2x1g__lgip": listing.profiles,
}
BROKEN = {
    "the GPU": lambda text: re.sub(r"(?m)^\|(\s+)\d(\s+(?:\d+\s+)?MIG)", r"|\1ERR!\2", text, count=1),
    "an id": lambda text: re.sub(r"(MIG \S+\s+)\d+\*?", r"\1[N/A]", text, count=1),
    "the end of the table": lambda text: text[: text.rindex("+--")],
    "half of the table": lambda text: text[: text.rindex("MIG ")],
    "everything": lambda text: "\n",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("name", TABLES)
def test_a_table_with_a_row_that_is_not_read_is_not_a_shorter_table(name, broken):
    text = samples.read(name)
    assert TABLES[name](text)
    assert broken(text) != text
    with pytest.raises(ValueError, match=r"another form|cut off|is empty|invalid literal|not enough values"):
        TABLES[name](broken(text))


@pytest.mark.parametrize("before, after", [("GPU  0 Profile", "GPU  ERR! Profile"), ("}:", "}")])
def test_a_placement_in_another_form_is_not_left_out(before, after):
    text = samples.read("a30_535.183.01__lgipp")
    assert before in text
    with pytest.raises(ValueError, match="a line has another form"):
        listing.placements(text.replace(before, after, 1))
