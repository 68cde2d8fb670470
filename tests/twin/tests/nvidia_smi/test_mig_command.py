"""nvidia-smi mig: what it refuses and how, and that nothing is undone."""

from __future__ import annotations

import pytest

from vsphere_twin.model import catalogue, mig
from vsphere_twin.model.boards import GPUS

# Requests and the starts that real GPUs gave them.
RUNS = {
    "A100 1g 2g 4g": ("a100_pcie_40gb", "19,14,5", [6, 4, 0]),
    "A100 3g first": ("a100_pcie_40gb", "9,19,14,19", [4, 0, 2, 1]),
    "A100 2g and 1g": ("a100_pcie_40gb", "14,19,19,19,19,19", [4, 6, 0, 1, 2, 3]),
    "H100 1g only": ("h100_sxm_80gb", "19,19,19,19,19,19,19", [6, 4, 5, 0, 1, 2, 3]),
    "H200 two 1g": ("h200_sxm", "19,19", [6, 4]),
    "GH200 double": ("gh200_96gb", "15,15,15", [4, 0, 2]),
    "A30": ("a30", "14,14,5", [0, 1, 2]),
    "RTX PRO 1g": ("rtx_pro_6000_server", "14,14,14,14", [0, 3, 6, 9]),
    "RTX PRO 2g 1g": ("rtx_pro_6000_server", "5,14,14", [0, 6, 9]),
}


@pytest.mark.parametrize("board,request_,starts", RUNS.values(), ids=RUNS)
def test_instances_lie_where_real_gpus_put_them(machine, board, request_, starts):
    here = machine(board, version="580.82.07")
    assert here.run(f"mig -cgi {request_} -i 0")[1] == 0
    assert [start for _profile, start in here.starts()] == starts


def test_what_was_made_before_a_failure_stays(machine):
    here = machine()
    text, rc = here.run("mig -cgi 19,19,14,9 -C")
    assert rc == 23
    assert text.endswith("Failed to create GPU instances: Insufficient Resources\n")
    assert here.starts() == [(19, 6), (19, 4), (14, 0)]
    assert all(one.compute for one in here.gpu.mig.instances)


def test_the_seed_list_of_many_guides_leaves_a_half_made_gpu(machine):
    here = machine()
    text, rc = here.run("mig -cgi 19,14,9,5,5,2 -C")
    assert rc == 23
    assert "Unable to create a GPU instance on GPU  0 using profile 5: Insufficient Resources" in text
    assert here.starts() == [(19, 6), (14, 4), (9, 0)]


def test_an_explicit_start_reaches_a_layout_that_no_order_reaches(machine):
    here = machine("h100_sxm_80gb")
    assert here.run("mig -cgi 15:6,5:0,19:4,19:5")[1] == 0
    assert sorted(here.starts()) == [(5, 0), (15, 6), (19, 4), (19, 5)]


@pytest.mark.parametrize(
    "line,rc",
    [
        ("mig -cgi 1", 2),
        ("mig -cgi 9:1", 2),
        ("mig -cgi 5g.20gb", 2),
        ("mig -cgi 0,19", 23),
        ("mig -cgi", 2),
        ("mig -lgi -cgi 9", 2),
        ("mig -dgi -gi 3", 6),
        ("mig -dci", 6),
        ("mig -lgi -i 7", 6),
        ("mig", 2),
        ("--frobnicate", 2),
        ("--query-gpu=nothing --format=csv", 2),
        ("-i GPU-not-here -L", 6),
    ],
)
def test_refusals_have_the_code_of_nvml(machine, line, rc):
    assert machine().run(line)[1] == rc


@pytest.mark.parametrize(
    "line,rc",
    [("mig -lgi", 0), ("mig -lci", 0), ("mig -lcip", 0), ("mig -cgi 9", 6)],
)
def test_lists_of_a_gpu_that_is_not_divided_are_no_failure(machine, line, rc):
    assert machine(on=False).run(line) == ("No MIG-enabled devices found.\n", rc)


def test_instances_are_named_by_id_name_or_long_name(machine):
    here = machine()
    assert here.run("mig -cgi 19,2g.10gb")[1] == 0
    assert [profile for profile, _start in here.starts()] == [19, 14]


def test_a_gpu_instance_goes_only_after_its_compute_instances(machine):
    here = machine()
    here.run("mig -cgi 9 -C")
    assert here.run("mig -dgi -gi 2")[1] == 19
    assert here.run("mig -dci -gi 2 -ci 0")[1] == 0
    assert here.run("mig -dgi -gi 2")[1] == 0
    assert here.starts() == []


def test_without_a_gpu_all_enabled_gpus_are_acted_on(machine):
    here = machine("a100_pcie_40gb", "a100_pcie_40gb", "t4")
    assert here.run("mig -cgi 19")[1] == 0
    assert [len(card.gpu.mig.instances) for card in here.cards] == [1, 1, 0]


def test_a_gpu_is_named_by_index_uuid_or_address(machine):
    here = machine("a100_pcie_40gb", "a100_pcie_40gb")
    card = here.cards[1]
    for name in ("1", card.uuid, card.bus_id, "0000:1f:00.0", "1F:00.0"):
        assert here.text(f"-L -i {name}") == f"GPU 1: NVIDIA A100-PCIE-40GB (UUID: {card.uuid})\n"


def test_compute_instances_share_their_gpu_instance(machine):
    here = machine()
    here.run("mig -cgi 9")
    assert here.run("mig -cci 0,1 -gi 2")[1] == 0
    assert here.run("mig -cci 0 -gi 2")[1] == 23
    (instance,) = here.gpu.mig.instances
    assert [(one.id, one.start, one.slices) for one in instance.compute] == [(0, 0, 1), (1, 1, 2)]
    assert "1c.3g.20gb" in here.text("-L")


def test_media_engines_go_to_one_instance(machine):
    here = machine("a30")
    assert here.run("mig -cgi 21")[1] == 0
    assert here.run("mig -cgi 6")[1] == 23
    rtx = machine("rtx_pro_6000_server", version="580.82.07")
    assert rtx.run("mig -cgi 65")[1] == 0
    assert rtx.run("mig -cgi 14")[1] == 23
    assert rtx.run("mig -cgi 67")[1] == 0


def test_a_mode_switch_with_instances_is_refused():
    gpu = type("Gpu", (), {})()
    gpu.board = catalogue.board("a30")
    gpu.kind, gpu.residents = gpu.board.mig_kind, []
    gpu.mig = mig.seeded(gpu.board, {"instances": [[14, 0]]})
    with pytest.raises(mig.Refused, match=mig.IN_USE):
        mig.set_mode(None, None, gpu, False)


def test_a_driver_before_mig_knows_no_mig(machine):
    assert machine(version="440.33.01").text("mig -lgi").startswith("Invalid combination of input arguments.")


def test_profiles_appear_with_their_driver(machine):
    assert "1g.10gb " not in machine(version="510.47.03").text("mig -lgip")
    assert "1g.10gb " in machine(version="525.85.07").text("mig -lgip")


@pytest.mark.parametrize("key", GPUS)
def test_every_gpu_of_the_table_can_be_put_into_a_machine(machine, key):
    here = machine(key, version="580.82.07")
    assert here.gpu.kind is GPUS[key]
    text, rc = here.run("mig -lgip")
    assert rc == 0
    assert text.count(" MIG ") == len(GPUS[key].profiles)
    assert here.run("-q -x")[1] == here.run("-q")[1] == here.run("")[1] == 0


@pytest.mark.parametrize("version", ["460.91.03", "510.47.03", "550.54.16", "580.82.07"])
def test_all_lines_of_the_summary_are_of_one_width(machine, version):
    here = machine("a100_pcie_40gb", "h100_sxm_80gb", "t4", version=version)
    here.run("mig -i 0 -cgi 19 -C")
    rows = [line for line in here.text("").splitlines() if line[:1] in "+|" and line]
    assert len({len(line) for line in rows}) == 1
