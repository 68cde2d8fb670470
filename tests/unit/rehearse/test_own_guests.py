"""Guests of a captured site: which sites can have them, and what they get from the lab."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import defaults_of

from rehearse import captured, own_guests, own_site
from rehearse.failure import RehearsalFailed

from .test_own_site import ENDPOINT, SITE, listed, variables

GUESTS = {"user": "root", "reboot": "allow", "host_keys": "accept_new", "limits": {"nofile": 9}}
OWN = {
    **SITE,
    "machine": {"template": "/dc/vm/templates/golden"},
    "vms": [{"prefix": "job-", "count": 2}, {"path": "/dc/vm/extra"}],
    "guests": GUESTS,
    "training": {"image": "nvcr.io/nvidia/pytorch:24.05-py3", "limits": {"wall_s": 60}},
    "validation": {"seconds": 5},
}
LINUX = {"guest_id": "ubuntu64Guest", "tools": "installed", "power": "on"}


def seed(**vms):
    """A seed whose VMs are Linux with VMware Tools, but for what is given."""
    rows = [{"name": name.replace("_", "-"), **LINUX, **more} for name, more in vms.items()]
    return {"captured": "T", "assumptions": [], "datacenters": [{"vms": rows}]}


def reason(site, **vms):
    return own_guests.impossible(site, seed(**{"golden": {}, "job_01": {}, "extra": {}, **vms}))


@pytest.mark.parametrize(
    "site, vms, words",
    [
        (OWN, {}, ""),
        ({**OWN, "vms": [{"prefix": "job-", "count": "{{ many }}"}]}, {}, ""),
        (OWN, {"other": {"guest_id": "windows2019srv_64Guest"}}, ""),
        ("{{ site }}", {}, "is a template, so its VMs are not known. Write site as a mapping."),
        ({**OWN, "vms": [{"prefix": "job-", "count": 9}]}, {}, "The site has 9 VMs, and at most 8 guests run"),
        (OWN, {"golden": {"tools": "none"}}, "no Linux with VMware Tools in golden."),
        (OWN, {"job_01": {"guest_id": "windows2019srv_64Guest"}}, "no Linux with VMware Tools in job-01."),
        (OWN, {"extra": {"tools": "none"}}, "no Linux with VMware Tools in extra."),
        # A VM whose configuration nobody could read.
        (OWN, {"extra": {"guest_id": ""}}, "no Linux with VMware Tools in extra."),
    ],
    ids=["fits", "unknown count", "other VM", "template", "many", "no Tools", "Windows", "path", "unread"],
)
def test_a_site_without_possible_guests_has_a_reason(site, vms, words):
    found = reason(site, **vms)
    assert (words in found, bool(found)) == (True, bool(words))


@pytest.mark.parametrize("tools, words", [("installed", ""), ("none", "no Linux with VMware Tools in golden.")])
def test_the_template_behind_a_library_item_needs_linux(tools, words):
    made = seed(golden={"moids": ["vm-7"], "tools": tools}, job_01={}, extra={})
    items = [{"name": "ubuntu", "from": "vm-7"}, {"name": "installer"}]
    made["datacenters"][0]["libraries"] = [{"name": "images", "items": items}]
    found = own_guests.impossible({**OWN, "machine": {"content_item": "ubuntu"}}, made)
    assert (words in found, bool(found)) == (True, bool(words))


def test_only_vms_of_the_site_have_guests():
    made = seed(job_01={}, other={}, off={"power": "off"}, bare={"tools": "none"})
    assumed = own_guests.quiet(made, OWN)
    assert [row["object"] for row in assumed] == ["VM other"]
    assert [vm["tools"] for vm in made["datacenters"][0]["vms"]] == ["installed", "none", "installed", "none"]


def test_services_and_login_are_those_of_the_lab_and_all_else_is_the_own_site():
    lab = own_guests.lab()
    made, assumed = own_guests.overlaid(copy.deepcopy(OWN))
    assert set(made) == {"guests", "training", "validation"}
    assert made["guests"] == {
        "host_keys": "accept_new",
        "reboot": "allow",
        "user": lab["lab_guests"]["user"],
        "limits": lab["lab_guests"]["limits"],
    }
    assert made["training"]["limits"] == {"wall_s": 60}
    assert made["training"]["image"] == lab["lab_training"]["image"]
    assert made["validation"] == "{{ lab_validation }}"
    assert [(row["object"], row["fact"]) for row in assumed] == [
        ("site.guests", "user"),
        ("site.guests", "limits"),
        ("site.training", "image"),
        ("site.validation", "settings"),
    ]


def test_a_training_of_the_site_is_that_of_the_lab():
    own = {
        "engine": "torchrun",
        "command": ["python3", "/srv/train.py"],
        "mounts": [{"source": "/srv", "target": "/srv"}],
    }
    training = {**OWN["training"], **own, "restarts": 3, "slots": 8}
    made, _assumed = own_guests.overlaid({**OWN, "training": training})
    assert made["training"] == {**own_guests.lab()["lab_training"], "limits": {"wall_s": 60}}


@pytest.mark.parametrize("stage", own_guests.REPLACED)
def test_settings_that_the_lab_replaces_are_settings_of_a_site(stage):
    assert set(own_guests.REPLACED[stage]) <= set(defaults_of(stage))


def test_the_inventory_has_the_stages_with_guests_and_reaches_them():
    found = own_site.mapped(listed(localhost={"site": OWN}), ENDPOINT, "/folder")
    mine = variables(found)["localhost"]
    assert mine["site"]["guests"]["user"] == "ops"
    assert (mine["lab_dir"], found.left_out) == ("/folder", [])
    assert [row["object"] for row in found.assumptions][-1] == "site.validation"
    everybody = found.inventory["all"]
    assert everybody["vars"]["site"] == mine["site"]
    assert everybody["children"]["training_guests"]["hosts"] == {}
    assert everybody["children"]["training_guests"]["vars"]["ansible_connection"] == "ssh"


@pytest.fixture
def engine(monkeypatch):
    """Whether there is a container engine: a text is the reason for none."""

    def has(problem=""):
        monkeypatch.setattr(captured.guests, "missing", lambda _say: problem)
        monkeypatch.setattr(captured.guests, "report_progress", lambda _say: None)

    return has


FITS = {"golden": {}, "job_01": {}}
WINDOWS = {"golden": {"guest_id": "windows2019srv_64Guest"}}


@pytest.mark.parametrize(
    "site, vms, problem, stages, inside, words",
    [
        (OWN, FITS, "", "auto", True, ""),
        (OWN, FITS, "", "infrastructure", False, ""),
        (SITE | {"guests": {}}, FITS, "", "auto", False, ""),
        (OWN, FITS, "No Docker. Install it.", "auto", False, "training, validation are not rehearsed, since guests"),
        (OWN, WINDOWS, "", "auto", False, "no Linux with VMware Tools in golden"),
        ("{{ one }}", FITS, "", "auto", False, "guests, runtime, training, validation are not rehearsed"),
    ],
    ids=["guests", "left out", "none asked", "no engine", "no Linux", "template"],
)
def test_what_cannot_have_guests_is_incomplete(engine, site, vms, problem, stages, inside, words):
    engine(problem)
    found, sentences = captured._with_guests(site, seed(**vms), stages, print)
    assert (found, words in "".join(sentences), len(sentences)) == (inside, True, int(bool(words)))
    state = captured.INCOMPLETE if words else captured.PASSED
    assert captured.Outcome("T", [], unknown=sentences).verdict == state


@pytest.mark.parametrize("vms, problem", [(FITS, "No Docker."), (WINDOWS, "")], ids=["no engine", "no Linux"])
def test_guests_that_are_required_and_impossible_end_the_rehearsal(engine, vms, problem):
    engine(problem)
    with pytest.raises(RehearsalFailed, match="Cannot start guests."):
        captured._with_guests(OWN, seed(**vms), "all", print)
