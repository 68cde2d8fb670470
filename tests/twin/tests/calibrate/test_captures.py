"""The captures of the repository refute no rule, and the command reports what a capture says."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from twin_labs.captures import thing
from vsphere_twin import __main__ as command
from vsphere_twin import calibrate

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


def written(path, *objects, anonymised=True):
    files = {f"vcenter/{number}.xml": text.encode() for number, text in enumerate(objects)}
    sums = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    manifest = {"format": 1, "files": sums, "anonymised": anonymised, "vcenter": {"version": "8.0.3"}, "coverage": {}}
    with zipfile.ZipFile(path, "w") as made:
        for name, text in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            made.writestr(name, text)
    return path


def vm(key):
    device = {"_": "VirtualPCIPassthrough", "key": key, "controllerKey": 100}
    return thing("VirtualMachine", "vm-101", name="vm-001", config={"hardware": {"device": [device]}})


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


def test_a_file_that_is_no_capture_is_named(tmp_path, capsys):
    (tmp_path / "a.zip").write_text("no zip")
    assert command.main(["calibrate", str(tmp_path / "a.zip")]) == 1
    assert "is no capture" in capsys.readouterr().err


def test_a_changed_capture_is_rejected(tmp_path, capsys):
    path = written(tmp_path / "a.zip", vm(13000))
    with zipfile.ZipFile(path, "a") as made:
        made.writestr("vcenter/more.xml", vm(14000))
    assert command.main(["calibrate", str(path)]) == 1
    assert "differ from the checksums" in capsys.readouterr().err
