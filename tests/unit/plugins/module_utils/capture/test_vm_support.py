# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Bundles of vm-support: the texts of esxcli that match become answers of the host, and the others are named."""

from __future__ import annotations

import io
import json
import random
import tarfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import imports, vm_support
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import COMMANDS
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

from vsphere_twin.esxcli import commandline
from vsphere_twin.model import seed as seeds

VIBS = """\
Name                       Version                                Vendor  Acceptance Level  Install Date
-------------------------  -------------------------------------  ------  ----------------  ------------
NVD-AIE_ESXi_8.0.0_Driver  550.90.05-1OEM.800.1.0.20613240        NVD     VMwareAccepted    2026-01-02
nmlx5-core                 4.23.6.2-1OEM.800.1.0.20613240         MEL     VMwareCertified   2026-01-02
"""
PCI = """\
0000:3a:00.0
   Address: 0000:3a:00.0
   Segment: 0x0000
   Vendor Name: Mellanox Technologies
   Device Name: ConnectX-6 Dx
   Configured Owner: VMkernel

0000:3b:00.0
   Address: 0000:3b:00.0
   Device Name: A100
"""
PROFILE = """\
(Updated) finance-image
   Name: (Updated) finance-image
   Vendor: Dell
   Acceptance Level: PartnerSupported
   Description: kept by the team finance
"""
FILES = {
    "uname_-a.txt": "VMkernel esx07.finance.example.org 8.0.3 #1 SMP Release build-24022510 x86_64 ESXi\n",
    "localcli_software-vib-list.txt": VIBS,
    "localcli_hardware-pci-list.txt": PCI,
    "localcli_software-profile-get.txt": PROFILE,
    "localcli_software-acceptance-get.txt": "PartnerSupported\n",
    "localcli_graphics-device-stats-list.txt": "Error: the service finance is busy\n",
    # The lists with -d have only what differs from the default.
    "localcli_system-settings-kernel-list--d.txt": "Name  Type\n----  ----\n",
    "localcli_storage-core-device-list.txt": "naa.1\n",
    "esxcfg-nics_-l.txt": "vmnic0\n",
    "date.txt": "now\n",
}


def folder(tmp_path):
    place = tmp_path / "esx-esx07-2026-03-01--08.15-2100123" / "commands"
    place.mkdir(parents=True)
    for name, text in FILES.items():
        (place / name).write_text(text)
    return str(place.parent)


def tgz(tmp_path):
    path = tmp_path / "esx-esx07-2026-03-01--08.15-2100123.tgz"
    with tarfile.open(path, "w:gz") as made:
        for name, text in FILES.items():
            member = tarfile.TarInfo(f"esx-esx07-2026-03-01--08.15-2100123/commands/{name}")
            member.size = len(text)
            made.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("x/commands/localcli_software-component-list.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    return str(path)


@pytest.mark.parametrize("write", [folder, tgz])
def test_texts_that_match_are_answers_of_the_host(tmp_path, write):
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [write(tmp_path)], keep_names=False)
    capture = Capture(dest)
    listed = json.loads(capture.files["hosts/host-001/esxcli/commands.json"])["commands"]
    read = {
        one["command"]: json.loads(capture.files[f"hosts/host-001/esxcli/{one['file']}"])
        for one in listed
        if one["file"]
    }
    assert [row["Version"] for row in read["esxcli software vib list"]] == [
        "550.90.05-1OEM.800.1.0.20613240",
        "4.23.6.2-1OEM.800.1.0.20613240",
    ]
    assert [row["Device Name"] for row in read["esxcli hardware pci list"]] == ["ConnectX-6 Dx", "A100"]
    assert read["esxcli software acceptance get"] == "PartnerSupported"
    assert read["esxcli software profile get"]["Description"] == ""
    assert set(read) == {
        "esxcli hardware pci list",
        "esxcli software acceptance get",
        "esxcli software profile get",
        "esxcli software vib list",
    }
    assert b"finance" not in b"".join(capture.files.values()) + json.dumps(capture.manifest).encode()


def test_an_archive_is_read_only_where_a_capture_has_a_use_for_it(tmp_path, monkeypatch):
    read = []
    extract = tarfile.TarFile.extractfile
    monkeypatch.setattr(
        tarfile.TarFile, "extractfile", lambda archive, one: read.append(one.name) or extract(archive, one)
    )
    bundle = vm_support.of_archive(tgz(tmp_path), 10**6)
    assert sorted(name.rpartition("/")[2] for name in read) == [
        "localcli_graphics-device-stats-list.txt",
        "localcli_hardware-pci-list.txt",
        "localcli_software-acceptance-get.txt",
        "localcli_software-profile-get.txt",
        "localcli_software-vib-list.txt",
        "uname_-a.txt",
    ]
    assert sorted(bundle.others) == ["storage-core-device-list", "system-settings-kernel-list--d"]


def test_what_is_not_read_is_named(tmp_path):
    dest = str(tmp_path / "site.zip")
    imports.bring(dest, [folder(tmp_path)], keep_names=False)
    coverage = Capture(dest).manifest["coverage"]
    unread = {name.partition("/")[2]: row for name, row in coverage.items() if not row["answered"]}
    assert unread["storage-core-device-list"]["refused"] == {"": vm_support.OTHER}
    assert unread["commands with arguments"]["refused"] == {"": "not read: 1 files"}
    (stats,) = [row for name, row in unread.items() if name.endswith("graphics-device-stats-list")]
    assert stats["refused"] == {"": "unreadable"}
    (kernel,) = [row for name, row in unread.items() if name.endswith("system-settings-kernel-list")]
    assert kernel["skipped"] == vm_support.ABSENT


def test_answers_of_another_time_stay(tmp_path):
    dest, place = str(tmp_path / "site.zip"), folder(tmp_path)
    imports.bring(dest, [place], keep_names=False)
    before = Capture(dest).files
    with pytest.raises(OperatorError, match="The capture has the answers of this host from another time"):
        imports.bring(dest, [place], keep_names=False)
    assert Capture(dest).files == before


def test_a_bundle_without_uname_has_the_name_of_the_host(tmp_path):
    place = folder(tmp_path)
    (tmp_path / "esx-esx07-2026-03-01--08.15-2100123" / "commands" / "uname_-a.txt").unlink()
    (made,) = imports.bring(str(tmp_path / "site.zip"), [place], keep_names=True)
    assert made.source == "esxcli host-001"
    assert json.loads((tmp_path / "site.zip.secret.json").read_text())["names"]["host"] == {"esx07": "host-001"}


@pytest.fixture(scope="module")
def esxcli():
    """esxcli of a host of the twin."""
    world = seeds.load("small")
    host = world.of_kind("HostSystem")[0]
    return lambda words, *options: commandline.main(world, host, [*options, *words.split()])[0]


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.each is None], ids=lambda one: one.name)
def test_the_text_of_a_command_has_the_fields_of_its_json(esxcli, command):
    words = command.name.replace(".", " ")
    expected = json.loads(esxcli(words, "--formatter=json"))
    found = vm_support.parsed(esxcli(words), words.endswith("list"))
    assert (len(_rows(found)), type(found)) == (len(_rows(expected or None)), type(expected or None))
    for row, other in zip(map(_fields, _rows(found)), map(_fields, _rows(expected or None)), strict=True):
        # A table of text has fewer columns. No text has fields of its own.
        assert {"name": None, **row}.keys() <= {"name": None, **other}.keys()
        assert [name for name in row if name in other and row[name] and str(other[name]) == ""] == []


def _rows(value):
    return value if isinstance(value, list) else [value]


def _fields(row):
    """The fields of a row by their names without blanks and case."""
    return {key.lower().replace(" ", ""): value for key, value in row.items()} if isinstance(row, dict) else {"": row}


@pytest.mark.parametrize("content", [b"", b"text"])
def test_a_file_that_is_no_archive_is_rejected(tmp_path, content):
    (tmp_path / "bundle.tgz").write_bytes(content)
    with pytest.raises(OperatorError, match="It is not a folder"):
        imports.bring(str(tmp_path / "site.zip"), [str(tmp_path / "bundle.tgz")], keep_names=False)


def _overwritten(content):
    half = len(content) // 2
    return content[:half] + b"\xff" * 64 + content[half + 64 :]


@pytest.mark.parametrize("spoil", [lambda content: content[:-40], _overwritten], ids=["cut", "overwritten"])
@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_a_damaged_archive_is_rejected_with_its_cause(tmp_path, packing, spoil):
    path = tmp_path / "bundle.tgz"
    noise = random.Random(1).randbytes(100_000).hex().encode()
    with tarfile.open(path, f"w:{packing}") as made:
        for name in ("esx/commands/localcli_hardware-pci-list.txt", "esx/commands/uname_-a.txt"):
            row = tarfile.TarInfo(name)
            row.size = len(noise)
            made.addfile(row, io.BytesIO(noise))
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(OperatorError, match="The archive is cut off or damaged: .* Copy it again") as refused:
        imports.bring(str(tmp_path / "site.zip"), [str(path)], keep_names=False)
    assert refused.value.code == "capture_damaged"


@pytest.mark.parametrize(
    "text, value",
    [
        ("", None),
        ("Error: no\n", None),
        ("   Name: a\n   Empty:\n", {"Name": "a", "Empty": ""}),
        ("A  B\n-  -\n1  2\n\n", [{"A": "1", "B": "2"}]),
        ("A   B\n--  --\n1\n", [{"A": "1", "B": ""}]),
        ("vmnic0\n   Name: x\nvmnic1\n   Name: y\n", [{"Name": "x"}, {"Name": "y"}]),
        ("  no field\n  at all\n", None),
        ("true\n", "true"),
    ],
)
def test_forms_of_outputs(text, value):
    assert vm_support.parsed(text) == value
