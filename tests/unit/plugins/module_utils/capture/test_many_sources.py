"""Many processes add sources to one capture: their sources are written together, and a kill loses none of them."""

from __future__ import annotations

import fcntl
import os
import threading
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import add as adding
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition, add
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import PARTS, Capture, Folder, pack
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

READ = {"answered": True, "refused": {}, "time": ""}
MANY = 24


def guest(number, text="x"):
    def make(table):
        own = table.learn("vm", f"train-{number:02}")
        return Addition(f"guest {own}", (f"guests/{own}/",), {f"guests/{own}/a.txt": text}, {f"guest {own}/a": READ})

    return make


@pytest.fixture
def dest(tmp_path):
    return str(tmp_path / "site.zip")


@pytest.fixture
def written(monkeypatch):
    """The number of files in the zip after each time that it was written."""
    counts, update = [], adding.update

    def counted(path, manifest, kept, files):
        update(path, manifest, kept, files)
        counts.append(len(Capture(path).files))

    monkeypatch.setattr(adding, "update", counted)
    return counts


def test_sources_that_wait_are_written_at_once(dest, written):
    add(dest, False, guest(0))
    parts = f"{dest}{PARTS}"
    os.mkdir(parts)
    lock = os.open(parts, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    workers = [threading.Thread(target=add, args=(dest, False, guest(number))) for number in range(1, MANY)]
    for one in workers:
        one.start()
    for _round in range(6000):
        if len([name for name in os.listdir(parts) if name.endswith(".json")]) == MANY - 1:
            break
        threading.Event().wait(0.01)
    os.close(lock)
    for one in workers:
        one.join()
    assert written == [1, MANY]
    assert not os.path.exists(parts)
    assert len({name.split("/")[1] for name in Capture(dest).files}) == MANY


def test_a_full_disk_loses_no_source(dest, monkeypatch):
    add(dest, False, guest(0))
    before = Capture(dest).files

    def full(*_given):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(adding, "update", full)
        with pytest.raises(OperatorError, match="No space left on device") as refused:
            add(dest, False, guest(1))
    assert refused.value.code == "capture_not_written"
    assert Capture(dest).files == before
    add(dest, False, guest(2))
    assert len(Capture(dest).files) == len(before) + 2


def test_a_newer_answer_of_a_source_replaces_one_that_waits(dest, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(adding, "_join", lambda *_given: None)
        add(dest, False, guest(0, "old"))
        add(dest, False, guest(0, "new"))
    add(dest, False, guest(1))
    assert Capture(dest).files["guests/vm-001/a.txt"] == b"new"


def test_a_source_that_waits_with_names_is_not_added(dest, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(adding, "_join", lambda *_given: None)
        add(dest, True, guest(0))
    with pytest.raises(OperatorError, match="another value of `keep`"):
        add(dest, False, guest(1))
    assert not os.path.exists(dest)


def test_a_new_capture_of_vcenter_leaves_out_what_a_killed_run_left(dest, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(adding, "_join", lambda *_given: None)
        add(dest, False, guest(0))
    Folder(dest, {}).finish({"anonymised": True})
    add(dest, False, guest(1))
    assert list(Capture(dest).files) == ["guests/vm-002/a.txt"]


def test_the_zip_is_the_same_as_one_that_is_written_whole(dest, tmp_path):
    for number in range(3):
        add(dest, False, guest(number, f"{number}" * 5000))
    whole = Capture(dest)
    other = str(tmp_path / "other.zip")
    pack(other, whole.manifest, whole.files)
    with open(dest, "rb") as one, open(other, "rb") as two:
        assert one.read() == two.read()


def test_content_that_was_changed_is_still_found(dest):
    add(dest, False, guest(0, "mine"))
    with zipfile.ZipFile(dest) as found:
        members = {name: found.read(name) for name in found.namelist()}
    members["guests/vm-001/a.txt"] = b"yours"
    with zipfile.ZipFile(dest, "w") as changed:
        for name, text in members.items():
            changed.writestr(name, text)
    add(dest, False, guest(1))
    with pytest.raises(OperatorError, match="differ from the checksums"):
        Capture(dest)


def test_a_file_that_the_manifest_does_not_list_is_rejected(dest):
    add(dest, False, guest(0))
    with zipfile.ZipFile(dest, "a") as changed:
        changed.writestr("guests/vm-009/b.txt", "hostile")
    with pytest.raises(OperatorError, match="differ from those in its manifest") as refused:
        add(dest, False, guest(1))
    assert refused.value.code == "capture_damaged"


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 half"])
def test_another_file_is_never_replaced(dest, content):
    with open(dest, "wb") as file:
        file.write(content)
    with pytest.raises(OperatorError) as refused:
        add(dest, False, guest(0))
    assert refused.value.code == "capture_damaged"
    with open(dest, "rb") as file:
        assert file.read() == content
