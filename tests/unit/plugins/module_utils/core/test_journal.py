"""The journal of changes: what it has, what it keeps out, and what happens if it cannot be written."""

from __future__ import annotations

import json
import os
import stat
import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import journal, runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.args import BMC
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.read import read

from .test_runner import Exit, Lamps, Module

SPEC = {"light": {}, "password": {"no_log": True}, "more": {"options": {"pin": {"no_log": True}, "size": {}}}}
PARAMS = {
    "light": "red",
    "password": "hunter22",
    "hostname": "vcenter",
    "more": {"pin": "12345", "size": 3},
    "unset": None,
}


def place(folder):
    return journal.Place(str(folder / "r1.jsonl"), "r1", "hosts", "lamp", "esx-01").as_text()


def module_at(folder, **more):
    module = Module(**more)
    module.journal, module.params, module.argument_spec = place(folder), PARAMS, SPEC
    module.warn = pytest.fail
    return module


def light(folder, world, light="red", **troubles):
    """The result of a run that sets the lamps of a world."""
    items = [Item(name, {"light": light}) for name in world]
    with pytest.raises(Exit) as end:
        runner.run(module_at(folder), Lamps(world, **troubles), items, "lamps")
    return end.value


def lines(folder):
    # A line may have an empty one before it, if another fork was writing.
    return [json.loads(line) for line in (folder / "r1.jsonl").read_text().splitlines() if line]


def test_a_change_is_written_before_and_after(tmp_path):
    light(tmp_path, {"a": "blue", "b": "red"})
    assert [line["kind"] for line in lines(tmp_path)] == ["task", "planned", "done"]
    (entry,) = read(str(tmp_path)).entries
    assert (entry.run, entry.stage, entry.module, entry.host, entry.label) == ("r1", "hosts", "lamp", "esx-01", "a")
    assert [(made.path, made.before, made.after) for made in entry.changes] == [("light", "blue", "red")]
    assert entry.state == "done"


def test_the_ids_of_a_new_object_are_in_its_last_line(tmp_path):
    item = Item("vm", {}, {"name": "vm", "moid": None}, changes=[Change("exists", False, True)])
    book = journal.of(module_at(tmp_path))
    book.planned([item])
    item.ids.update(moid="vm-1", instance_uuid="52b6")
    book.ended([(item, item.changes)])
    (entry,) = read(str(tmp_path)).entries
    assert entry.ids == {"name": "vm", "moid": "vm-1", "instance_uuid": "52b6"}


def test_secrets_and_connection_options_stay_out(tmp_path):
    light(tmp_path, {"a": "the code hunter22 of blue"})
    (entry,) = read(str(tmp_path)).entries
    assert entry.request == {"light": "red", "more": {"size": 3}}
    assert [made.before for made in entry.changes] == ["[not shown]"]
    text = (tmp_path / "r1.jsonl").read_text()
    assert [secret for secret in ("hunter22", "12345") if secret in text] == []


def test_all_connection_options_are_known():
    kept = {"bmc_address", "system_id"}
    assert set(journal.CONNECTION) == {*args.CONNECTION, *BMC} - kept


def test_a_refused_change_ends_without_changes(tmp_path):
    end = light(tmp_path, {"a": "blue"}, refuses=("a",))
    assert end.failed
    assert [(line["kind"], line.get("changes")) for line in lines(tmp_path)][-1] == ("failed", [])


def test_check_mode_and_a_task_without_a_place_write_nothing(tmp_path):
    items = [Item("a", {"light": "red"})]
    with pytest.raises(Exit):
        runner.run(module_at(tmp_path, check_mode=True), Lamps({"a": "blue"}), items, "lamps")
    with pytest.raises(Exit):
        runner.run(Module(), Lamps({"a": "blue"}), [Item("a", {"light": "red"})], "lamps")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_changed_if_the_journal_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    world = {"a": "blue"}
    end = light(tmp_path / "file", world)
    assert (end.failed, end.answer["failure"]["code"]) == (True, "journal_not_written")
    assert "so nothing was changed" in end.answer["msg"]
    assert world == {"a": "blue"}


def test_a_full_disk_is_an_error_and_the_next_line_is_whole(tmp_path, monkeypatch):
    path = str(tmp_path / "r1.jsonl")
    journal.append(path, [{"n": 1}])
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
    with pytest.raises(OSError, match="No space left"):
        journal.append(path, [{"n": 2}])
    monkeypatch.undo()
    journal.append(path, [{"n": 3}])
    texts = (tmp_path / "r1.jsonl").read_text().split("\n")
    assert [json.loads(texts[0])["n"], len(texts[1]), json.loads(texts[2])["n"]] == [1, 10, 3]


def test_only_the_owner_can_read_it(tmp_path):
    journal.append(str(tmp_path / "site" / "r1.jsonl"), [{"n": 1}])
    assert stat.S_IMODE((tmp_path / "site" / "r1.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "site").stat().st_mode) == 0o700


def test_forks_do_not_mix_their_lines(tmp_path):
    path = str(tmp_path / "r1.jsonl")
    forks = [
        threading.Thread(target=lambda: [journal.append(path, [{"n": "x" * 9000}] * 2) for _ in range(10)])
        for _ in range(4)
    ]
    for fork in forks:
        fork.start()
    for fork in forks:
        fork.join()
    found = lines(tmp_path)
    assert (len(found), {line["sum"] for line in found}) == (80, {journal.checksum({"n": "x" * 9000})})
