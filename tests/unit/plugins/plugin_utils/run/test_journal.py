"""The folder of the journal, and the tasks that have one."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import journal, record

from house.collection import ROOT

SITE = {"vcenter": {"hostname": "vcenter.example.com"}, "cluster": "gpu one"}
ROLE = f"{ROOT}/roles/esxi_host/tasks/do.yml:3"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("AIREADY_JOURNAL", "AIREADY_RESULTS", "VMWARE_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "site, given, results, folder",
    [
        (SITE, "", "/r", "/r/journal/vcenter.example.com_gpu-one"),
        (SITE, "/j", "/r", "/j"),
        ({**SITE, "training": {"result_dir": "/t"}}, "", "", "/t/journal/vcenter.example.com_gpu-one"),
        ({"cluster": "gpu"}, "", "/r", "/r/journal/gpu"),
        ({"vms": []}, "", "/r", "/r/journal/site"),
        ({}, "", "/r", ""),
    ],
)
def test_the_folder_of_a_site(site, given, results, folder):
    assert journal.folder(site, given, results) == folder


def test_the_environment_names_vcenter_and_the_folder(monkeypatch):
    monkeypatch.setenv("VMWARE_HOST", "vc")
    assert journal.folder({"cluster": "gpu"}, "", "/r") == "/r/journal/vc_gpu"
    monkeypatch.setenv("AIREADY_JOURNAL", "/j")
    assert journal.folder(SITE) == "/j"


def place(path=ROLE, action="aiready.vsphere.nvaie_vib", check=False, **variables):
    texts = iter(["/j", "/r/before/"])
    task = SimpleNamespace(action=action, check_mode=check, get_path=lambda: path, _role=None)
    action = SimpleNamespace(_task=task, _templar=SimpleNamespace(template=lambda _text: next(texts)))
    return journal.place(action, {"inventory_hostname": "esx-01", **variables})


def test_a_task_of_a_stage_has_a_place():
    assert json.loads(place()) == {
        "path": "/j/before.jsonl",
        "run": "before",
        "stage": "",
        "module": "nvaie_vib",
        "host": "esx-01",
    }


@pytest.mark.parametrize(
    "task",
    [
        {"check": True},
        {"action": "aiready.vsphere.esxi_host_info"},
        {"action": "aiready.vsphere.training_run"},
        {"path": "/home/me/play.yml:1"},
    ],
)
def test_other_tasks_have_none(task):
    assert place(**task) == ""


def test_a_task_of_a_user_has_one_if_the_variable_names_it():
    assert place(path="/home/me/play.yml:1", aiready_journal="/j")


def test_a_run_has_the_name_of_its_record(monkeypatch):
    monkeypatch.setattr(record, "OWNER", os.getppid())
    assert journal._run() == record.RUN
    monkeypatch.setattr(record, "OWNER", os.getpid())
    assert journal._run() == journal._run()
    assert journal._run().startswith("run-")
    assert journal.names("/r/before") == {"before", record.RUN, journal._run()}
