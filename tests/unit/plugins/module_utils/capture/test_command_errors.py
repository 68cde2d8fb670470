# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each verb of the capture command: an error of a file has failure, cause and fix, and never a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import bundle, imports, run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import session

from house.collection import ROOT

DENIED, FULL = PermissionError(13, "Permission denied"), OSError(28, "No space left on device")


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs a verb, and returns its exit status and errors."""
    monkeypatch.syspath_prepend(str(ROOT / "extensions" / "capture"))
    from aiready_capture import command as found

    def call(*words):
        with contextlib.suppress(SystemExit):
            status = found.main([str(word) for word in words])
        return status, capsys.readouterr().err

    return call


def capture(path):
    made = bundle.Folder(str(path), {})
    made.put("vcenter/0000-Folder-group-d1.xml", "<ObjectContent/>")
    made.save()
    made.finish({"anonymised": True})
    return path


def packed(path, **members):
    with zipfile.ZipFile(path, "w") as made:
        for name, text in members.items():
            made.writestr(f"{name}.json", text)


def cut(path):
    capture(path)
    path.write_bytes(path.read_bytes()[:-40])


def compressed(method, spoil):
    """A zip whose only file has a compression that a capture never has."""

    def prepare(path):
        with zipfile.ZipFile(path, "w", method) as made:
            made.writestr("manifest.json", json.dumps({"format": 1, "files": {}, "coverage": {}, "x": "y" * 5000}))
        path.write_bytes(spoil(path.read_bytes()))

    return prepare


def overwritten(content):
    start = content.index(b"manifest.json") + 24
    return content[:start] + b"\xff" * 12 + content[start + 12 :]


def unknown_method(content):
    return content.replace(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x61\0")


def encrypted(content):
    return content.replace(b"\x14\0\0\0", b"\x14\0\x01\0")


def nothing(path):
    path.unlink(missing_ok=True)


UNREADABLE = {
    "wrong path": (nothing, "It does not exist. Correct the path."),
    "folder": (lambda path: path.mkdir(), "It is a folder. Use the zip file as `capture` wrote it."),
    "no zip": (lambda path: path.write_text("x"), "It is not a zip file. Use the zip file as `capture` wrote it."),
    "truncated": (cut, "The zip file is cut off or damaged: File is not a zip file. Copy it again, and compare the"),
    "damaged deflate": (compressed(zipfile.ZIP_DEFLATED, overwritten), "The zip file is cut off or damaged: "),
    "damaged bzip2": (compressed(zipfile.ZIP_BZIP2, overwritten), "The zip file is cut off or damaged: "),
    "damaged LZMA": (compressed(zipfile.ZIP_LZMA, overwritten), "The zip file is cut off or damaged: "),
    "unknown compression": (
        compressed(zipfile.ZIP_STORED, unknown_method),
        "The zip file is cut off or damaged: That compression method is not supported.",
    ),
    "encrypted": (
        compressed(zipfile.ZIP_STORED, encrypted),
        "The zip file is cut off or damaged: File 'manifest.json' is",
    ),
    "newer": (
        lambda path: packed(path, manifest=json.dumps({"format": 2, "files": {}, "coverage": {}})),
        "Its format is 2, and this version reads 1. Install a newer version of the collection",
    ),
    "list": (lambda path: packed(path, manifest="[]"), "It is no capture: its manifest has another form. Use the zip"),
    "no manifest": (lambda path: packed(path, other="x"), "It is a zip file without the manifest of a capture:"),
}
READERS = {
    "show": lambda path: ["show", path],
    "diff": lambda path: ["diff", path, path],
    "site": lambda path: ["site", path, path.parent / "new"],
    "import": lambda path: ["import", path.parent / "batfish", "--out", path],
}


@pytest.fixture
def snapshot(tmp_path):
    (tmp_path / "batfish" / "configs").mkdir(parents=True)
    (tmp_path / "batfish" / "configs" / "leaf.cfg").write_text("hostname leaf\n")
    return tmp_path / "batfish"


@pytest.mark.parametrize("trouble", UNREADABLE)
@pytest.mark.parametrize("verb", READERS)
def test_a_capture_that_cannot_be_read(command, tmp_path, snapshot, verb, trouble):
    prepare, why = UNREADABLE[trouble]
    path = tmp_path / "site.zip"
    prepare(path)
    status, error = command(*READERS[verb](path))
    if (verb, trouble) == ("import", "wrong path"):
        # It is the path of a new capture.
        assert (status, error) == (0, "")
        return
    assert status == 1
    assert error.startswith(f"{path}: cannot read the capture. {why}")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("verb", READERS)
def test_a_capture_of_another_user(command, tmp_path, snapshot, monkeypatch, verb):
    path = capture(tmp_path / "site.zip")

    def denied(*_given, **_options):
        raise DENIED

    monkeypatch.setattr(bundle.zipfile, "ZipFile", denied)
    status, error = command(*READERS[verb](path))
    assert (status, error) == (
        1,
        f"{path}: cannot read the capture. This user has no permission to read it. Run again as the owner of the "
        "file.\n",
    )


TABLES = {
    "wrong path": (nothing, "It does not exist. Correct the path."),
    "no table": (lambda path: path.write_text("{}"), "Its content is damaged: 'names'. Use the file `.secret.json`"),
    "no JSON": (lambda path: path.write_text("x"), "Its content is damaged: Expecting value"),
}


@pytest.mark.parametrize("trouble", TABLES)
@pytest.mark.parametrize("verb", ["diff", "site"])
def test_a_table_of_pseudonyms_that_cannot_be_read(command, tmp_path, verb, trouble):
    prepare, why = TABLES[trouble]
    table = tmp_path / "names.json"
    prepare(table)
    status, error = command(*READERS[verb](capture(tmp_path / "site.zip")), "--names", table)
    assert status == 1
    assert error.startswith(f"{table}: cannot read the table of pseudonyms. {why}")


def test_show_names_a_damaged_table_beside_the_capture(command, tmp_path):
    path = capture(tmp_path / "site.zip")
    (tmp_path / "site.zip.secret.json").write_text("x")
    status, error = command("show", path)
    assert status == 1
    assert "cannot read the table of pseudonyms" in error


FOLDERS = {
    "wrong path": (nothing, "It does not exist. Correct the path."),
    "file": (
        lambda path: path.write_text("x"),
        "It is not a folder. Use a folder, a zip file or a tgz of `govc object.save`",
    ),
}


@pytest.mark.parametrize("trouble", FOLDERS)
def test_a_folder_that_cannot_be_imported(command, tmp_path, trouble):
    prepare, why = FOLDERS[trouble]
    folder = tmp_path / "saved"
    prepare(folder)
    status, error = command("import", folder, "--out", tmp_path / "site.zip")
    assert status == 1
    assert error.startswith(f"{folder}: cannot read the folder. {why}")
    assert os.listdir(tmp_path) == [name for name in os.listdir(tmp_path) if "site" not in name]


def test_a_file_of_another_user_is_not_imported_in_part(command, tmp_path, snapshot, monkeypatch):
    inside = snapshot / "configs" / "leaf.cfg"

    def denied(_path):
        raise PermissionError(13, "Permission denied", str(inside))

    monkeypatch.setattr(imports, "_text", denied)
    status, error = command("import", snapshot, "--out", tmp_path / "site.zip")
    assert status == 1
    assert error.startswith(f"{inside}: cannot read the folder. This user has no permission to read it.")


WRITES = {
    "full": (FULL, "The file system is full: No space left on device. Free space, or use another path."),
    "no rights": (DENIED, "This user has no permission to write to"),
}


def refusing(error):
    def refuse(*_given, **_options):
        raise error

    return refuse


def taken(_options, *_given):
    """A vCenter of which nothing is read."""

    class VCenter:
        class content:
            class about:
                version, build, apiVersion, instanceUuid = "8.0.3", "1", "8.0.3.0", None

        name = "vc"

        def close(self):
            """Nothing is open."""

    return VCenter()


WRITERS = {
    "take": lambda path: ["take", "--vcenter", "vc", "--user", "reader", "--out", path, "--no-hosts"],
    "import": lambda path: ["import", path.parent / "batfish", "--out", path],
    "site": lambda path: ["site", capture(path), path.parent / "new"],
}


@pytest.mark.parametrize("trouble", WRITES)
@pytest.mark.parametrize("verb", WRITERS)
def test_a_file_that_cannot_be_written(command, tmp_path, snapshot, monkeypatch, verb, trouble):
    error, why = WRITES[trouble]
    path = tmp_path / "site.zip"
    words = WRITERS[verb](path)
    monkeypatch.setenv("VMWARE_PASSWORD", "x")
    monkeypatch.setattr(session, "connect", taken)
    monkeypatch.setattr(run.Reader, "read", lambda self: self._folder.save())
    monkeypatch.setattr(bundle.tempfile, "mkstemp", refusing(error))
    status, printed = command(*words)
    assert status == 1
    failed = "cannot write the site" if verb == "site" else "cannot write the capture"
    assert printed.startswith(f"{words[2] if verb == 'site' else path}: {failed}. {why}")


@pytest.mark.parametrize("verb", ["take", "import"])
def test_a_path_below_a_file(command, tmp_path, snapshot, monkeypatch, verb):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VMWARE_PASSWORD", "x")
    monkeypatch.setattr(session, "connect", taken)
    path = tmp_path / "file" / "site.zip"
    words = [*WRITERS[verb](tmp_path / "site.zip"), "--out", path]
    status, printed = command(*words)
    assert status == 1
    assert printed.startswith(f"{path}: cannot write the capture. A part of the path is a file")


def test_the_build_into_a_path_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    build = ROOT / "extensions" / "capture" / "build.py"
    made = subprocess.run(
        [sys.executable, str(build), str(tmp_path / "file" / "x.pyz")], capture_output=True, text=True, check=False
    )
    assert made.returncode == 1
    assert "Traceback" not in made.stderr
    assert "cannot write" in made.stderr
