# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import contextlib
import io
import zipfile
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import datastore_file
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.range_reader import BLOCK, RangeReader
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, FakeWire, opened


@pytest.mark.parametrize(
    "text, store, path",
    [
        ("[datastore-01] depots/a.zip", "datastore-01", "depots/a.zip"),
        ("[my store]a.zip", "my store", "a.zip"),
        ("[ds] /depots//a b.zip", "ds", "depots//a b.zip"),
        ("/vmfs/volumes/datastore-01/depots/a.zip", "datastore-01", "depots/a.zip"),
        ("/vmfs/volumes/644d900e-e666deaf-8cf2-1c34da77cb4c//a.zip", "644d900e-e666deaf-8cf2-1c34da77cb4c", "a.zip"),
    ],
)
def test_a_path_on_a_datastore_is_understood_as_vcenter_and_as_the_host_write_it(text, store, path):
    found = datastore_file.place(text)
    assert (found.store, found.path) == (store, path)
    assert (found.in_brackets, found.on_host) == (f"[{store}] {path}", f"/vmfs/volumes/{store}/{path}")


@pytest.mark.parametrize(
    "text",
    ["", "a.zip", "depots/a.zip", "/tmp/a.zip", "[ds]", "[] a.zip", "/vmfs/volumes/ds", "ds:///vmfs/volumes/ds/a.zip"],
)
def test_what_is_no_absolute_path_on_a_datastore_is_none(text):
    assert datastore_file.place(text) is None


class Remote:
    """Bytes behind a server that cuts, or does not."""

    def __init__(self, data, cuts=True):
        self.data, self.cuts, self.asked = data, cuts, []

    def __call__(self, first, count):
        self.asked.append((first, count))
        return (self.data[first : first + count], True) if self.cuts else (self.data, False)


def reader(remote):
    return io.BufferedReader(RangeReader(remote, len(remote.data)))


@pytest.mark.parametrize("cuts", [True, False])
@pytest.mark.parametrize("size", [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_every_byte_of_a_remote_file_arrives_once_and_in_order(size, cuts):
    data = bytes(number % 251 for number in range(size))
    remote = Remote(data, cuts)
    assert reader(remote).read() == data
    assert len(remote.asked) <= (size // BLOCK + 1 if cuts else 1)


@pytest.mark.parametrize("cuts", [True, False])
def test_an_archive_is_read_with_a_few_requests(cuts):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("first.xml", b"<a/>")
        archive.writestr("payload.bin", b"x" * (8 * BLOCK))
        archive.writestr("last.xml", b"<b/>")
    remote = Remote(packed.getvalue(), cuts)
    with zipfile.ZipFile(reader(remote)) as archive:
        assert (archive.read("first.xml"), archive.read("last.xml")) == (b"<a/>", b"<b/>")
    assert len(remote.asked) <= 3
    assert sum(count for dummy, count in remote.asked) <= 3 * BLOCK


def test_seeking_beyond_the_end_reads_nothing():
    file = reader(Remote(b"abc"))
    file.seek(10)
    assert file.read(1) == b""
    file.seek(-2, io.SEEK_END)
    assert file.read() == b"bc"


class FolderWire(FakeWire):
    """File access that answers every request with this status and a body of this length."""

    def __init__(self, status, length):
        super().__init__()
        self.status, self.length = status, length

    @contextlib.contextmanager
    def exchange(self, method, path, body=None, headers=None):
        yield SimpleNamespace(
            status=self.status,
            reason="",
            getheader=lambda name: str(self.length),
            read=lambda count=None: b"abc",
        )


def files(status=200, length=3):
    """Files of a host with a datastore that is accessible and one that is not."""
    wire = FolderWire(status, length)
    vcenter, _wire = opened(wire)
    inventory = FakeInventory(wire)
    stores = [
        inventory.add(vim.Datastore, f"datastore-{name}", name=name, **{"summary.accessible": name == "fine"})
        for name in ("fine", "lost")
    ]
    ref = inventory.add(vim.HostSystem, "host-1", datastore=stores)
    host = SimpleNamespace(name="esx-01", moid="host-1", ref=ref, datacenter="paris", datacenter_ref=None)
    return datastore_file.DatastoreFiles(vcenter, host)


@pytest.mark.parametrize(
    "name, failure",
    [
        ("lost", {"code": "datastore_inaccessible"}),
        ("none", {"code": "datastore_not_found", "candidates": ["fine", "lost"]}),
    ],
)
def test_a_datastore_that_cannot_be_read_is_an_error(name, failure):
    with pytest.raises(OperatorError) as refused:
        files().known(datastore_file.Place(name, "a.zip"))
    assert refused.value.failure == documented(**failure, subject=f"Host esx-01, [{name}] a.zip")


@pytest.mark.parametrize(
    "status, length, refused", [(200, 1 << 30, False), (206, (1 << 30) + 1, False), (200, (1 << 30) + 1, True)]
)
def test_a_server_that_does_not_cut_sends_files_of_one_gib_at_most(status, length, refused):
    wanted = datastore_file.Place("fine", "a.zip")
    if not refused:
        assert files(status, length).part(wanted, 0, 3) == (b"abc", status == 206)
        return
    with pytest.raises(OperatorError) as error:
        files(status, length).part(wanted, 0, 3)
    assert (error.value.code, "1024 MiB" in error.value.message) == ("file_too_large", True)
