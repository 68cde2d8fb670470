"""Files of variables that end a run before its first task are named with their line, and nothing of them is shown."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.unreadable_files import unreadable

BROKEN = {
    "a tab": (
        b"site:\n  name: a-secret\n\tcluster: gpu\n",
        "line 3, column 1: found character '\\t' that cannot start any token. Indent with spaces, not with tabs.",
    ),
    "no colon": (
        b"site:\n  name: a-secret\n  cluster gpu\n  x: y\n",
        "line 3, column 3: could not find expected ':'. Correct the YAML in this line.",
    ),
    "Latin 1": (
        "site:\n  name: a-secret\n  cluster: gpü\n".encode("latin-1"),
        "line 3. It is not in UTF-8. Save it in UTF-8.",
    ),
    "UTF-16": ("site:\n".encode("utf-16"), "line 1. It is not in UTF-8. Save it in UTF-8."),
    "a NUL": (b"site: a\x00\n", ": unacceptable character #x0000"),
}


@pytest.fixture
def inventory(tmp_path):
    def made(content, name="group_vars/all/site.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
        return tmp_path

    return made


@pytest.mark.parametrize("content, words", BROKEN.values(), ids=BROKEN.keys())
def test_the_file_and_the_line_are_named(inventory, content, words):
    folder = inventory(content)
    (reported,) = unreadable([str(folder)])
    assert reported.startswith(f"Cannot read {folder}/group_vars/all/site.yml")
    assert words in reported
    assert "a-secret" not in reported


@pytest.mark.parametrize("name", ["group_vars/all.yml", "host_vars/esx-01", "host_vars/esx-01/a.yaml"])
def test_every_file_that_ansible_reads_is_looked_at_once(inventory, name):
    folder = inventory(b"\tx: 1\n", name)
    (folder / "hosts.yml").write_text("all:\n")
    assert len(unreadable([str(folder / "hosts.yml"), str(folder)], [str(folder)])) == 1


@pytest.mark.parametrize(
    "content, name",
    [
        pytest.param(b"\xef\xbb\xbfsite:\r\n  a: 1\r\n", "group_vars/all.yml", id="Windows"),
        pytest.param(b"a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3264\n", "group_vars/all.yml", id="a vaulted value"),
        pytest.param(b"$ANSIBLE_VAULT;1.1;AES256\n3264\n", "group_vars/all.yml", id="a vault"),
        pytest.param(b'{\n\t"a": 1\n}\n', "group_vars/all.json", id="JSON with tabs"),
        pytest.param(b"\tx", "group_vars/all.bak", id="a file that Ansible does not read"),
        pytest.param(b"\tx", "roles/a.yml", id="a file elsewhere"),
    ],
)
def test_what_ansible_reads_or_leaves_alone_is_not_named(inventory, content, name):
    assert unreadable([str(inventory(content, name)), "esx-01,esx-02"]) == []
