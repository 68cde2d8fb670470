"""A BMC's Redfish service, without sockets: who may ask, what is answered, and how errors are written."""

from __future__ import annotations

import base64
import json

import pytest

from vsphere_twin.model import bmc as bmcs
from vsphere_twin.model import seed
from vsphere_twin.redfish.service import Service

VENDORS = {"dell": "System.Embedded.1", "hpe": "1", "supermicro": "1", "other": "Self"}
GOOD = "Basic " + base64.b64encode(f"{bmcs.USERNAME}:{bmcs.PASSWORD}".encode()).decode()
CHANGE = {
    "dell": {"SriovGlobalEnable": "Enabled"},
    "hpe": {"Sriov": "Enabled"},
    "supermicro": {"SR-IOVSupport#0048": "Enabled"},
    "other": {"PCIS007": "PCIS007On"},
}


class Client:
    """Says its password with every request, and follows links."""

    def __init__(self, vendor):
        host = {"name": "esx-1", "state": "factory", "bios": {"vendor": vendor}}
        clusters = [{"name": "gpu", "hosts": [host]}]
        self.world = seed.from_data({"users": {"u": "p"}, "datacenters": [{"name": "lab", "clusters": clusters}]})
        (self.host,) = self.world.of_kind("HostSystem")
        self.vendor = vendor
        self.service = Service(self.world, self.host.bmc)

    def ask(self, method, path, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        known = {"Authorization": GOOD, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.service.handle(method, path, known, data)

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.body

    @property
    def system(self):
        return self.get(self.get(self.get("/redfish/v1/")["Systems"]["@odata.id"])["Members"][0]["@odata.id"])

    @property
    def bios(self):
        return self.get(self.system["Bios"]["@odata.id"])

    @property
    def settings_path(self):
        return self.bios["@Redfish.Settings"]["SettingsObject"]["@odata.id"]

    def patch(self, attributes, **body):
        tag = self.ask("GET", self.settings_path).headers["ETag"]
        return self.ask("PATCH", self.settings_path, {"Attributes": attributes, **body}, If_Match=tag)


@pytest.fixture(params=VENDORS)
def client(request):
    return Client(request.param)


@pytest.fixture
def dell():
    return Client("dell")


def said(answer):
    return [entry["MessageId"].rpartition(".")[2] for entry in answer.body["error"]["@Message.ExtendedInfo"]]


def test_the_root_is_open_and_nothing_else_is(client):
    assert client.ask("GET", "/redfish/v1", Authorization="").status == 200
    system = client.system["@odata.id"]
    answer = client.ask("GET", system, Authorization="")
    assert (answer.status, said(answer)) == (401, ["NoValidSession"])


@pytest.mark.parametrize("header", ["Basic !!!", "Bearer x", "Basic " + base64.b64encode(b"root:wrong").decode()])
def test_a_wrong_password_is_refused(client, header):
    assert client.ask("GET", client.system["@odata.id"], Authorization=header).status == 401


def test_a_session_lives_until_it_is_deleted(client):
    login = {"UserName": bmcs.USERNAME, "Password": bmcs.PASSWORD}
    answer = client.ask("POST", "/redfish/v1/SessionService/Sessions", login, Authorization="")
    token = {"Authorization": "", "X_Auth_Token": answer.headers["X-Auth-Token"]}
    path = client.system["@odata.id"]
    assert client.ask("GET", path, **token).status == 200
    assert client.ask("DELETE", answer.headers["Location"], **token).status == 204
    assert client.ask("GET", path, **token).status == 401


def test_every_link_leads_somewhere(client):
    seen, ahead = set(), ["/redfish/v1/"]
    while ahead:
        path = ahead.pop()
        if path not in seen:
            seen.add(path)
            ahead += _links(client.get(path))
    assert any("Registr" in path for path in seen)
    assert client.settings_path in seen


def _links(value):
    if isinstance(value, dict):
        own = [one for key, one in value.items() if key in ("@odata.id", "Uri") and isinstance(one, str)]
        return own + [link for one in value.values() for link in _links(one)]
    if isinstance(value, list):
        return [link for one in value for link in _links(one)]
    return []


def test_the_registry_describes_every_attribute(client):
    name = client.bios["AttributeRegistry"]
    members = client.get(client.get("/redfish/v1/")["Registries"]["@odata.id"])["Members"]
    files = [client.get(one["@odata.id"]) for one in members]
    (uri,) = [location["Uri"] for one in files if one["Registry"] == name for location in one["Location"]]
    entries = {one["AttributeName"]: one for one in client.get(uri)["RegistryEntries"]["Attributes"]}
    assert set(entries) == set(client.bios["Attributes"])
    for attribute, value in client.bios["Attributes"].items():
        if entries[attribute]["Type"] == "Enumeration":
            assert value in [one["ValueName"] for one in entries[attribute]["Value"]]


def test_the_registry_reports_what_a_dell_profile_locks_and_sets(dell):
    registry = dell.get("/redfish/v1/Systems/System.Embedded.1/Bios/BiosRegistry")["RegistryEntries"]
    (c_states,) = [one for one in registry["Attributes"] if one["AttributeName"] == "ProcCStates"]
    assert c_states["ReadOnly"] is True
    reported = [one["Dependency"] for one in registry["Dependencies"] if one["DependencyFor"] == "ProcCStates"]
    assert ("ReadOnly", "NEQ", "Custom", True) in [_rule(one) for one in reported]
    assert ("CurrentValue", "EQU", "PerfOptimized", "Disabled") in [_rule(one) for one in reported]


def _rule(one):
    (source,) = one["MapFrom"]
    return one["MapToProperty"], source["MapFromCondition"], source["MapFromValue"], one["MapToValue"]


def test_a_setting_is_staged_and_the_active_resource_stays(client):
    before = client.bios["Attributes"]
    assert client.patch(CHANGE[client.vendor]).status == (204 if client.vendor == "other" else 200)
    assert client.bios["Attributes"] == before
    shown = client.get(client.settings_path)["Attributes"]
    assert shown.items() >= CHANGE[client.vendor].items()
    assert client.host.bmc.staged == CHANGE[client.vendor]


def test_a_wrong_setting_names_the_attribute(client):
    answer = client.patch({"NoSuchThing": "Enabled"})
    assert (answer.status, said(answer)) == (400, ["PropertyUnknown"])
    (entry,) = answer.body["error"]["@Message.ExtendedInfo"]
    assert entry["RelatedProperties"] == ["#/Attributes/NoSuchThing"]
    assert entry["MessageArgs"] == ["NoSuchThing"]


def test_a_change_in_between_is_noticed_by_the_etag(client):
    tag = client.ask("GET", client.settings_path).headers["ETag"]
    client.patch(CHANGE[client.vendor])
    answer = client.ask("PATCH", client.settings_path, {"Attributes": {}}, If_Match=tag)
    assert (answer.status, said(answer)) == (412, ["PreconditionFailed"])


def test_only_some_demand_an_etag(client):
    answer = client.ask("PATCH", client.settings_path, {"Attributes": CHANGE[client.vendor]})
    assert (answer.status == 428) is (client.vendor == "other")


def test_only_supermicro_takes_settings_at_the_active_resource(client):
    answer = client.ask("PATCH", client.system["Bios"]["@odata.id"], {"Attributes": CHANGE[client.vendor]})
    assert answer.status == (200 if client.vendor == "supermicro" else 405)


def test_a_dell_makes_a_job_when_it_is_reported_when_to_apply(dell):
    answer = dell.patch(CHANGE["dell"], **{"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}})
    assert answer.status == 202
    assert dell.get(answer.headers["Location"])["TaskState"] == "Pending"
    manager = dell.get(dell.system["Links"]["ManagedBy"][0]["@odata.id"])
    (job,) = dell.get(manager["Links"]["Oem"]["Dell"]["Jobs"]["@odata.id"])["Members"]
    assert dell.get(job["@odata.id"])["JobState"] == "Scheduled"
    again = dell.patch({"MmioAbove4Gb": "Enabled"})
    assert (again.status, said(again)) == (400, ["SYS011"])
    assert dell.ask("DELETE", job["@odata.id"]).status == 200
    assert dell.host.bmc.staged == {}


def test_a_dell_makes_a_job_for_what_is_staged(dell):
    jobs = "/redfish/v1/Managers/iDRAC.Embedded.1/Jobs"
    assert said(dell.ask("POST", jobs, {"TargetSettingsURI": dell.settings_path})) == ["RAC017"]
    dell.patch(CHANGE["dell"])
    answer = dell.ask("POST", jobs, {"TargetSettingsURI": dell.settings_path})
    assert dell.get(answer.headers["Location"])["JobType"] == "BIOSConfiguration"


def test_a_dell_forgets_what_is_staged_when_asked(dell):
    dell.patch(CHANGE["dell"])
    target = dell.get(dell.settings_path)["Actions"]["Oem"]["#DellManager.ClearPending"]["target"]
    assert dell.ask("POST", target, {}).status == 200
    assert dell.host.bmc.staged == {}


def test_a_restart_by_the_bmc_brings_the_settings(client):
    times = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}} if client.vendor == "dell" else {}
    client.patch(CHANGE[client.vendor], **times)
    reset = client.system["Actions"]["#ComputerSystem.Reset"]
    answer = client.ask("POST", reset["target"], {"ResetType": "ForceRestart"})
    assert answer.status == (200 if client.vendor == "hpe" else 204)
    client.world.timeline.settle()
    assert client.bios["Attributes"].items() >= CHANGE[client.vendor].items()
    assert client.system["PowerState"] == "On"


@pytest.mark.parametrize(
    "body,message", [({}, "PropertyMissing"), ({"ResetType": "Explode"}, "ActionParameterNotSupported")]
)
def test_a_wrong_reset_is_refused(client, body, message):
    target = client.system["Actions"]["#ComputerSystem.Reset"]["target"]
    answer = client.ask("POST", target, body)
    assert (answer.status, said(answer)) == (400, [message])
    assert client.host.power == "poweredOn"


def test_only_what_is_listed_as_a_reset_is_taken(client):
    listed = client.system["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"]
    assert ("PowerCycle" in listed) is (client.vendor in ("dell", "supermicro"))


@pytest.mark.parametrize("path", ["/redfish/v1/Nothing", "/redfish/v1/Systems/7", "/index.html"])
def test_an_unknown_address_is_not_found(client, path):
    answer = client.ask("GET", path)
    assert (answer.status, said(answer)) == (404, ["ResourceMissingAtURI"])


def test_broken_json_is_reported(client):
    answer = client.service.handle("PATCH", client.settings_path, {"Authorization": GOOD}, b"{nonsense")
    assert (answer.status, said(answer)) == (400, ["MalformedJSON"])


def test_ilo_reads_addresses_without_regard_to_case():
    client = Client("hpe")
    assert client.get("/redfish/v1/systems/1/bios/settings/")["@odata.id"] == client.settings_path


def test_a_busy_bmc_says_when_to_come_back(client):
    client.world.bmc_faults.bmc_unavailable("esx-1", count=2)
    answers = [client.ask("GET", "/redfish/v1/") for _number in range(3)]
    assert [one.status for one in answers] == [503, 503, 200]
    assert answers[0].headers["Retry-After"] == "1"


def test_a_planned_rejection_hits_one_attribute(client):
    (name,) = CHANGE[client.vendor]
    client.world.bmc_faults.bmc_reject("esx-1", name)
    assert said(client.patch(CHANGE[client.vendor])) == ["PropertyNotWritable"]
    assert client.patch(CHANGE[client.vendor]).status < 300
