"""The captures of the repository refute no rule, and the command reports what a capture says."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from pathlib import Path

import pytest

from twin_labs.captures import thing
from vsphere_twin import __main__ as command
from vsphere_twin import calibrate, rules
from vsphere_twin.calibrate.evidence import Evidence
from vsphere_twin.calibrate.registry import CHECKERS
from vsphere_twin.calibrate.verdict import refutes
from vsphere_twin.capture import assumptions
from vsphere_twin.capture import seed as captures
from vsphere_twin.model import seed as seeds

CAPTURES = Path(__file__).parents[3] / "data" / "captures"


def shipped(folder):
    return sorted(folder.glob("*.zip"))


SHIPPED = shipped(CAPTURES)


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the package alone has no captures")
def test_there_is_a_capture():
    assert SHIPPED


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_capture_refutes_no_rule(path):
    verdicts = calibrate.calibrate(calibrate.load(path))
    refuted = {
        one.rule: [f"{found.object}: {found.values}" for found in one.objects]
        for one in verdicts
        if one.result == calibrate.REFUTED
    }
    assert refuted == {}
    assert any(one.result == calibrate.CONFIRMED for one in verdicts)


# Reasons that stem from data that the capture lacks. Every other reason can be a defect of the loader.
ABSENT = re.compile(
    r"no mlxconfig of this port in the capture|\S+ is passed through, so vCenter lists no name and no MAC|"
    r"the content of an OVF is not captured|its outputs do not name it|only its name(?: and place)? (?:is|are) captured"
)


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the package alone has no captures")
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_capture_loads_without_an_assumption_that_its_data_does_not_need(path):
    made = captures.of(path)
    strange = [assumptions.text(row) for row in made["assumptions"] if not ABSENT.fullmatch(row["reason"])]
    assert strange == []
    assert seeds.from_data(made).of_kind("HostSystem")


def written(path, *objects, anonymised=True):
    files = {f"vcenter/{number}.xml": text.encode() for number, text in enumerate(objects)}
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    manifest = {"format": 1, "files": sums, "anonymised": anonymised, "vcenter": {"version": "8.0.3"}, "coverage": {}}
    with zipfile.ZipFile(path, "w") as made:
        for name, text in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            made.writestr(name, text)
    return path


def vm(key, name="vm-001"):
    device = {"_": "VirtualPCIPassthrough", "key": key, "controllerKey": 100}
    return thing("VirtualMachine", "vm-101", name=name, config={"hardware": {"device": [device]}})


def test_the_command_writes_a_file_to_send(tmp_path, capsys):
    output = tmp_path / "calibration.json"
    assert command.main(["calibrate", str(written(tmp_path / "a.zip", vm(13000))), "--output", str(output)]) == 0
    data = json.loads(output.read_text())
    assert data["counts"] == {"confirmed": 1, "refuted": 0, "undetermined": 51}
    assert data["vcenter"] == {"version": "8.0.3"}
    (found,) = [one for one in data["rules"] if one["result"] == "confirmed"]
    assert found["rule"] == "pci-device-keys"
    assert found["objects"] == [{"object": "vm-001", "values": "key 13000, unit None, controller 100"}]
    assert "1 confirmed, 0 refuted, 51 undetermined." in capsys.readouterr().out


def test_a_refuted_rule_is_in_the_exit_status_and_first(tmp_path, capsys):
    assert command.main(["calibrate", str(written(tmp_path / "a.zip", vm(14000)))]) == 2
    assert capsys.readouterr().out.startswith("refuted      pci-device-keys ")


def test_a_refuting_capture_names_rule_evidence_and_source_and_gives_a_small_file_to_send(tmp_path, capsys):
    path = written(tmp_path / "a.zip", *(vm(14000 + number, f"vm-{number:03}") for number in range(300)))
    output = tmp_path / "calibration.json"
    assert command.main(["calibrate", str(path), "--output", str(output)]) == 2
    line, rule, evidence, rows = capsys.readouterr().out.splitlines()[:4]
    assert line.endswith("vm-000: key 14000, unit None, controller 100 (and 299 more)")
    assert rule == "  rule: Keys of vGPUs and PCI devices of VMs are from 13000 on, on controller 100"
    assert evidence == "  evidence: config.hardware.device[] of a VM with a PCI device"
    (row,) = [one for one in rules.tables()["reconfig"] if one["id"] == "reconfig-04"]
    assert rows == f"  rows of docs/rules.md: reconfig-04 ({row['source'].replace('*', '')})"
    data = json.loads(output.read_text())
    (refuted,) = [one for one in data["rules"] if one["result"] == "refuted"]
    assert refuted["rows"] == [{key: row[key] for key in ("id", "source", "mark")}]
    assert refuted["evidence"] in evidence
    assert (len(refuted["objects"]), refuted["count"]) == (10, 300)
    assert len(output.read_bytes()) < path.stat().st_size


def test_a_refuting_capture_in_the_folder_fails_its_test(tmp_path):
    (path,) = shipped(written(tmp_path / "site.zip", vm(13000), vm(14000)).parent)
    with pytest.raises(AssertionError, match="pci-device-keys.*key 14000, unit None, controller 100"):
        test_a_capture_refutes_no_rule(path)


def test_the_file_to_send_has_no_object_of_a_capture_with_names(tmp_path):
    output = tmp_path / "calibration.json"
    path = written(tmp_path / "a.zip", vm(14000), anonymised=False)
    assert command.main(["calibrate", str(path), "--output", str(output)]) == 2
    assert "vm-001" not in output.read_text()
    data = json.loads(output.read_text())
    (refuted,) = [one for one in data["rules"] if one["result"] == "refuted"]
    assert (data["anonymised"], refuted["count"]) == (False, 1)


def test_a_changed_capture_is_rejected(tmp_path, capsys):
    path = written(tmp_path / "a.zip", vm(13000))
    with zipfile.ZipFile(path, "a") as made:
        made.writestr("vcenter/more.xml", vm(14000))
    assert command.main(["calibrate", str(path)]) == 1
    assert "vcenter/more.xml differs from the checksum" in capsys.readouterr().err


def cut(path):
    written(path, vm(13000))
    path.write_bytes(path.read_bytes()[:-40])


def newer(path):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("manifest.json", json.dumps({"format": 2, "files": {}}))


def without_manifest(path):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", "x")


def test_a_manifest_of_another_form_is_named(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("manifest.json", "[]")
    assert command.main(["calibrate", str(tmp_path / "a.zip")]) == 1
    assert "It is no capture: its manifest has another form." in capsys.readouterr().err


UNREADABLE = [
    (lambda path: None, "It does not exist. Correct the path."),
    (lambda path: path.write_text("no zip"), "It is not a zip file. Use the zip file"),
    (cut, "It is cut off or damaged: File is not a zip file. Copy it again"),
    (newer, "Its format is 2, and this twin reads 1. Install a newer version"),
    (without_manifest, "It is no capture: its manifest lacks"),
]


@pytest.mark.parametrize("prepare, why", UNREADABLE)
@pytest.mark.parametrize("verb", [("calibrate",), ("capture-to-seed",)])
def test_a_capture_that_cannot_be_read_has_cause_and_fix(tmp_path, capsys, verb, prepare, why):
    path = tmp_path / "a.zip"
    prepare(path)
    expected = "this is no capture of a vCenter" if (verb[0], prepare) == ("capture-to-seed", without_manifest) else why
    more = [str(tmp_path / "seed.yml")] if verb[0] == "capture-to-seed" else []
    assert command.main([*verb, str(path), *more]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: ")
    assert expected in error


def denied(*_given, **_options):
    raise PermissionError(13, "Permission denied")


def full(*_given, **_options):
    raise OSError(28, "No space left on device")


def test_a_capture_without_rights_has_cause_and_fix(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", denied)
    assert command.main(["calibrate", str(tmp_path / "a.zip")]) == 1
    assert "This user has no permission to read it. Run again as the owner of the file." in capsys.readouterr().err


def test_a_full_disk_keeps_the_result_on_the_screen(tmp_path, capsys, monkeypatch):
    path, output = written(tmp_path / "a.zip", vm(13000)), tmp_path / "calibration.json"
    monkeypatch.setattr(Path, "write_text", full)
    assert command.main(["calibrate", str(path), "--output", str(output)]) == 1
    printed = capsys.readouterr()
    assert "1 confirmed, 0 refuted" in printed.out
    assert printed.err == (
        f"{output}: the file to send cannot be written. No space left on device. Free space, or use another path.\n"
    )


@pytest.mark.parametrize(
    "name, content",
    [
        ("vcenter/0001-x.xml", b"<a"),
        ("vcenter/0001-x.xml", b"<a/>"),
        ("vcenter/0001-x.xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
        ("methods/X-1/QueryEvents.xml", b"\0"),
        ("hosts/host-001/esxcli/commands.json", b"[" * 100_000),
        ("hosts/host-001/esxcli/commands.json", b'{"commands": 5}'),
        ("hosts/host-001/esxcli/commands.json", b'{"commands": [5]}'),
        ("x/bmc-001/redfish/v1/index.json", b"[5]"),
        ("rest/api/x/software.json", b"{"),
    ],
)
def test_a_file_of_another_form_is_no_evidence(name, content):
    evidence = Evidence({name: content}, {"vcenter": [1], "anonymised": True})
    # The checkers run under a guard that also hides defects of these functions.
    assert [*evidence.hosts, *evidence.vms, *evidence.events, *evidence.all_switches] == []
    assert evidence.outputs("hosts", "host-001").rows("x") is None
    assert not any(evidence.rest("software").values())
    assert evidence.bmcs == {}
    verdicts = calibrate.calibrate(evidence)
    assert {one.result for one in verdicts} == {calibrate.UNDETERMINED}


def test_an_object_before_damaged_data_still_refutes(monkeypatch):
    def checker(_evidence):
        yield refutes("host-001", "9 MB")
        raise ValueError("x")

    monkeypatch.setitem(CHECKERS, "vm-overhead", checker)
    verdicts = calibrate.calibrate(Evidence({}, {"vcenter": [1], "anonymised": True}))
    assert [one.rule for one in verdicts if one.result == calibrate.REFUTED] == ["vm-overhead"]
