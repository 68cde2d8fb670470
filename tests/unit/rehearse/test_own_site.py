"""A user's own inventory leads to the twin, the user's files stay, and the verdict names what a capture lacks."""

from __future__ import annotations

import json

import pytest
import yaml

from rehearse import __main__ as rehearsal
from rehearse import captured, names, own_site
from rehearse.failure import RehearsalFailed

ENDPOINT = {
    "host": "127.0.0.1",
    "port": 8989,
    "username": "administrator@vsphere.local",
    "password": "of the twin",
    "ca_file": "/twin/ca.pem",
    "ssh_key_file": "/twin/key",
    "known_hosts_file": "/twin/known_hosts",
    "bmc_username": "root",
    "bmc_password": "of a BMC",
    "switch_password": "of a switch",
    "hosts": {"esx-01": {"ssh_host": "127.0.0.1", "ssh_port": 2201, "bmc_url": "https://127.0.0.1:4431"}},
    "switches": {
        "leaf-01": {"ssh_host": "127.0.0.1", "ssh_port": 2301, "username": "admin"},
        "Leaf-02": {"ssh_host": "127.0.0.1", "ssh_port": 2302, "username": "cumulus"},
    },
    "assumptions": [],
}
SITE = {
    "vcenter": {"hostname": "vcenter.example.org", "username": "me", "proxy_host": "proxy.example.org"},
    "hosts": {"reboot": "allow", "bmc": {"username": "mine"}},
    "fabric": {"cables": [{"switch": "leaf-01", "port": "1"}, {"switch": "leaf-02.example.org", "peer": "spine-01"}]},
    "guests": {"user": "ops"},
}
EOS = {"ansible_network_os": "arista.eos.eos", "ansible_connection": "ansible.netcommon.network_cli"}
CUMULUS = {"ansible_network_os": "cumulus", "ansible_connection": "ssh", "ansible_become": True}


def listed(**hosts):
    """An inventory as ansible-inventory lists it, with more variables for some hosts."""
    everybody = {
        "localhost": {},
        "esx-01": {"bmc_address": "bmc-01.example.org", "ansible_host": "10.0.0.1", "ansible_user": "me"},
        "spine-01": {},
        "leaf-01": {**EOS, "ansible_host": "10.0.0.3", "ansible_ssh_common_args": "-J jump.example.org"},
        "leaf-02.example.org": {**CUMULUS, "ansible_password": "mine", "switch_host_ports": ["swp1"]},
        "guest-01": {},
    }
    variables = {name: {"site": SITE, "site_vcenter_password": "mine", **one} for name, one in everybody.items()}
    for name, more in hosts.items():
        variables[name.replace("_", "-")].update(more)
    return {
        "_meta": {"hostvars": variables},
        "all": {"children": ["ungrouped", "esxi_hosts", "switches", "training_guests"]},
        "ungrouped": {"hosts": ["localhost"]},
        "esxi_hosts": {"hosts": ["esx-01"]},
        "switches": {"children": ["spines", "leaves"]},
        "spines": {"hosts": ["spine-01"]},
        "leaves": {"hosts": ["leaf-01", "leaf-02.example.org"]},
        "training_guests": {"hosts": ["guest-01"]},
    }


def variables(found):
    return found.inventory["all"]["hosts"]


def test_vcenter_and_passwords_are_those_of_the_twin():
    mine = variables(own_site.mapped(listed(), ENDPOINT))["localhost"]
    twin = {key: ENDPOINT[key] for key in ("port", "username", "ca_file")}
    assert mine["site"]["vcenter"] == {**twin, "hostname": "127.0.0.1"}
    assert mine["site"]["hosts"] == {"reboot": "allow", "bmc": {"username": "root", "ca_file": "/twin/ca.pem"}}
    passwords = [mine[f"site_{one}_password"] for one in ("vcenter", "bmc", "switch")]
    assert passwords == ["of the twin", "of a BMC", "of a switch"]


def test_hosts_and_their_bmcs_lead_to_the_twin():
    mine = variables(own_site.mapped(listed(), ENDPOINT))["esx-01"]
    assert (mine["ansible_host"], mine["ansible_port"], mine["ansible_user"]) == ("127.0.0.1", 2201, "root")
    assert mine["bmc_address"] == "https://127.0.0.1:4431"


def test_a_host_without_bmc_gets_none():
    assert variables(own_site.mapped(listed(esx_01={"bmc_address": ""}), ENDPOINT))["esx-01"]["bmc_address"] == ""


def test_switches_keep_their_platform_and_lose_the_path_to_the_real_switch():
    found = variables(own_site.mapped(listed(), ENDPOINT))
    line, shell = found["leaf-01"], found["leaf-02.example.org"]
    assert {key: line[key] for key in EOS} == EOS
    assert (line["ansible_port"], line["ansible_password"]) == (2301, "of a switch")
    assert "ansible_ssh_common_args" not in line
    assert {key: shell[key] for key in CUMULUS} == CUMULUS
    assert (shell["ansible_port"], shell["ansible_user"]) == (2302, "cumulus")
    assert "ansible_password" not in shell
    assert "/twin/known_hosts" in shell["ansible_ssh_common_args"]
    assert shell["switch_host_ports"] == ["swp1"]


def test_unknown_switches_their_cables_and_guests_are_left_out():
    found = own_site.mapped(listed(), ENDPOINT)
    assert set(variables(found)) == {"localhost", "esx-01", "leaf-01", "leaf-02.example.org"}
    assert list(found.inventory["all"]["children"]["switches"]["children"]["leaves"]["hosts"]) == found.switches
    site = variables(found)["localhost"]["site"]
    assert site["fabric"]["cables"] == [{"switch": "leaf-01", "port": "1"}]
    assert "guests" not in site
    assert (found.left_out, found.unknown) == (["guests"], ["The twin has no data of the switches spine-01."])


def test_a_switch_of_a_platform_without_a_twin_leaves_the_verdict_incomplete_with_the_reason():
    why = "the twin has no switch with junos"
    row = {"object": "switch spine-01.example.org", "fact": "presence", "value": "absent", "reason": why}
    found = own_site.mapped(listed(), {**ENDPOINT, "assumptions": [row]})
    assert found.unknown == [f"The twin has no data of the switches spine-01 ({why})."]
    assert captured.Outcome("T", [row], unknown=found.unknown).status == 3
    # One line of the configuration of a switch that is there is no reason.
    other = own_site.mapped(listed(), {**ENDPOINT, "assumptions": [{**row, "fact": "vlan 7"}]})
    assert other.unknown == ["The twin has no data of the switches spine-01."]


@pytest.mark.parametrize(
    "row, lost",
    [
        ({"object": "host esx-01", "fact": "BIOS settings"}, ["The capture has no data of the BMCs of esx-01."]),
        ({"object": "host esx-01", "fact": "BIOS settings NumLock"}, []),
        ({"object": "host esx-99", "fact": "BIOS settings"}, []),
    ],
    ids=["whole BMC", "one setting", "other host"],
)
def test_a_bmc_without_data_is_unknown(row, lost):
    found = own_site.mapped(listed(), {**ENDPOINT, "assumptions": [row]})
    assert [one for one in found.unknown if "BMC" in one] == lost


def test_a_capture_without_switches_is_unknown():
    row = {"object": "fabric", "fact": "physical switches"}
    found = own_site.mapped(listed(), {**ENDPOINT, "switches": {}, "assumptions": [row]})
    assert found.unknown == [
        "The twin has no switch of the capture. No cable and no setting of a switch is compared.",
        "The twin has no data of the switches spine-01, leaf-01, leaf-02.example.org.",
    ]


def test_a_site_that_is_a_template_is_combined_by_ansible():
    found = variables(own_site.mapped(listed(localhost={"site": "{{ one }}"}), ENDPOINT))["localhost"]
    assert (found["site"], found["rehearsed_site"]) == (
        "{{ rehearsed_site | combine(rehearsed_overlay) }}",
        "{{ one }}",
    )
    assert found["rehearsed_overlay"]["vcenter"]["hostname"] == "127.0.0.1"


def test_encrypted_values_are_empty():
    found = variables(own_site.mapped(listed(localhost={"token": {"__ansible_vault": "$ANSIBLE"}}), ENDPOINT))
    assert found["localhost"]["token"] == ""


def test_an_inventory_without_hosts_is_rejected():
    with pytest.raises(RehearsalFailed, match="no host in the groups esxi_hosts and switches. Set SITE"):
        own_site.mapped({"_meta": {"hostvars": {}}, "all": {}}, ENDPOINT)


def test_an_inventory_without_site_is_rejected():
    bare = listed()
    for one in bare["_meta"]["hostvars"].values():
        del one["site"]
    with pytest.raises(RehearsalFailed, match="no variable site. Set SITE"):
        own_site.mapped(bare, ENDPOINT)


def written(folder, *paths, text="site: {name: a}\n"):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text if path.endswith("site.yml") else "all: {}\n")


@pytest.mark.parametrize("named", ["", "site.yml", "hosts.yml"])
def test_a_site_file_lies_beside_the_inventory(tmp_path, named):
    written(tmp_path, "hosts.yml", "site.yml")
    found = own_site.files(str(tmp_path / named))
    assert (found.source, found.variables) == (tmp_path / "hosts.yml", tmp_path / "site.yml")


@pytest.mark.parametrize("named", ["", "group_vars/all/site.yml", "hosts.yml"])
def test_a_site_file_lies_in_group_vars(tmp_path, named):
    written(tmp_path, "hosts.yml", "group_vars/all/site.yml")
    found = own_site.files(str(tmp_path / named))
    assert (found.source, found.variables) == (tmp_path, None)


@pytest.mark.parametrize(
    "paths, named, text",
    [
        ((), "none", "The path does not exist. Set SITE"),
        (("site.yml",), "site.yml", "has no hosts.yml. Put hosts.yml beside the site file"),
        (("hosts.yml", "other.yml"), "other.yml", "has no key site. Set SITE to the file"),
    ],
    ids=["missing", "no inventory", "no site"],
)
def test_a_wrong_path_of_a_site_is_rejected(tmp_path, paths, named, text):
    written(tmp_path, *paths)
    with pytest.raises(RehearsalFailed, match=text):
        own_site.files(str(tmp_path / named))


def test_encrypted_files_are_not_read(tmp_path):
    written(tmp_path, "hosts.yml", "group_vars/all/site.yml")
    (tmp_path / "group_vars/all/vault.yml").write_text("$ANSIBLE_VAULT;1.1;AES256\n31\n")
    source = own_site._without_encrypted(tmp_path, tmp_path / "copy")
    assert {str(one.relative_to(source)) for one in source.rglob("*.yml")} == {"hosts.yml", "group_vars/all/site.yml"}
    assert own_site.read(tmp_path / "group_vars/all/vault.yml") == {}


def test_tags_of_ansible_are_read(tmp_path):
    file = tmp_path / "site.yml"
    file.write_text("site: {name: a}\npassword: !vault |\n  $ANSIBLE_VAULT\n")
    assert own_site.read(file) == {"site": {"name": "a"}, "password": ""}


def test_a_file_that_is_no_yaml_is_rejected(tmp_path):
    file = tmp_path / "site.yml"
    file.write_text("site: [\n")
    with pytest.raises(RehearsalFailed, match="not valid YAML.*Correct the file"):
        own_site.read(file)


TABLE = {
    "names": {"host": {"esx-01.lab": "host-001"}, "path": {"a/a.vmx": "path-001"}, "switch": {"leaf-01": "switch-001"}},
    "spelled": {"leaf-01": "Leaf-01"},
    "addresses": {"10.1.2.3": "10.99.8.7"},
}


def test_a_tag_and_a_library_item_keep_their_references():
    table = {
        "names": {"text": {"urn:1": "text-001"}, "vm": {"db": "vm-101"}, "name": {"gpu": "name-001"}},
        "spelled": {},
    }
    seed = {
        "categories": [{"id": "text-001", "name": "name-001"}],
        "tags": [{"category": "text-001", "objects": [["VirtualMachine", "vm-101"]]}],
        "items": [{"name": "name-001", "from": "vm-101"}],
    }
    made = names.restored(seed, names.originals(table))
    assert made["categories"] == [{"id": "text-001", "name": "gpu"}]
    assert (made["tags"], made["items"]) == (seed["tags"], [{"name": "gpu", "from": "vm-101"}])


def test_pseudonyms_get_their_names_back_and_identifiers_stay():
    seed = {
        "name": "host-001",
        "moids": ["host-001"],
        "object": "HostSystem:host-001",
        "config": ["hostname switch-001"],
        "home": "[store] path-001.vmx",
        "address": "10.99.8.7",
        "other": ["host-0011", "host-002", 1],
    }
    assert names.restored(seed, names.originals(TABLE)) == {
        "name": "esx-01.lab",
        "moids": ["host-001"],
        "object": "HostSystem:host-001",
        "config": ["hostname Leaf-01"],
        "home": "[store] a/a.vmx",
        "address": "10.1.2.3",
        "other": ["host-0011", "host-002", 1],
    }


def seed(*hosts):
    rows = [{"name": name} for name in hosts]
    return {"captured": "T", "assumptions": [], "datacenters": [{"hosts": [], "clusters": [{"hosts": rows}]}]}


@pytest.fixture
def capture(tmp_path, monkeypatch):
    """A capture that the twin reads as this seed, with or without its table of pseudonyms."""

    def make(found, table=None):
        path = tmp_path / "site.zip"
        path.touch()
        if table is not None:
            (tmp_path / "site.zip.secret.json").write_text(json.dumps(table))
        monkeypatch.setattr(captured, "load", lambda _path: found)
        return str(path)

    return make


def test_a_capture_gets_the_names_of_the_site(capture):
    table = {**TABLE, "names": {"host": {"esx-01": "host-001"}}}
    (host,) = own_site.hosts_of(captured.seed_of(capture(seed("host-001"), table), listed()))
    assert host == {"name": "esx-01"}


def test_a_capture_without_hosts_of_the_site_is_rejected(capture):
    with pytest.raises(RehearsalFailed) as refused:
        captured.seed_of(capture(seed("host-001")), listed())
    assert "The capture lacks the hosts esx-01; it has host-001." in str(refused.value)
    assert "put the table of pseudonyms at" in str(refused.value)
    with pytest.raises(RehearsalFailed, match="Capture the site again, or remove these hosts"):
        captured.seed_of(capture(seed("host-001"), TABLE), listed())


def test_a_missing_capture_is_rejected(tmp_path):
    with pytest.raises(RehearsalFailed, match="The path does not exist. Set CAPTURE"):
        captured.seed_of(str(tmp_path / "none.zip"), listed())


def test_a_file_that_is_no_capture_is_rejected(tmp_path):
    (tmp_path / "site.zip").write_text("no zip")
    with pytest.raises(RehearsalFailed, match="cannot be read.*Capture the site again"):
        captured.seed_of(str(tmp_path / "site.zip"), listed())


@pytest.mark.parametrize(
    "problems, unknown, verdict, status",
    [([], [], "passed", 0), ([], ["a"], "incomplete", 3), (["b"], [], "failed", 1), (["b"], ["a"], "failed", 1)],
)
def test_a_verdict_has_an_exit_status(problems, unknown, verdict, status):
    outcome = captured.Outcome("T", [], unknown=unknown, problems=problems)
    assert (outcome.verdict, outcome.status) == (verdict, status)


def test_the_last_screen_lists_the_assumptions():
    rows = [{"object": f"host {number}", "fact": "f", "value": True, "reason": "r"} for number in range(7)]
    outcome = captured.Outcome("T", rows, unknown=["u"], problems=["p"])
    assert outcome.title == "rehearsed on your site as captured at T, 7 assumptions"
    assert captured.Outcome("T", rows[:1]).title.endswith("1 assumption")
    line = "  f is assumed to be True (r): host 0; host 1; host 2; host 3; host 4; and 2 more"
    assert outcome.lines() == [
        "",
        "Problems:",
        "  p",
        "",
        "Incomplete:",
        "  u",
        "",
        "Assumptions:",
        line,
        "",
        captured.FIX,
    ]


@pytest.mark.parametrize(
    "text, facts",
    [
        ("esx-01.lab.example: memory: Too small.", ["BIOS settings of host esx-01.lab.example"]),
        ("esx-01.lab.example.org: memory: Too small.", []),
        ("leaf-01 Ethernet1 differs from esx-02 vmnic2.", ["ATS of host esx-02, vmnic2", "model of switch leaf-01"]),
        ("leaf-011 Ethernet1 differs from esx-02 vmnic21.", []),
        ("/lab/vm/training/train-01: settings: These differ: cpus.", ["devices of VM train-01"]),
        ("The run: gpu: Something failed.", []),
    ],
)
def test_a_row_names_the_assumptions_about_its_own_objects(text, facts):
    objects = (
        "host esx-01.lab.example",
        "host esx-02, vmnic2",
        "switch leaf-01",
        "VM train-01",
        "cluster gpu",
        "host ",
    )
    named = ("BIOS settings", "ATS", "model", "devices", "DRS", "name")
    rows = [{"object": one, "fact": fact} for one, fact in zip(objects, named, strict=True)]
    said = f" Assumed here: {'; '.join(facts)}." if facts else ""
    assert captured.assumed_in(text, rows) == said


def test_problems_cables_and_changes_name_their_assumptions():
    row = {"object": "VM a", "fact": "devices", "value": "none", "reason": "r"}
    texts = {name: [f"{name} of a"] for name in ("problems", "disagreements", "changes", "unknown", "left_out")}
    lines = captured.Outcome("T", [row], **texts).lines()
    named = [line.split()[0] for line in lines if line.endswith(" Assumed here: devices of VM a.")]
    assert named == ["problems", "disagreements", "changes"]


def test_findings_become_problems_with_their_fix():
    found = [
        {"where": "esx-01", "what": "memory", "state": "blocks", "found": "Too small.", "todo": "Add memory."},
        {"where": "job-01", "what": "creation", "state": "will be changed", "found": "It is created.", "todo": ""},
        {"where": "x", "what": "y", "state": "ok", "found": "", "todo": ""},
    ]
    assert captured.problems_of(found) == ["esx-01: memory: Too small. Add memory."]
    assert captured.changes_of(found) == ["job-01: creation: It is created."]


def test_failures_of_a_run_are_those_of_its_record(tmp_path):
    row = {"object": "leaf-01", "task": "Connect", "msg": "Cannot connect. Correct the address."}
    (tmp_path / "stages.json").write_text(json.dumps({"stages": [{"failures": [row]}, {}], "failures": [row]}))
    assert captured.failures_of("The run", 2, tmp_path) == [f"The run: leaf-01: {row['msg']}"]
    unsaid = {"object": "job-01", "task": "Start the GPU in a container", "msg": ""}
    early = {"object": "", "task": "", "msg": "The run ended here."}
    (tmp_path / "stages.json").write_text(json.dumps({"stages": [{"failures": [unsaid]}], "failures": [early]}))
    assert captured.failures_of("The run", 2, tmp_path) == [
        "The run: The run ended here.",
        "The run: job-01: The task `Start the GPU in a container` failed. Its output above has the message. "
        "Correct the site, and rehearse again.",
    ]
    (own,) = captured.failures_of("The run", 2, tmp_path / "none")
    assert own == "The run ended with status 2. Its output names the error. Correct the site, and rehearse again."


def test_the_inventory_can_be_written_as_yaml():
    found = own_site.mapped(listed(), ENDPOINT).inventory
    assert yaml.safe_load(yaml.safe_dump(found, sort_keys=False)) == found


@pytest.mark.parametrize(
    "words, text",
    [
        (["--site", "my/site.yml"], "needs CAPTURE=my.zip"),
        (["--capture", "my.zip"], "CAPTURE needs SITE=my/site.yml"),
        (["--capture", "my.zip", "--site", "directpath"], "CAPTURE needs SITE=my/site.yml"),
        (["--capture", "my.zip", "--site", "my", "--checks", "all"], "Remove these options."),
        (["--capture", "my.zip", "--site", "my", "--faults", "some"], "Remove these options."),
    ],
)
def test_options_that_do_not_belong_together_are_rejected(monkeypatch, capsys, words, text):
    monkeypatch.setattr("sys.argv", ["rehearse", *words])
    with pytest.raises(SystemExit) as ended:
        rehearsal.main()
    assert (ended.value.code, text in capsys.readouterr().err) == (2, True)


def test_the_report_and_the_exit_status_have_the_verdict(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(captured, "rehearse", lambda *_words: captured.Outcome("T", [], unknown=["No BMC."]))
    monkeypatch.setattr("signal.signal", lambda *_words: None)
    words = ["rehearse", "--capture", "my.zip", "--site", "my", "--results", str(tmp_path)]
    monkeypatch.setattr("sys.argv", words)
    assert rehearsal.main() == 3
    written_down = (tmp_path / "rehearsal.txt").read_text()
    assert written_down.startswith(
        "The rehearsal is incomplete: rehearsed on your site as captured at T, 0 assumptions"
    )
    assert "Incomplete:\n  No BMC." in written_down
    assert written_down in capsys.readouterr().out
