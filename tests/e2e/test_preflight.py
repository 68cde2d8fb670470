"""The look before a run: it changes nothing, reports what blocks and what to do, and one trouble hides no other."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import json
import threading

import pytest

from rehearse import playbook

from .fabric import configurations, ready
from .hosts import DONE, factory, hosts_of
from .machines import untouched

PREFLIGHT = playbook.ROOT / "playbooks" / "preflight.yml"
ESX_01, ESX_02 = "esx-01.lab.example", "esx-02.lab.example"
USER, BOSS = "automation@vsphere.local", "administrator@vsphere.local"
FACES = ("ssh", "redfish", "switches")
# All that vCenter may be asked for: each of these reads, or begins and ends a session.
READS = {
    "ContinueRetrievePropertiesEx",
    "CurrentTime",
    "DELETE /api/session",
    "ExecuteSoap",  # its commands are looked at below
    "Fetch",
    "FindAllByUuid",
    "GET vimServiceVersions.xml",
    "GET /api/esx/settings/clusters/{cluster}/enablement/configuration",
    "GET /api/esx/settings/clusters/{cluster}/enablement/software",
    "GET /folder",
    "HasPrivilegeOnEntities",
    "HEAD /folder",
    "Login",
    "Logout",
    "POST /api/session",
    "QueryConfigOptionEx",
    "QueryConfigTarget",
    "QueryDateTime",
    "QueryEvents",
    "QueryLockdownExceptions",
    "QueryModules",
    "QueryOptions",
    "QueryAssignedLicenses",
    "RetrieveContent",
    "RetrieveDynamicTypeManager",
    "RetrieveManagedMethodExecuter",
    "RetrievePropertiesEx",
    "RetrieveServiceContent",
    "SearchDatastore_Task",
}
ESXCLI_READS = (".list", ".get")
# What vCenter makes for whoever asks: a task for the search of a file, and what runs commands of esxcli.
OF_READERS = ("Task", "ReflectManagedMethodExecuter")


def look(lab, *arguments, site=None, hosts=None):
    """Run the playbook; the run, and what it wrote down."""
    inventory = lab.inventory(site)
    if hosts:
        (inventory / "strangers.yml").write_text(json.dumps({"esxi_hosts": {"hosts": dict.fromkeys(hosts, {})}}))
    folder = lab.work / "run"
    run = lab.run(*arguments, of=PREFLIGHT, inventory=inventory, env={"AIREADY_RUN_FOLDER": str(folder)})
    reported = json.loads((folder / "preflight.json").read_text()) if (folder / "preflight.json").is_file() else None
    assert reported is not None, run.output
    return run, reported


def of(reported, state, category=None):
    """{(where, what)} of the findings in a state."""
    return {
        (one["where"], one["what"])
        for one in reported["findings"]
        if one["state"] == state and category in (None, one["category"])
    }


def found(reported, where, what):
    """The one finding of a place and a thing."""
    (one,) = [one for one in reported["findings"] if (one["where"], one["what"]) == (where, what)]
    return one


def everything(lab):
    """Changes whenever anything changes: the model's own counts, what switches have, and what BMCs stage."""
    world = lab.twin.world
    return (
        {moid: one.version for moid, one in world._entities.items() if one.kind not in OF_READERS},
        configurations(lab),
        [(host.boots, host.bmc.staged, dict(host.bmc.active), len(host.bmc.jobs)) for host in hosts_of(lab)],
        [untouched(vm) for vm in world.of_kind("VirtualMachine")],
        sorted(world.of_kind("VirtualMachine"), key=lambda vm: vm.moid),
    )


def nothing_but_reads(lab):
    """Whether no request could have changed anything, whatever came of it."""
    assert set(lab.twin.requests) <= READS, set(lab.twin.requests) - READS
    for host in hosts_of(lab):
        assert all(command.endswith(ESXCLI_READS) for command in host.esxcli_calls), host.esxcli_calls
        sent = {one for one in host.bmc.requests if not one.startswith("GET ")}
        assert all("/SessionService/Sessions" in one for one in sent), sent
    return True


@contextlib.contextmanager
def registry(password):
    """A registry of the least kind: it wants a login, and takes one."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            right = self.headers.get("Authorization", "").startswith("Basic ") and password
            self.send_response(200 if right else 401)
            self.send_header("WWW-Authenticate", 'Basic realm="registry"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def whole(lab):
    """A lab with everything that answers, from a seed."""
    return lambda seed: lab(seed, faces=FACES)


def test_of_a_good_lab_nothing_blocks_and_nothing_is_changed(whole):
    lab = whole(ready())
    before = everything(lab)
    run, reported = look(lab)
    assert run.status == 0, run.output
    assert everything(lab) == before
    assert nothing_but_reads(lab)
    assert run.changed == 0
    assert not of(reported, "blocks")
    assert not of(reported, "open"), reported["sentence"]
    assert {where for where, dummy in of(reported, "will be changed", "hosts")} == set()
    for where, what in (
        (ESX_01, "host"),
        (ESX_02, "BMC"),
        (ESX_01, "clock"),
        (ESX_01, "settings"),
        ("leaf-01", "login"),
        ("gpu", "room for the VMs"),
        ("datastore-01", "datastore"),
        ("vCenter", "password"),
        (lab.twin.username, "privileges"),
    ):
        assert found(reported, where, what)["state"] == "ok", (where, what)
    # What the stages fabric and machines have to do is what they themselves say.
    changes = of(reported, "will be changed")
    assert {("leaf-01", "RoCE"), ("/lab/vm/training/job-01", "creation"), ("DRS", "rules")} <= changes
    assert lab.twin.password not in run.output + json.dumps(reported)


def test_bare_hosts_will_be_changed_which_blocks_nothing(whole):
    lab = whole(factory(2, fabric=True))
    before = everything(lab)
    run, reported = look(lab)
    assert run.status == 0, run.output
    assert everything(lab) == before
    assert nothing_but_reads(lab)
    assert "fatal:" not in run.output
    assert not of(reported, "blocks")
    hosts = of(reported, "will be changed", "hosts")
    parts = ("NVIDIA host driver", "BIOS settings", "kernel settings", "graphics types", "PVRDMA", "MTU", "restart")
    assert {(host, part) for host in (ESX_01, ESX_02) for part in parts} <= hosts
    room = found(reported, "gpu", "room for the VMs")
    assert (room["state"], room["todo"]) == ("open", "Run the stage hosts first; the stage machines checks it then.")
    assert "no vGPU profile" not in reported["sentence"]


def test_one_trouble_of_each_kind_is_reported_and_none_hides_another(whole):
    seed = factory(2, fabric=True)
    (datacenter,) = seed["datacenters"]
    datacenter["datastores"][0]["free_gb"] = 1
    datacenter["clusters"][0]["hosts"][1]["connection"] = "notResponding"
    seed["users"] = {USER: "word-of-automation", BOSS: "VMware1!"}
    granted = ["Host.Config.Settings", "Host.Config.NetService", "Host.Config.Network", "Host.Config.AdvancedConfig"]
    seed["roles"] = {"some": granted}
    seed["permissions"] = [{"user": USER, "role": "some"}]
    lab = whole(seed)
    lab.twin.world.clocks.set_ahead("", 120)
    lab.twin.world.clocks.set_ahead(ESX_01, -600)
    lab.twin.control.refuse_switch(switch="leaf-02")
    before = everything(lab)
    with registry(password=False) as address:
        run, reported = look(
            lab,
            "--extra-vars",
            json.dumps(
                {
                    "site_bmc_password": "not-the-password",
                    "site_registry_passwords": {address: "not-this-one"},
                    "preflight_controller_gb": 10**6,
                }
            ),
            hosts=["esx-99.lab.example"],
            site={
                "hosts": {"reboot": "refuse"},
                "guests": {
                    "user": "ops",
                    "driver": {"package": "https://127.0.0.1:9/nvidia-linux-grid-580_580.65.06_amd64.deb"},
                    "licence": {},
                },
                "runtime": {
                    "engine": "docker",
                    "toolkit_repository": {
                        "url": "https://127.0.0.1:9/stable/deb",
                        "key_url": "https://127.0.0.1:9/key",
                    },
                    "registries": [
                        {"address": address, "username": "trainer", "insecure": True},
                        {"address": "localhost:9", "username": "other"},
                    ],
                },
            },
        )
    assert run.status != 0
    assert everything(lab) == before
    assert nothing_but_reads(lab)
    expected = {
        ("host", "Host.Config.Maintenance"): f"{USER} does not hold Host.Config.Maintenance",
        (f"{lab.twin.host}:{lab.twin.port}", "clock"): "seconds ahead of this machine's clock.",
        (ESX_01, "clock"): "seconds behind this machine's clock.",
        (ESX_01, "BMC"): "Check `site.hosts.bmc.username` and `site_bmc_password`.",
        (ESX_01, "restart"): "Set site.hosts.reboot to allow.",
        (ESX_02, "connection and cluster"): "It is notResponding",
        ("esx-99.lab.example", "host"): "vCenter does not have this host",
        ("leaf-02", "switch"): "Check its address",
        ("job-01", "creation"): "cannot get 16.0 GB of disk space",
        ("site", "site.guests.licence"): "It has no token.",
        ("Registry localhost:9", "password"): "Set the key localhost:9 of site_registry_passwords",
        ("this machine", f"registry {address}"): "It answers with HTTP status 401.",
        ("this machine", "registry localhost:9"): "It is not reachable",
        (
            "this machine",
            "guest driver at https://127.0.0.1:9/nvidia-linux-grid-580_580.65.06_amd64.deb",
        ): "The request came from this machine.",
        ("this machine", "container toolkit at https://127.0.0.1:9/key"): "It is not reachable",
        ("this machine", f"disk of {lab.work / 'run'}"): "Required: 1000000 GB.",
        (ESX_01, "driver of host and guests"): "Use a guest driver of R550",
    }
    blocks = of(reported, "blocks")
    assert set(expected) <= blocks, set(expected) - blocks
    for (where, what), words in expected.items():
        lines = [line for line in reported["sentence"].splitlines() if line.startswith(f"- {where}, {what}: ")]
        assert any(words in line for line in lines), (where, what, lines)
        # The same on the screen, at the end.
        assert words in run.text
    for secret in ("not-the-password", "not-this-one", lab.twin.password):
        assert secret not in run.output + json.dumps(reported)


def test_wrong_password_of_vcenter_is_reported_and_what_is_reached_without_it_is_looked_at(whole):
    lab = whole(factory(2, fabric=True, **DONE))
    run, reported = look(lab, "--extra-vars", '{"site_vcenter_password": "not-the-password", "preflight_fail": false}')
    assert run.status == 0, run.output
    login = found(reported, "vCenter", "login")
    assert login["state"] == "blocks"
    assert "password" in login["todo"] + login["found"]
    assert of(reported, "open") == {(ESX_01, "host"), (ESX_02, "host"), ("VMs", "VMs")}
    assert found(reported, "leaf-01", "login")["state"] == "ok"
    assert "not-the-password" not in run.output + json.dumps(reported)


def token(lab, **options):
    """A site that logs in with a token, and the arguments that take the password away."""
    path = lab.work / "token.xml"
    path.touch(mode=0o600)
    path.write_text(lab.twin.saml_token(**options))
    vcenter = {"username": None, "saml_token_file": str(path)}
    return {"site": {"vcenter": vcenter}}, ("--extra-vars", json.dumps({"site_vcenter_password": ""}))


def test_a_token_takes_the_place_of_the_password(whole):
    lab = whole({**factory(1, **DONE), "release": "9.1.0"})
    site, arguments = token(lab)
    run, reported = look(lab, *arguments, **site)
    assert found(reported, "vCenter", "SAML token")["state"] == "ok", run.output
    assert ("vCenter", "login") not in of(reported, "blocks")
    assert found(reported, ESX_01, "host")["state"] != "open"
    assert lab.twin.requests["Login"] == 0


def test_an_expired_token_is_reported_with_its_file(whole):
    lab = whole({**factory(1, **DONE), "release": "9.1.0"})
    early = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    site, arguments = token(lab, begins=early)
    run, reported = look(lab, *arguments, **site)
    assert run.status != 0
    login = found(reported, "vCenter", "login")
    assert login["state"] == "blocks"
    assert "The token expired at" in login["found"]
    assert str(lab.work / "token.xml") in login["todo"]


def test_contradictions_of_a_site_are_reported_all_together_and_nobody_is_asked(whole):
    lab = whole(factory(1))
    run, reported = look(lab, site={"gpu": {"profiel": "grid_a100-40c"}, "network": {"path": "ipv9"}, "nonsense": 1})
    assert run.status != 0
    assert of(reported, "blocks") == {
        ("site", "site.gpu.profiel"),
        ("site", "site.network.path"),
        ("site", "site.nonsense"),
    }
    assert "- site, site.gpu.profiel: The key is unknown. Did you mean profile?" in reported["sentence"]
    assert "- site, site.gpu.profiel" in run.output
    assert sum(lab.twin.requests.values()) == 0
