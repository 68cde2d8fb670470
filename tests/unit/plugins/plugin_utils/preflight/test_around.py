# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked for before a run, and what the answers from around the hosts become: findings, a table, a sentence."""

from __future__ import annotations

import base64
import hashlib

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings as preflight_findings
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions as preflight_questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import Finding
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.repository_keys import NVIDIA

from .world import FAILED, INSIDE, LIMITS, SITE, preview


def seen(**changes):
    return {"questions": preflight_questions.questions(SITE), "limits": LIMITS, "site": SITE, **changes}


MACHINE_PARTS = ("config", "power")
VCENTER = {
    "vcenter": {"name": "vc:443", "user": "automation", "version": "8.0.3", "is_vcenter": True, "clock_ahead_s": 0.0},
    "hosts": [],
    "strangers": [],
    "datastores": [],
    "objects": [],
}


BEHIND = {**VCENTER, "vcenter": {**VCENTER["vcenter"], "clock_ahead_s": -31.0}}
HOST = {"kind": "host", "name": None}
CLUSTER = {"kind": "cluster", "name": SITE.get("cluster")}
PROFILES = "VcIntegrity.ClusterConfiguration.View"


def state_of(reported, where, what):
    (one,) = [one for one in reported["findings"] if (one["where"], one["what"]) == (where, what)]
    return one["state"]


@pytest.mark.parametrize(
    "changes, where, what, state",
    [
        ({"vcenter": FAILED}, "vCenter", "login", "blocks"),
        ({"vcenter": {}}, "vCenter", "login", "open"),
        ({"vcenter": VCENTER}, "vc:443", "login", "ok"),
        ({"vcenter": {**FAILED, "failed": False}}, "vCenter", "login", "blocks"),
        ({"vcenter": {"failed": False, "msg": "No pyVmomi."}}, "vCenter", "login", "blocks"),
        ({"here": {"failed": False, "msg": "No Python."}}, "this machine", "addresses", "blocks"),
        ({"vcenter": {**VCENTER, "strangers": ["esx-9"]}}, "esx-9", "host", "blocks"),
        ({"vcenter": {**VCENTER, "vcenter": {**VCENTER["vcenter"], "is_vcenter": False}}}, "vc:443", "kind", "blocks"),
        ({"vcenter": BEHIND}, "vc:443", "clock", "blocks"),
        ({"vcenter": {**VCENTER, "vcenter": {**VCENTER["vcenter"], "clock_ahead_s": 30.0}}}, "vc:443", "clock", "ok"),
        (
            {"vcenter": {**VCENTER, "hosts": [{"name": "esx-1", "clock_ahead_s": None, "why_no_clock": "Away."}]}},
            "esx-1",
            "clock",
            "open",
        ),
        (
            {"vcenter": {**VCENTER, "objects": [{**HOST, "found": True, "missing": ["Host.Config.Maintenance"]}]}},
            "host",
            "Host.Config.Maintenance",
            "blocks",
        ),
        (
            {"vcenter": {**VCENTER, "objects": [{**CLUSTER, "found": True, "missing": [PROFILES]}]}},
            "cluster gpu",
            PROFILES,
            "open",
        ),
        (
            {"vcenter": {**VCENTER, "objects": [{"kind": "vm", "name": "t", "found": False, "missing": []}]}},
            "vm t",
            "object",
            "blocks",
        ),
        ({"secrets": [("BMCs", "password", False, "Set it.")]}, "BMCs", "password", "blocks"),
        (
            {"problems": {"esx-1": ["site_host.hosts.serial: it differs. Set it once."]}},
            "esx-1",
            "site_host.hosts.serial",
            "blocks",
        ),
        ({"switch_problems": ["leaf-1: switch_host_ports: none. Name some."]}, "leaf-1", "switch_host_ports", "blocks"),
        ({"secrets": [("BMCs", "password", True, "Set it.")]}, "BMCs", "password", "ok"),
    ],
)
def test_what_is_around_the_hosts_has_its_state(changes, where, what, state):
    assert state_of(preflight_findings.answer(seen(**changes)), where, what) == state


@pytest.mark.parametrize(
    "states, status",
    [
        ((), "ok"),
        (("ok", "will be changed"), "ok"),
        (("open", "ok"), "open"),
        (("blocks", "open"), "blocked"),
        (("blocks",), "blocked"),
    ],
)
def test_the_status_is_that_of_the_worst_row(monkeypatch, states, status):
    rows = [Finding("site", "esx-01", "driver", state, "It is there.") for state in states]
    monkeypatch.setattr(preflight_findings, "findings", lambda _seen: rows)
    assert preflight_findings.answer({})["status"] == status


def test_a_privilege_that_the_vcenter_does_not_have_is_not_missing():
    lacking = [{**CLUSTER, "found": True, "missing": [PROFILES]}, {**HOST, "found": True, "missing": [PASSTHROUGH]}]
    older = {**VCENTER, "objects": lacking, "vcenter": {**VCENTER["vcenter"], "version": "8.0.0"}}
    reported = preflight_findings.answer(seen(vcenter=older))
    assert [one["what"] for one in reported["findings"] if one["what"] in (PROFILES, PASSTHROUGH)] == []
    newer = {**older, "vcenter": {**VCENTER["vcenter"], "version": "9.1.0"}}
    reported = preflight_findings.answer(seen(vcenter=newer))
    assert {one["what"]: one["state"] for one in reported["findings"] if one["what"] in (PROFILES, PASSTHROUGH)} == {
        PROFILES: "open",
        PASSTHROUGH: "blocks",
    }


PASSTHROUGH = "Host.Config.PciPassthru"
HERE = {"addresses": [], "registries": [], "disks": [], "time": 100.0}


@pytest.mark.parametrize(
    "disk, state",
    [({"path": "/r", "free_gb": 0.5, "why": ""}, "blocks"), ({"path": "/r", "free_gb": 1.0, "why": ""}, "ok")],
    ids=["full", "room"],
)
def test_the_disk_of_this_machine_needs_room(disk, state):
    assert (
        state_of(preflight_findings.answer(seen(here={**HERE, "disks": [disk]})), "this machine", "disk of /r") == state
    )


MIRROR = "https://mirror.example.org"
TOOLKIT = f"{MIRROR}/gpgkey"
BODY = b"\x04" + bytes(range(100))
KEY = base64.b64encode(b"\xc6" + bytes([len(BODY)]) + BODY).decode()
PRINT = hashlib.sha1(b"\x99" + len(BODY).to_bytes(2, "big") + BODY).hexdigest().upper()
LOADED = {
    **SITE,
    "guests": {"driver": {"package": "/pkg/nvidia-linux-grid-550_550.54.15_amd64.deb"}, "licence": {}},
    "runtime": {
        "engine": "docker",
        "toolkit_repository": {
            "url": "https://mirror.example.org/deb",
            "key_url": TOOLKIT,
            "key_fingerprints": [PRINT],
        },
    },
}
REFUSED = {"url": TOOLKIT, "reached": False, "status": None, "why": "No.", "code": "", "content": None}
ANSWERED = {**REFUSED, "reached": True, "status": 200, "why": "", "content": KEY}


def inside(*addresses):
    answer = {"addresses": list(addresses), "registries": [], "disks": [], "time": 100.0}
    return {"look": {"vms": []}, "waiting": [], "problems": [], "answers": [("job-01", answer, 100.0, 100.0)]}


@pytest.mark.parametrize(
    "here, guests, reported",
    [
        (REFUSED, {}, {"this machine": "blocks"}),
        ({**REFUSED, "code": "certificate"}, {}, {"this machine": "open"}),
        ({**REFUSED, "code": "certificate"}, inside(ANSWERED), {"job-01": "ok"}),
        (REFUSED, inside(REFUSED), {"job-01": "blocks"}),
        (ANSWERED, inside(REFUSED), {"this machine": "ok", "job-01": "blocks"}),
    ],
    ids=[
        "nobody else",
        "an authority that guests may know",
        "a guest reaches it",
        "no guest does",
        "only this machine",
    ],
)
def test_what_guests_load_they_have_to_reach_themselves(here, guests, reported):
    questions = preflight_questions.questions(LOADED)
    assert [one["url"] for one in questions["addresses"]] == [TOOLKIT]
    looked = seen(here={**HERE, "addresses": [here]}, guests=guests, questions=questions, site=LOADED)
    findings = preflight_findings.answer(looked)["findings"]
    assert {one["where"]: one["state"] for one in findings if "toolkit" in one["what"]} == reported


def key_row(one, **repository):
    """What preflight has to say of a repository's key that this machine found."""
    requested = {**LOADED, "runtime": {"engine": "docker", "toolkit_repository": {"key_url": TOOLKIT, **repository}}}
    looked = seen(here={**HERE, "addresses": [one]}, questions=preflight_questions.questions(requested), site=requested)
    (row,) = [one for one in preflight_findings.answer(looked)["findings"] if "toolkit" in one["what"]]
    return row


def test_another_key_of_a_repository_blocks_with_the_key_of_the_site():
    row = key_row(ANSWERED)
    assert (row["state"], row["code"], row["where"]) == ("blocks", "key_fingerprint", "this machine")
    assert row["found"] == f"The file holds the key {PRINT}. Expected is {NVIDIA[0]}."
    assert "add its fingerprint to site.runtime.toolkit_repository.key_fingerprints." in row["todo"]
    page = key_row({**ANSWERED, "content": base64.b64encode(b"<html>Sign in</html>").decode()})
    assert (page["state"], "no readable OpenPGP key" in page["found"]) == ("blocks", True)


def test_expected_key_of_a_repository_is_right_and_one_that_is_not_compared_says_so():
    right = key_row(ANSWERED, key_fingerprints=[PRINT])
    assert (right["state"], "with the expected key" in right["found"]) == ("ok", True)
    relaxed = key_row(ANSWERED, key_fingerprints=[])
    assert "is not compared, since site.runtime.toolkit_repository.key_fingerprints is empty." in relaxed["found"]
    away = key_row(REFUSED)
    assert (away["state"], "Its key was not compared" in away["found"]) == ("blocks", True)


@pytest.mark.parametrize(
    "repository, asked",
    [
        ({}, {"https://download.docker.com/linux/debian/gpg": 1, "https://download.docker.com/linux/centos/gpg": 1}),
        ({"url": "https://m.example.org/docker/"}, {"https://m.example.org/docker/gpg": 2}),
        ({"url": "https://m.example.org/docker", "key_url": "https://m.example.org/k"}, {"https://m.example.org/k": 2}),
        ({"key_url": "https://m.example.org/k", "key_fingerprints": [PRINT]}, {"https://m.example.org/k": 1}),
    ],
    ids=["Docker's own server", "mirror", "its own key", "its own fingerprint"],
)
def test_key_of_the_engine_is_asked_for_where_the_role_takes_it_from(repository, asked):
    runtime = {"engine": "docker", "source": "vendor", "vendor_repository": repository}
    questions = preflight_questions.questions({**LOADED, "runtime": runtime})["addresses"]
    found = {one["url"]: one for one in questions if one["what"] == "container engine"}
    assert {url: len(one["fingerprints"]) for url, one in found.items()} == asked
    assert {one["setting"] for one in found.values()} == {"site.runtime.vendor_repository"}


@pytest.mark.parametrize(
    "answer, times, what, state",
    [
        ({**HERE, "time": 105.0}, (100, 110), "clock", "ok"),
        ({**HERE, "time": 200.0}, (100, 110), "clock", "blocks"),
        ({**HERE, "time": 10.0}, (100, 110), "clock", "blocks"),
        ({"unreachable": True, "msg": "no way"}, (100, 110), "login", "blocks"),
        ({**HERE, "disks": [{"path": "/", "free_gb": 2, "why": ""}]}, (100, 110), "disk of /", "blocks"),
    ],
    ids=["clock agrees", "ahead", "behind", "no way in", "full"],
)
def test_a_guest_that_is_there_is_looked_at_from_inside(answer, times, what, state):
    guests = {"look": {"vms": []}, "waiting": [], "problems": [], "answers": [("job-01", answer, *times)]}
    reported = preflight_findings.answer(
        seen(questions=preflight_questions.questions(INSIDE), site=INSIDE, guests=guests)
    )
    assert state_of(reported, "job-01", what) == state


def test_a_guest_that_a_limit_leaves_out_is_open_and_blocks_nothing():
    guests = {"look": {"vms": []}, "waiting": [], "problems": [], "answers": [("job-01", None, None, None)]}
    reported = preflight_findings.answer(
        seen(questions=preflight_questions.questions(INSIDE), site=INSIDE, guests=guests)
    )
    (finding,) = [one for one in reported["findings"] if one["where"] == "job-01"]
    assert (finding["what"], finding["state"]) == ("guest", "open")
    assert "--limit" in finding["todo"]


def test_a_guest_that_is_not_there_yet_is_reported_as_such():
    guests = {"look": {"vms": []}, "waiting": ["job-01"], "problems": [], "answers": []}
    reported = preflight_findings.answer(
        seen(questions=preflight_questions.questions(INSIDE), site=INSIDE, guests=guests)
    )
    assert state_of(reported, "job-01", "guest") == "open"


@pytest.mark.parametrize(
    "guests, state",
    [({}, "open"), ({"look": {"changed": False, "skipped": True}}, "open"), ({"look": {"msg": "crashed"}}, "blocks")],
    ids=["nobody asked", "skipped after a refused login", "no result"],
)
def test_guests_that_were_not_looked_at_block_only_where_looking_failed(guests, state):
    reported = preflight_findings.answer(
        seen(questions=preflight_questions.questions(INSIDE), site=INSIDE, guests=guests)
    )
    assert state_of(reported, "VMs", "guests") == state


def test_the_worst_stands_last_and_the_sentence_reports_all_that_blocks_with_what_to_do():
    reported = preflight_findings.answer(seen(vcenter=FAILED, secrets=[("BMCs", "password", False, "Set it.")]))
    states = [one["state"] for one in reported["findings"]]
    assert states == sorted(states, key=("ok", "will be changed", "open", "blocks").index)
    assert reported["blocked"]
    assert [line for line in reported["sentence"].splitlines() if line.startswith("- ")] == [
        "- BMCs, password: It is missing. Set it.",
        "- vCenter, login: It was wanted. It is not there. Bring it.",
    ]
    assert len(reported["table"]) == len(reported["findings"])
    assert reported["table"][-1].startswith("blocks")


def test_a_long_finding_that_does_not_block_is_cut_on_the_screen_and_whole_for_machines():
    one = Finding("hosts", "esx-01", "restart", "will be changed", "why " * 100)
    (line,) = preflight_findings.table([one])
    assert len(line) < 260
    assert line.endswith(" ...")


def test_of_a_site_that_contradicts_itself_only_that_is_reported():
    reported = preflight_findings.answer(seen(questions=preflight_questions.questions({"gpu": 3})))
    assert {one["category"] for one in reported["findings"]} == {"site"}
    assert reported["blocked"]


RUNTIME = {**INSIDE, "runtime": {"engine": "docker", "registries": [{"address": "nvcr.io", "username": "$oauthtoken"}]}}


def test_addresses_and_registries_follow_from_the_site():
    asked = preflight_questions.questions(
        {**RUNTIME, "training": {"image": "images.example.org/a/b:1", "builtin": "small"}}
    )
    assert [one["url"] for one in asked["addresses"]] == ["https://nvidia.github.io/libnvidia-container/gpgkey"]
    assert [(one["address"], one["password"]) for one in asked["registries"]] == [
        ("nvcr.io", ""),
        ("images.example.org", ""),
    ]
    with_password = preflight_questions.questions(RUNTIME, {"nvcr.io": "secret"})
    assert with_password["registries"][0]["password"] == "secret"


def test_secrets_that_are_missing_are_reported_without_any_secret():
    given = {"site_vcenter_password": False, "site_bmc_password": True, "bmcs": True, "site_registry_passwords": []}
    reported = {(where, what): there for where, what, there, dummy in preflight_questions.secrets(RUNTIME, given, {})}
    assert reported == {
        ("vCenter", "user"): True,
        ("vCenter", "password"): False,
        ("BMCs", "user"): False,
        ("BMCs", "password"): True,
        ("Registry nvcr.io", "password"): False,
    }
    environment = {"VMWARE_PASSWORD": "x", "AIREADY_BMC_USER": "y"}
    reported = [there for dummy, dummy2, there, dummy3 in preflight_questions.secrets(RUNTIME, given, environment)]
    assert reported == [True, True, True, True, False]


def test_the_filter_reports_questions_without_passwords_unless_they_are_given():
    asked = preflight_questions.everything(RUNTIME)
    assert asked["registries"][0]["password"] == ""
    assert {"problems", "objects", "secrets", "addresses"} <= set(asked)


def test_cluster_that_vcenter_does_not_show_is_one_row_with_those_that_there_are():
    why = {"msg": "cluster wrong: a cluster was wanted. There are: gpu. Correct `cluster`.", "failed": True}
    refused = {**why, "failure": {"code": "cluster_not_found", "subject": "cluster wrong"}}
    elsewhere = {"failed": True, "msg": "esx-01 was wanted in the cluster wrong. It is in gpu. Name another one."}
    objects = [{"kind": "cluster", "name": "wrong", "found": False, "missing": []}]
    answers = dict.fromkeys(("placement", "clone", *MACHINE_PARTS, "drs"), refused) | {"removal": {}}
    left = {"left": [], "others": [], "problems": [], "running": [], "holding": ""}
    reported = preflight_findings.answer(
        seen(
            vcenter={**VCENTER, "objects": objects},
            hosts={"esx-01": preview(answers={"cluster": elsewhere})},
            machines={"answers": answers, "cluster": "wrong", "due": {}, "left": left, "power": "cycle"},
        )
    )
    assert [line for line in reported["sentence"].splitlines() if line.startswith("- ")] == [
        "- cluster wrong, object: vCenter has no object of this name, or this user may not see it. There are: gpu. "
        "Correct site.cluster, or give automation access to it."
    ]


def test_settings_that_the_next_remediation_reverts_are_named_for_each_host():
    answers = {**preview()["answers"], "profile": {"cluster": {"reverted": ["kernel_settings/atsSupport"]}}}
    reported = preflight_findings.answer(seen(hosts={"esx-01": preview(answers=answers)}))
    (one,) = [one for one in reported["findings"] if one["what"] == "configuration profile of the cluster"]
    assert (one["where"], one["state"]) == ("esx-01", "open")
    assert (
        "The next remediation of the cluster reverts these host settings: kernel_settings/atsSupport." in one["found"]
    )


def test_settings_that_are_not_compared_with_the_profile_are_named_for_each_host():
    reported = preflight_findings.answer(seen(hosts={"esx-01": preview(uncompared=["graphics.default_type"])}))
    (one,) = [one for one in reported["findings"] if one["what"] == "configuration profile of the cluster"]
    assert (one["where"], one["state"]) == ("esx-01", "open")
    assert "may revert these host settings: graphics.default_type." in one["found"]


DIRECT = {
    **{key: SITE[key] for key in ("vcenter", "cluster", "vms")},
    "licence": "none",
    "gpu": {"mode": "directpath"},
}


@pytest.mark.parametrize(
    "network, states",
    [({"firmware": "ignore"}, ["open"]), ({}, []), ({"firmware": "ignore", "gpudirect": "disabled"}, [])],
    ids=["left unchanged", "configured", "not needed"],
)
def test_ats_of_ports_that_no_module_reads_is_open(network, states):
    site = {**DIRECT, "network": {"path": "directpath", "nics": ["0000:3a:00.0"], **network}}
    reported = preflight_findings.answer({**seen(), "questions": preflight_questions.questions(site), "site": site})
    assert [one["state"] for one in reported["findings"] if (one["where"], one["what"]) == ("ports", "ATS")] == states


@pytest.mark.parametrize("value", ["ten", "nan", "-1", 0.5, True, float("inf"), None])
def test_limit_that_is_not_a_whole_number_is_rejected(value):
    with pytest.raises(ValueError, match=r"Cannot use preflight_guest_gb\. .* Set a whole number"):
        preflight_findings.findings({"questions": {}, "limits": {**LIMITS, "guest_gb": value}})
