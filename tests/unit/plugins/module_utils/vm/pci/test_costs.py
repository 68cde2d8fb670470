# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs


def test_every_cell_has_an_answer_and_names_a_source():
    for path, cost in costs.COSTS.items():
        assert cost.needs, path
        for column in costs.COLUMNS:
            cell = getattr(cost, column)
            assert cell.answer, (path, column)
            assert cell.source, (path, column)


@pytest.mark.parametrize(
    "path, gone",
    [
        ("tcp", []),
        ("pvrdma", []),
        ("sriov", ["vmotion", "ha", "drs", "snapshots", "suspend"]),
        ("passthrough_static", ["vmotion", "ha", "drs", "snapshots", "suspend"]),
        ("passthrough_dynamic", ["vmotion", "snapshots", "suspend"]),
        ("passthrough_dvx", []),
        ("vgpu", []),
    ],
)
def test_what_a_path_takes_away_is_what_the_vendors_say(path, gone):
    assert costs.lost(path) == gone


def test_a_refusal_reports_the_price_in_one_sentence():
    assert costs.cost_sentence("passthrough_static") == (
        "Costs of a passthrough device at a fixed address for a VM: it has no vMotion, no restarts by HA on another "
        "host, no placement by DRS, no snapshots and no suspending; for maintenance of its host the VM has to be "
        "powered off, and reconfigured to run elsewhere; all of its memory is reserved."
    )
    assert costs.cost_sentence("pvrdma") == "Costs of a PVRDMA adapter for a VM: all of its memory is reserved."
    assert costs.cost_sentence("tcp") == "A vmxnet3 adapter has none of these costs for a VM."


def test_gpudirect_is_ruled_out_or_made_conditional_with_the_reason():
    assert costs.gpudirect_sentence("pvrdma").startswith(
        ("A PVRDMA adapter does not support GPUDirect RDMA: its driver ")
    )
    assert "under one root complex" in costs.gpudirect_sentence("sriov")


def test_what_no_source_settles_is_marked_in_the_table():
    rows = {line.split("|")[1].strip(): line for line in costs.markdown().splitlines()}
    assert len({line.count("|") for line in rows.values()}) == 1
    for path, cost in costs.COSTS.items():
        unsure = [column for column in costs.COLUMNS if not getattr(cost, column).sure]
        assert rows[f"`{path}`"].count("[unsure]") == len(unsure)
    assert "[unsure]" in rows["`pvrdma`"]
    assert "[unsure]" not in rows["`passthrough_static`"]
