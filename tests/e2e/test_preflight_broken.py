"""Whatever is broken on the controller is a row of preflight's table, and hides nothing else."""

from __future__ import annotations

import json

import pytest
import yaml

from .fabric import ready
from .hosts import DONE, factory
from .test_preflight import ESX_01, PREFLIGHT, found, of
from .test_preflight import look as look_at

NOWHERE = "{{ site_switch_password_of_nobody }}"


def look(lab, *arguments, variables=None, folder="run", **env):
    """Preflight with variables of hosts and groups replaced: the run, and what it wrote down."""
    inventory = lab.inventory()
    (inventory / "zz.yml").write_text(yaml.safe_dump(variables or {}))
    env = {"AIREADY_RUN_FOLDER": str(lab.work / folder), **env}
    run = lab.run(*arguments, of=PREFLIGHT, inventory=inventory, env=env)
    file = lab.work / "run" / "preflight.json"
    return run, json.loads(file.read_text()) if file.is_file() else None


CONNECTIONS = {
    "no such connection": (
        {"ansible_connection": "nobody.netcommon.network_cli"},
        "nobody.netcommon.network_cli",
        "collection nobody.netcommon",
        "ansible-galaxy collection install nobody.netcommon",
    ),
    "no such platform": (
        {"ansible_network_os": "nobody.eos.eos"},
        "nobody.eos.eos",
        "collection nobody.eos",
        "ansible-galaxy collection install nobody.eos",
    ),
    "undefined password": (
        {"ansible_password": NOWHERE},
        "site_switch_password_of_nobody",
        "variable site_switch_password_of_nobody",
        "Set site_switch_password_of_nobody in a vault",
    ),
}


@pytest.mark.parametrize("variables, words, what, command", CONNECTIONS.values(), ids=CONNECTIONS.keys())
def test_switch_whose_connection_is_broken_here_is_one_row(lab, variables, words, what, command):
    lab = lab(ready(("leaf-01", "leaf-02")), faces=("switches",))
    run, reported = look(lab, variables={"switches": {"hosts": {"leaf-01": variables}}})
    assert reported is not None, run.output
    row = found(reported, "leaf-01", "switch")
    assert row["state"] == "blocks"
    assert words in row["found"] + row["wanted"]
    missing = found(reported, "this machine", what)
    assert (missing["state"], command in missing["todo"]) == ("blocks", True)
    assert found(reported, "leaf-02", "login")["state"] == "ok"
    assert found(reported, ESX_01, "host")["state"] == "ok"
    assert run.failed_on("localhost").count(" checks: ") == 1


def test_undefined_variable_in_the_connection_of_a_host_hides_nothing(lab, tmp_path):
    lab = lab(factory(1))
    variables = {"esxi_hosts": {"hosts": {ESX_01: {"ansible_password": NOWHERE}}}}
    target = {"AIREADY_RESULTS_TARGET": str(tmp_path / "none"), "ANSIBLE_CALLBACKS_ENABLED": "aiready.vsphere.record"}
    run, reported = look(lab, variables=variables, **target)
    assert reported is not None, run.output
    row = found(reported, "this machine", "results target")
    assert (row["state"], row["found"]) == ("blocks", f"The directory {tmp_path / 'none'} does not exist.")
    row = found(reported, ESX_01, "host")
    assert (row["state"], "site_switch_password_of_nobody" in row["found"]) == ("blocks", True)
    assert found(reported, "vCenter", "password")["state"] == "ok"


def test_undefined_variable_in_the_site_is_a_row(lab):
    lab = lab(factory(1))
    site = {"site": {"vcenter": {"hostname": NOWHERE}, "gpu": {"profile": "grid_a100-40c"}, "vms": [{"name": "a"}]}}
    run, reported = look(lab, "--extra-vars", json.dumps(site))
    assert reported is not None, run.output
    (row,) = [one for one in reported["findings"] if one["state"] == "blocks"]
    assert (row["where"], "site_switch_password_of_nobody" in row["found"] + row["todo"]) == ("site", True)


def test_table_is_shown_where_the_folder_cannot_be_written(lab):
    lab = lab(factory(1))
    (lab.work / "file").write_text("")
    run, reported = look(lab, folder="file/run")
    assert (reported, run.status) == (None, 2)
    assert "The settings are consistent." in run.output
    assert f"Cannot write {lab.work}/file/run/preflight.json." in run.output
    assert " checks: " in run.failed_on("localhost")


def test_home_that_is_not_that_of_the_account_gets_the_results(lab):
    lab = lab(factory(1))
    home = lab.work / "home"
    home.mkdir()
    # With another home, each of its processes is a new Python: a site that contradicts itself needs few of them.
    wrong = ("--extra-vars", json.dumps({"site": {"nonsense": 1}}))
    run, _none = look(lab, *wrong, folder="", AIREADY_RUN_FOLDER="", AIREADY_RESULTS="", HOME=str(home))
    assert len(list((home / "aiready" / "results").glob("*/preflight.json"))) == 1, run.output


def test_wrong_cluster_and_unknown_host_are_one_row_each(lab):
    lab = lab(factory(2, **DONE))
    run, reported = look_at(lab, site={"cluster": "wrong"}, hosts=["esx-99.lab.example"])
    assert of(reported, "blocks") == {("cluster wrong", "object"), ("esx-99.lab.example", "host")}
    assert found(reported, "cluster wrong", "object")["found"].endswith("There are: gpu.")
    assert run.failed_on("esx-99.lab.example") == ""
    assert of(reported, "open", "hosts") == set()


def test_password_that_was_changed_is_found_although_a_session_is_kept(lab):
    lab = lab(factory(1))
    first = lab.hosts("--check")
    assert first.status == 0, first.output
    _run, reported = look(lab, "--extra-vars", "site_vcenter_password=not-any-more")
    assert found(reported, "vCenter", "login")["state"] == "blocks"
