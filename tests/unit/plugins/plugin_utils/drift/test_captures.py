# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rows of the drift table for what changed between two captures."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift import captures
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.seen import seen
from ansible_collections.aiready.vsphere.plugins.plugin_utils.drift.table import answer

from house.collection import ROOT

FIRST = ROOT / "tests" / "data" / "captures" / "twin-small.zip"


def later(folder, **changes):
    """The same capture with other texts, as {kind in a file's name: (pattern, text)}. A None removes the files."""
    with zipfile.ZipFile(FIRST) as found:
        files = {name: found.read(name) for name in found.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    for kind, change in changes.items():
        for name in [one for one in files if kind in one]:
            if change is None:
                del files[name]
            else:
                files[name] = re.sub(change[0], change[1], files[name].decode(), count=1).encode()
    manifest["files"] = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    path = folder / "today.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name, text in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            made.writestr(name, text)
    return path


def drift(*paths):
    return compared([str(path) for path in paths])


def compared(paths):
    return answer({"captures": captures.changed(paths), "reads_machines": False})


def test_a_change_is_a_row_with_the_time_of_the_earlier_capture(tmp_path):
    today = later(tmp_path, **{"VirtualMachine-vm-101": ("<numCPU>16<", "<numCPU>8<")})
    found = drift(FIRST, today)
    (row,) = found["rows"]
    assert (row["object"], row["setting"], row["state"]) == ("VM vm-001", "CPUs", "changed since"), found["rows"]
    assert (row["requested"], row["found"], row["run"]) == ("16", "8", "twin-small.zip")
    assert found["status"] == "drift"
    assert found["text"].endswith(
        f"- VM vm-001, CPUs: captured 16, now 8 (since the capture twin-small.zip of {row['since']})."
    )
    assert re.match(r"20\d\d-\d\d-\d\dT", row["since"])


def test_names_are_original_if_the_secret_table_is_there(tmp_path):
    today = later(tmp_path, **{"VirtualMachine-vm-101": ("<numCPU>16<", "<numCPU>8<")})
    table = {"names": {"vm": {"train-1": "vm-001"}}, "known": {}, "salt": "00"}
    (tmp_path / "today.zip.secret.json").write_text(json.dumps(table))
    assert [row["object"] for row in drift(FIRST, today)["rows"]] == ["VM train-1"]


def test_equal_captures_have_no_row_and_none_were_requested_by_default():
    assert drift(FIRST, FIRST)["rows"] == []
    assert drift(FIRST, FIRST)["status"] == compared([])["status"] == "no drift"
    assert captures.changed([]) == captures.changed(None) == {}


def test_daily_operation_is_no_drift(tmp_path):
    moved = {"VirtualMachine-vm-101": ("<powerState>poweredOn<", "<powerState>poweredOff<")}
    found = drift(FIRST, later(tmp_path, **moved))
    assert found["rows"] == [], found


def test_tags_of_a_stage_leave_captures_out():
    variables = {"localhost": {"__drift_captured": {"changes": [], "unread": ["VM"], "problem": ""}}}
    assert seen(variables, {}, {})["captures"]
    assert not seen(variables, {}, {}, tags=["hosts"])["captures"]


def test_kinds_that_only_one_capture_has_are_unknown(tmp_path):
    found = drift(FIRST, later(tmp_path, switches=None))
    assert [(row["object"], row["state"]) for row in found["rows"]] == [("each switch", "unknown")]


def test_captures_of_two_sites_are_not_compared(tmp_path):
    other = later(tmp_path, HostSystem=("<uuid>[^<]*<", "<uuid>00000000-0000-0000-0000-000000000000<"))
    (row,) = drift(FIRST, other)["rows"]
    assert row["state"] == "unknown"
    assert row["why"].startswith("No host is in both captures. Put the table")


@pytest.mark.parametrize(
    "paths, why",
    [
        ("today.zip", "must be a list of two paths"),
        (["today.zip"], "must be a list of two paths"),
        (["/missing/a.zip", "/missing/b.zip"], "/missing/a.zip"),
        ([str(FIRST), __file__], "test_captures.py"),
    ],
)
def test_captures_that_cannot_be_read_are_unknown_with_the_reason(paths, why):
    found = compared(paths)
    assert (found["status"], [row["state"] for row in found["rows"]]) == ("unknown", ["unknown"])
    assert why in found["rows"][0]["why"]
