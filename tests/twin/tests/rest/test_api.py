"""The REST API without sockets: sessions, images of clusters, depots, and what becomes of the hosts."""

from __future__ import annotations

import base64

import pytest

from vsphere_twin.model import packages
from vsphere_twin.model.seed_file import SeedError

VERSION, NEWER = (packages.driver("nvaie", version)[1][0].version for version in ("550.54.16", "550.90.05"))


def texts(info):
    return [note["message"]["default_message"] for notes in info["notifications"].values() for note in notes]


def test_a_session_ends_when_it_is_deleted(client):
    assert client.ask("GET", "/api/session")["user"] == "one@vsphere.local"
    client.ask("DELETE", "/api/session")
    assert client.refused("GET", "/api/session") == (401, "UNAUTHENTICATED")
    assert client.refused("GET", "/api/vcenter/cluster") == (401, "UNAUTHENTICATED")


def test_a_token_opens_nothing_on_the_soap_side(client):
    (session,) = client.lab.dispatcher.sessions.living()
    assert client.lab.dispatcher.sessions.get(session.key, face="api") is session
    assert client.lab.dispatcher.sessions.get(session.key) is None


def test_an_answer_can_be_lost_after_the_work_is_done(client):
    template = "POST /api/esx/settings/clusters/{cluster}/software/drafts"
    client.lab.world.faults.close_after(template)
    answer = client.lab.api.handle("POST", f"{client.software}/drafts", client.headers)
    assert answer.lost
    assert len(client.ask("GET", f"{client.software}/drafts")) == 1


def test_dropped_sessions_are_gone_here_too(client):
    client.lab.world.faults.drop_sessions()
    assert client.refused("GET", "/api/vcenter/cluster") == (401, "UNAUTHENTICATED")


def test_a_wrong_password_opens_no_session(client):
    encoded = base64.b64encode(b"one@vsphere.local:wrong").decode()
    status, value = client.answer("POST", "/api/session", headers={"Authorization": f"Basic {encoded}"})
    assert (status, value["error_type"]) == (401, "UNAUTHENTICATED")


def test_what_nobody_serves_is_reported_and_counted(client):
    assert client.refused("GET", "/api/vcenter/nothing") == (404, "OPERATION_NOT_FOUND")


def test_release_9_has_no_baselines(other_lab):
    with pytest.raises(SeedError, match="has no baselines. Set image to managed"):
        other_lab(image="baselines", release="9.1.0")


def test_baselines_have_no_image(other_lab, log_in):
    client = log_in(other_lab(image="baselines"))
    assert client.ask("GET", client.software.replace("/software", "/enablement/software")) == {"enabled": False}
    assert client.refused("GET", client.software) == (400, "INVALID_ARGUMENT")
    assert client.refused("GET", "/api/esx/settings/clusters/domain-c9/software") == (404, "NOT_FOUND")


def test_an_image_that_was_made_from_hosts_has_their_components(other_lab, log_in):
    client = log_in(other_lab(drivers={"family": "nvaie", "version": "550.54.16"}))
    components = client.ask("GET", client.software)["components"]
    assert {name: one["version"] for name, one in components.items()} == {"NVD-AIE-800": VERSION}
    assert client.scan()["status"] == "COMPLIANT"


def test_a_user_has_one_draft(client, log_in):
    first = client.ask("POST", f"{client.software}/drafts")
    assert client.refused("POST", f"{client.software}/drafts") == (400, "ALREADY_EXISTS")
    other = log_in(client.lab, "two@vsphere.local")
    second = other.ask("POST", f"{client.software}/drafts")
    owners = {name: one["owner"] for name, one in client.ask("GET", f"{client.software}/drafts").items()}
    assert owners == {first: "one@vsphere.local", second: "two@vsphere.local"}


def test_a_draft_changes_the_image_only_by_its_commit(client):
    draft = client.ask("POST", f"{client.software}/drafts")
    path = f"{client.software}/drafts/{draft}"
    spec = {"components_to_set": {"NVD-AIE-800": VERSION}, "components_to_delete": None}
    client.ask("PATCH", f"{path}/software/components", spec)
    assert client.ask("GET", f"{path}/software/components")["NVD-AIE-800"]["version"] == VERSION
    assert client.ask("GET", f"{client.software}/components") == {}
    client.ask("DELETE", path)
    assert client.refused("GET", path) == (404, "NOT_FOUND")
    assert client.commit(NVD_AIE_800=VERSION)["status"] == "SUCCEEDED"
    assert client.ask("GET", f"{client.software}/components")["NVD-AIE-800"]["version"] == VERSION
    assert client.ask("GET", f"{client.software}/drafts") == {}


def test_a_component_without_a_version_is_the_newest(client):
    client.commit(NVD_AIE_800="")
    assert client.ask("GET", f"{client.software}/components")["NVD-AIE-800"]["version"] == NEWER


def test_an_add_on_comes_with_the_commit_of_its_draft_like_the_components(client):
    draft = client.ask("POST", f"{client.software}/drafts")
    path = f"{client.software}/drafts/{draft}"
    assert client.refused("PUT", f"{path}/software/add-on", {"name": "X"}) == (400, "INVALID_ARGUMENT")
    client.ask("PUT", f"{path}/software/add-on", {"name": "DEL-ESXi", "version": "803.24585383-A04"})
    before, planned = client.ask("GET", client.software), client.ask("GET", path)["software"]
    assert planned["add_on"]["version"] == "803.24585383-A04" != before["add_on"]["version"]
    assert client.task("POST", f"{path}?action=commit&vmw-task=true", {"message": "x"})["status"] == "SUCCEEDED"
    assert client.ask("GET", client.software) == planned


def test_a_component_that_no_depot_has_cannot_be_committed(client):
    task = client.commit(NVD_AIE_800="1.2.3")
    assert task["status"] == "FAILED"
    assert task["error"]["messages"][0]["default_message"] == "Component NVD-AIE-800(1.2.3) is not found in the depot."


def test_apply_brings_the_hosts_to_the_image_one_after_the_other(client):
    client.commit(NVD_AIE_800=VERSION)
    assert client.scan()["status"] == "NON_COMPLIANT"
    task = client.apply()
    assert (task["status"], task["result"]["status"]) == ("SUCCEEDED", "OK")
    assert task["result"]["successful_hosts"] == [host.moid for host in client.lab.hosts]
    for host in client.lab.hosts:
        assert (host.driver.version, host.boots, host.maintenance, host.reachable) == ("550.54.16", 1, False, True)
    assert client.ask("GET", f"{client.software}/compliance")["status"] == "COMPLIANT"


def test_apply_reports_how_far_it_is(client):
    client.commit(NVD_AIE_800=VERSION)
    name = client.ask("POST", f"{client.software}?action=apply&vmw-task=true", {"accept_eula": True})
    info = client.ask("GET", f"/api/cis/tasks/{name}")
    assert info["status"] == "RUNNING"
    assert info["progress"]["completed"] < 100
    assert "esx-1" in info["progress"]["message"]["default_message"]
    assert client.refused("POST", f"{client.software}?action=scan&vmw-task=true")[1] == "NOT_ALLOWED_IN_CURRENT_STATE"


def test_apply_leaves_other_hosts_and_an_operators_maintenance_alone(client):
    first, second = client.lab.hosts
    first.maintenance = True
    client.commit(NVD_AIE_800=VERSION)
    client.apply(hosts=[first.moid])
    assert (first.driver.version, first.maintenance, second.boots) == ("550.54.16", True, 0)


def test_apply_wants_the_licence_accepted_and_hosts_of_the_cluster(client):
    path = f"{client.software}?action=apply&vmw-task=true"
    assert client.refused("POST", path, {}) == (500, "ERROR")
    assert client.refused("POST", path, {"accept_eula": True, "hosts": ["host-7"]}) == (400, "INVALID_ARGUMENT")


def test_esxcli_on_an_image_managed_host_is_drift(client):
    first, second = client.lab.hosts
    client.lab.by_hand(first, VERSION)
    found = client.scan()
    assert (found["status"], found["non_compliant_hosts"]) == ("NON_COMPLIANT", [first.moid])
    assert "Component NVD-AIE-800 is installed and not part of the image." in texts(found)
    client.apply()
    assert "NVD-AIE-800" not in {one.name for one in first.software.components()}
    assert second.boots == 0


def test_a_newer_component_by_hand_blocks_the_remediation(client):
    first, second = client.lab.hosts
    client.lab.by_hand(first, NEWER)
    client.commit(NVD_AIE_800=VERSION)
    assert client.scan()["incompatible_hosts"] == [first.moid]
    result = client.apply()["result"]
    assert (result["status"], result["failed_hosts"], result["skipped_hosts"]) == ("ERROR", [first.moid], [second.moid])
    said = texts(result)
    assert said[0].startswith(f"Downgrades of manually added Components NVD-AIE-800({NEWER}) in the desired Addon")
    assert said[1] == "Host is not compatible with the image."
    client.commit(NVD_AIE_800=NEWER)
    assert client.apply()["result"]["status"] == "OK"


def test_a_host_that_does_not_come_back_stops_the_remediation(client):
    first, second = client.lab.hosts
    client.lab.world.faults.hang_boot(first.name)
    client.commit(NVD_AIE_800=VERSION)
    result = client.apply()["result"]
    assert (result["failed_hosts"], result["skipped_hosts"]) == ([first.moid], [second.moid])
    assert "did not come back" in texts(result)[0]
