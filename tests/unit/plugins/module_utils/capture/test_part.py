"""Sources that one task reads are kept one by one, and added together."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition, Part, add
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

READ = {"answered": True, "refused": {}, "time": ""}


def one(name, text="x"):
    def make(table):
        own = table.learn("host", name)
        return Addition(f"esxcli {own}", (f"hosts/{own}/",), {f"hosts/{own}/a.json": text}, {f"esxcli {own}/a": READ})

    return make


def part(tmp_path, keep_names=False, origin="first"):
    return Part(str(tmp_path / "site.zip"), "hosts", keep_names, origin)


def test_the_next_run_continues(tmp_path):
    first = part(tmp_path)
    first.keep("host-10", one("esx01"))
    second = part(tmp_path)
    assert second.resumed
    assert "host-10" in second
    assert "host-11" not in second
    second.keep("host-11", one("esx02"))
    second.finish()
    found = Capture(str(tmp_path / "site.zip"))
    assert set(found.files) == {"hosts/host-001/a.json", "hosts/host-002/a.json"}
    assert found.is_read("esxcli host-002/a")
    assert not part(tmp_path).resumed


def test_an_unfinished_draft_is_no_source(tmp_path):
    first = part(tmp_path)
    first.keep("host-10", one("esx01"))
    (tmp_path / "site.zip.hosts.partial" / ".draft-x").write_text("{")
    assert "host-10" in part(tmp_path)


def test_another_value_of_keep_is_rejected(tmp_path):
    part(tmp_path).keep("host-10", one("esx01"))
    with pytest.raises(OperatorError, match="another value of `keep`"):
        part(tmp_path, keep_names=True)


def test_hosts_of_another_vcenter_are_not_added(tmp_path):
    part(tmp_path).keep("host-10", one("esx01"))
    with pytest.raises(OperatorError, match="of another vCenter is there"):
        part(tmp_path, origin="second")


def test_a_source_replaces_its_earlier_files_alone(tmp_path):
    dest = str(tmp_path / "site.zip")
    add(dest, False, one("esx01", "old"))
    add(dest, False, one("esx02", "old"))
    again = part(tmp_path)
    again.keep("host-10", one("esx01", "new"))
    again.finish()
    files = Capture(dest).files
    assert files == {"hosts/host-001/a.json": b"new", "hosts/host-002/a.json": b"old"}
