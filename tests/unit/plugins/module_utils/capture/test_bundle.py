"""A capture is one file with checksums, its table is secret, and a killed run continues."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import bundle
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture, Folder
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

READ = {"answered": True, "refused": {}, "time": ""}


def folder(tmp_path, **mode):
    return Folder(str(tmp_path / "site.zip"), mode)


def made(tmp_path):
    one = folder(tmp_path)
    one.put("vcenter/0000-Folder-group-d1.xml", "<ObjectContent/>")
    one.coverage["Folder-group-d1"] = READ
    one.save()
    one.finish({})
    return one


def test_what_was_not_read_is_not_read(tmp_path):
    made(tmp_path)
    capture = Capture(str(tmp_path / "site.zip"))
    assert list(capture.files) == ["vcenter/0000-Folder-group-d1.xml"]
    assert [capture.is_read(name) for name in ("Folder-group-d1", "HostSystem-host-1")] == [True, False]


def test_the_table_is_beside_the_capture_and_only_its_owner_reads_it(tmp_path):
    one = made(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["site.zip", "site.zip.secret.json"]
    assert stat.S_IMODE(os.stat(one.secret).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(one.dest).st_mode) == 0o600


def test_a_killed_run_continues_with_the_same_table(tmp_path):
    first = folder(tmp_path)
    name = first.table.name("vm", "job-01")
    first.coverage["VirtualMachine-vm-1"] = READ
    first.save()
    second = folder(tmp_path)
    assert (second.resumed, second.coverage) == (True, first.coverage)
    assert second.table.name("vm", "job-01") == name
    with pytest.raises(OperatorError) as refused:
        folder(tmp_path, keep_names=True)
    assert refused.value.code == "capture_not_written"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError) as refused:
        Folder(str(tmp_path / "file" / "site.zip"), {})
    assert refused.value.code == "capture_not_written"


def test_a_changed_capture_is_rejected(tmp_path):
    made(tmp_path)
    with zipfile.ZipFile(tmp_path / "site.zip", "a") as file:
        file.writestr("vcenter/extra.xml", "x")
    with pytest.raises(OperatorError) as refused:
        Capture(str(tmp_path / "site.zip"))
    assert refused.value.code == "capture_damaged"


def archive(path, manifest, members=()):
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in dict(members).items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in dict(members).items():
            made.writestr(name, text)
        shown = {**manifest, "files": sums} if isinstance(manifest, dict) else manifest
        made.writestr("manifest.json", shown if isinstance(shown, str) else json.dumps(shown))
    return str(path)


def test_an_archive_that_unpacks_to_too_much_is_rejected(tmp_path, monkeypatch):
    path = archive(tmp_path / "site.zip", {"format": 1, "coverage": {}}, {"a.json": "0" * 100_000})
    assert os.path.getsize(path) < 1000
    monkeypatch.setattr(bundle, "MOST_BYTES", 50_000)
    for read in (Capture, bundle.index):
        with pytest.raises(
            OperatorError, match=r"It has 2 files with \d+ bytes\. The limit is \d+ files and 50000 bytes"
        ):
            read(path)


@pytest.mark.parametrize(
    "manifest",
    [
        [],
        "3",
        "{",
        "[" * 100_000,
        {"format": 1},
        {"format": 1, "coverage": []},
        {"format": 1, "coverage": {"a": 1}},
        {"format": 1, "coverage": {"a": {"answered": True, "refused": "all"}}},
    ],
    ids=["list", "number", "cut", "deep", "no coverage", "list of coverage", "row", "refused"],
)
def test_a_manifest_of_another_form_is_rejected(tmp_path, manifest):
    with pytest.raises(OperatorError) as refused:
        Capture(archive(tmp_path / "site.zip", manifest))
    assert refused.value.code == "capture_damaged"


@pytest.mark.parametrize("name", ["../../evil.json", "/etc/evil.json", "a\\..\\b.json"])
def test_the_name_of_a_file_leads_nowhere(tmp_path, name):
    path = archive(tmp_path / "site.zip", {"format": 1, "coverage": {}}, {name: "{}"})
    assert list(Capture(path).files) == [name]
    assert os.listdir(tmp_path) == ["site.zip"]


@pytest.mark.parametrize("content", [b"", b"no zip"])
def test_a_file_that_is_no_capture_is_rejected(tmp_path, content):
    (tmp_path / "site.zip").write_bytes(content)
    with pytest.raises(OperatorError) as refused:
        Capture(str(tmp_path / "site.zip"))
    assert refused.value.code == "capture_damaged"
