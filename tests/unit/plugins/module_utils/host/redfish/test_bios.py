# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""BMCs that are odd in ways that real ones are; the wire is replaced."""

from __future__ import annotations

from http.client import RemoteDisconnected

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios import Bios
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.bios_state import Job
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.session import ROOT
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.system import System
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish.wire import Answer

from .servers import DELL, FACTORY, HPE
from .test_session import SERVICE, bmc

PATH = "/redfish/v1/Systems/1"
BIOS, SETTINGS = f"{PATH}/Bios", f"{PATH}/Bios/Settings"
REGISTRIES, STORE = "/redfish/v1/Registries", "/redfish/v1/Store/bios.json"
MANAGER, JOBS = "/redfish/v1/Managers/1", "/redfish/v1/Managers/1/Oem/Dell/Jobs"
NAME = "BiosAttributeRegistryT1.v1_0_0"
CHANGE = ["SriovGlobalEnable"]


class Server:
    """The resources of a server, and the BIOS that reads them."""

    def __init__(self, vendor="dell", staged=None, jobs=(), changed=None, registry_optional=False):
        links = {"SettingsObject": {"@odata.id": SETTINGS}}
        expanded = [{"@odata.id": f"{JOBS}/{job['Id']}", **job} for job in jobs]
        self.answers = {
            ("GET", ROOT): Answer(200, {**SERVICE.body, "Registries": {"@odata.id": REGISTRIES}}),
            ("GET", BIOS): Answer(
                200, {"Attributes": FACTORY[vendor], "AttributeRegistry": NAME, "@Redfish.Settings": links}
            ),
            ("GET", SETTINGS): Answer(200, {"Attributes": staged or {}}, {"etag": '"7"'}),
            ("GET", REGISTRIES): Answer(
                200, {"Members": [{"@odata.id": f"{REGISTRIES}/{name}"} for name in ("Base.1.8", "BiosRegistry")]}
            ),
            ("GET", f"{REGISTRIES}/Base.1.8"): Answer(200, {"Registry": "Base.1.8"}),
            ("GET", f"{REGISTRIES}/BiosRegistry"): Answer(200, {"Registry": NAME, "Location": [{"Uri": STORE}]}),
            ("GET", STORE): Answer(200, {"dell": DELL, "hpe": HPE}[vendor]),
            ("GET", MANAGER): Answer(200, {"Links": {"Oem": {"Dell": {"Jobs": {"@odata.id": JOBS}}}}}),
            ("GET", f"{JOBS}?$expand=.($levels=1)"): Answer(200, {"Members": expanded}),
            ("PATCH", SETTINGS): Answer(200),
            ("POST", JOBS): Answer(200),
            **(changed or {}),
        }
        self.session, self.wire = bmc(self.answers)
        body = {"Bios": {"@odata.id": BIOS}, "Links": {"ManagedBy": [{"@odata.id": MANAGER}]}}
        self.bios = Bios(self.session, System(PATH, body, vendor), registry_optional)

    def stage(self, wanted_staged, names=tuple(CHANGE)):
        reading = self.bios.read()
        state = reading.state
        scheduled = None if state.scheduled is None else bool(wanted_staged)
        wanted = type(state)(state.attributes, wanted_staged, scheduled)
        self.bios.stage(reading, wanted, list(names), lambda: None)

    def body(self, method="PATCH"):
        return self.wire.calls(method)[-1][3]


def test_what_is_staged_is_what_differs_whether_settings_list_all_or_some():
    everything = {**FACTORY["dell"], "SriovGlobalEnable": "Enabled", "SetupPassword": "x", "AssetTag": None}
    assert Server(staged=everything).bios.read().state.staged == {"SriovGlobalEnable": "Enabled"}
    assert Server(staged={"MmioAbove4Gb": "Disabled"}).bios.read().state.staged == {}


@pytest.mark.parametrize(
    "location",
    [
        [{"Uri": {"extref": STORE}}],
        [{"Language": "ja", "Uri": "/elsewhere"}, {"Language": "en-US", "Uri": STORE}],
        [{"Language": "en", "Uri": ""}, {"Language": "zh", "Uri": STORE}],
        [{"Language": "en", "Uri": {"httpref": "elsewhere"}}, {"Language": "zh", "Uri": STORE}],
    ],
    ids=["ilo-4", "languages", "no-english", "no-path"],
)
def test_a_registry_is_found_where_its_file_says(location):
    file = Answer(200, {"Registry": NAME, "Location": location})
    server = Server(changed={("GET", f"{REGISTRIES}/BiosRegistry"): file})
    server.bios.read()
    assert "SriovGlobalEnable" in server.bios.registry.attributes
    assert [call for call in server.wire.sent if "Base.1.8" in call[1]] == []


@pytest.mark.parametrize(
    "named, member, file",
    [
        ("BiosAttributeRegistry.v1_0_3", "BiosAttributeRegistry.v1_0_0", {"Registry": "BiosAttributeRegistry1.0"}),
        ("BiosAttributeRegistry.1.0.0", "BiosAttributeRegistry.v1_0_0", {}),
        ("BiosAttributeRegistry0ACAK.0.19.0", "BiosAttributeRegistry0ACAK.0.19.0.json", {}),
        ("BiosAttributeRegistry", "BiosAttributeRegistry.json", HPE),
    ],
    ids=["idrac-9", "dots", "ami", "the-registry-itself"],
)
def test_a_registry_is_found_by_its_name_in_whatever_spelling_of_its_version(named, member, file):
    links = {"SettingsObject": {"@odata.id": SETTINGS}}
    bios = {"Attributes": FACTORY["hpe"], "AttributeRegistry": named, "@Redfish.Settings": links}
    members = [{"@odata.id": f"{REGISTRIES}/{name}"} for name in ("Base.1.8", "HpeBiosMessageRegistry.v1_0_0", member)]
    changed = {
        ("GET", BIOS): Answer(200, bios),
        ("GET", REGISTRIES): Answer(200, {"Members": members}),
        ("GET", f"{REGISTRIES}/HpeBiosMessageRegistry.v1_0_0"): Answer(200, {"Registry": "HpeBiosMessageRegistry"}),
        ("GET", f"{REGISTRIES}/{member}"): Answer(200, {"Location": [{"Uri": STORE}], **file}),
    }
    server = Server("hpe", changed=changed)
    server.bios.read()
    assert "Sriov" in server.bios.registry.attributes
    assert [call for call in server.wire.sent if "Base.1.8" in call[1]] == []


def test_of_two_versions_of_a_registry_none_is_guessed():
    members = [f"{NAME[:-2]}{minor}" for minor in (2, 3)]
    answers = {
        ("GET", f"{REGISTRIES}/{name}"): Answer(200, {"Id": name, "Location": [{"Uri": STORE}]}) for name in members
    }
    listed = Answer(200, {"Members": [{"@odata.id": f"{REGISTRIES}/{name}"} for name in members]})
    with pytest.raises(OperatorError) as reported:
        Server("hpe", changed={("GET", REGISTRIES): listed, **answers}).bios.read()
    assert reported.value.failure["code"] == "registry_missing"


def test_a_bmc_without_a_settings_object_has_nothing_staged_and_takes_any_etag():
    server = Server("hpe", changed={("GET", SETTINGS): Answer(404)})
    assert server.bios.read().state.staged == {}
    server.stage({"Sriov": "Enabled"}, ["Sriov"])
    assert server.wire.calls("PATCH")[0][2]["If-Match"] == "*"


def test_a_settings_object_that_may_not_be_read_is_no_empty_one():
    with pytest.raises(OperatorError) as reported:
        Server("hpe", changed={("GET", SETTINGS): Answer(403)}).bios.read()
    assert reported.value.failure["code"] == "bmc_privilege_missing"


@pytest.mark.parametrize(
    "changed",
    [
        {("GET", STORE): Answer(404)},
        {("GET", f"{REGISTRIES}/BiosRegistry"): Answer(200, {"Registry": "BiosAttributeRegistryU99.v1"})},
        {("GET", ROOT): SERVICE},
        {("GET", REGISTRIES): Answer(404)},
        {
            ("GET", BIOS): Answer(
                200, {"Attributes": FACTORY["hpe"], "@Redfish.Settings": {"SettingsObject": {"@odata.id": SETTINGS}}}
            )
        },
    ],
    ids=["no-document", "another", "no-registries", "empty-path", "none-named"],
)
def test_a_registry_that_is_missing_is_an_error_unless_it_is_optional(changed):
    with pytest.raises(OperatorError) as reported:
        Server("hpe", changed=changed).bios.read()
    assert reported.value.failure["code"] == "registry_missing"
    server = Server("hpe", changed=changed, registry_optional=True)
    assert server.bios.read().state.attributes == FACTORY["hpe"]
    assert set(server.bios.registry.attributes) == set(FACTORY["hpe"])


@pytest.mark.parametrize(
    "bios",
    [{}, {"Attributes": {}}, {"Attributes": FACTORY["dell"], "AttributeRegistry": NAME}],
    ids=["no-attributes", "not-yet", "read-only"],
)
def test_a_bios_that_cannot_be_set_is_reported(bios):
    with pytest.raises(OperatorError) as reported:
        Server(changed={("GET", BIOS): Answer(200, bios)}).bios.read()
    assert reported.value.failure["code"] == "settings_not_offered"


def test_jobs_that_are_done_or_about_something_else_are_not_in_the_way():
    jobs = [
        {"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Completed"},
        {"Id": "JID_2", "JobType": "FirmwareUpdate", "JobState": "Scheduled"},
        {"Id": "JID_3", "JobType": "BIOSConfiguration", "JobState": "Running"},
    ]
    assert Server(jobs=jobs).bios.read().state.jobs == (Job(f"{JOBS}/JID_3", "JID_3", True),)


def test_an_idrac_without_a_job_queue_is_taken_like_other_makes():
    server = Server(changed={("GET", MANAGER): Answer(200, {})})
    assert server.bios.read().state.scheduled is None


def test_settings_go_out_with_the_etag_that_was_read_and_an_apply_time_where_it_is_known():
    server = Server()
    server.stage({"SriovGlobalEnable": "Enabled"})
    assert server.wire.calls("PATCH")[0][2]["If-Match"] == '"7"'
    assert server.body() == {
        "Attributes": {"SriovGlobalEnable": "Enabled"},
        "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"},
    }


def test_an_apply_time_that_is_not_offered_is_not_sent():
    server = Server("hpe")
    server.stage({"Sriov": "Enabled"}, ["Sriov"])
    assert server.body() == {"Attributes": {"Sriov": "Enabled"}}


def test_an_idrac_that_made_no_job_for_settings_is_asked_for_one():
    # https://github.com/dsx-ai-factory/libredfish/pull/97
    server = Server()
    server.stage({"SriovGlobalEnable": "Enabled"})
    assert server.body("POST") == {"TargetSettingsURI": SETTINGS}


def test_settings_whose_answer_is_lost_are_left_to_the_proof():
    server = Server("hpe", changed={("PATCH", SETTINGS): RemoteDisconnected("gone")})
    server.stage({"Sriov": "Enabled"}, ["Sriov"])
    assert len(server.wire.calls("PATCH")) == 1


def test_what_a_deleted_job_left_staged_is_cleared_where_the_bmc_can():
    job = {"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Scheduled"}
    clear = {"Oem": {"#DellManager.ClearPending": {"target": "/clear"}}}
    left = Answer(200, {"Attributes": {"MmioAbove4Gb": "Enabled"}, "Actions": clear})
    changed = {
        ("GET", SETTINGS): left,
        ("DELETE", f"{JOBS}/JID_1"): Answer(200),
        ("POST", "/clear"): Answer(200),
    }
    server = Server(jobs=[job], changed=changed)
    server.stage({"SriovGlobalEnable": "Enabled"})
    order = [call[:2] for call in server.wire.sent if call[0] in ("DELETE", "PATCH") or call[1] == "/clear"]
    assert order == [("DELETE", f"{JOBS}/JID_1"), ("POST", "/clear"), ("PATCH", SETTINGS)]


def test_a_server_whose_bmc_offers_no_bios_is_an_error():
    server = Server()
    bios = Bios(server.session, System(PATH, {}, "dell"), False)
    with pytest.raises(OperatorError) as reported:
        bios.read()
    assert reported.value.failure == documented("settings_not_offered", subject=server.session.name)


def test_all_that_is_read_of_a_bios():
    server = Server("hpe", changed={("GET", SETTINGS): Answer(200, {}, {"etag": '"9"'})})
    reading = server.bios.read()
    assert (reading.settings_path, reading.etag, reading.apply_times, reading.jobs_path) == (SETTINGS, '"9"', (), None)
    assert (reading.state.staged, reading.state.scheduled, reading.state.jobs) == ({}, None, ())
    assert reading.state.functions["sriov"] == "disabled"
    assert Server().bios.read().state.functions["virtualization"] == "enabled"


@pytest.mark.parametrize("state, running", [("Scheduled", False), ("RUNNING", True)])
def test_a_job_without_a_name_has_that_of_its_path(state, running):
    job = {"@odata.id": f"{JOBS}/JID_9", "JobType": "BIOSConfiguration", "JobState": state}
    listed = Answer(200, {"Members": [job]})
    server = Server(changed={("GET", f"{JOBS}?$expand=.($levels=1)"): listed})
    assert server.bios.read().state.jobs == (Job(f"{JOBS}/JID_9", "JID_9", running),)


@pytest.mark.parametrize("clear", [{}, {"Oem": {"#DellManager.ClearPending": {"target": "/clear"}}}])
def test_settings_go_out_with_the_etag_that_was_read_after_a_job_was_deleted(clear):
    job = {"Id": "JID_1", "JobType": "BIOSConfiguration", "JobState": "Scheduled"}
    # This BMC lists all settings, and none of them differs from the active one.
    answers = [
        Answer(200, {"Attributes": FACTORY["dell"], "Actions": clear}, {"etag": etag}) for etag in ('"7"', '"8"')
    ]
    server = Server(jobs=[job], changed={("GET", SETTINGS): answers, ("DELETE", f"{JOBS}/JID_1"): Answer(200)})
    server.stage({"SriovGlobalEnable": "Enabled", "MmioAbove4Gb": "Enabled"})
    assert server.wire.calls("PATCH")[0][2]["If-Match"] == '"8"'
    # What the job held is staged again.
    assert server.body()["Attributes"] == {"SriovGlobalEnable": "Enabled", "MmioAbove4Gb": "Enabled"}
    assert [call for call in server.wire.sent if call[1] == "/clear"] == []


def test_a_change_is_noted_before_the_first_request_that_makes_one():
    server = Server("hpe")
    reading = server.bios.read()
    wanted = type(reading.state)(reading.state.attributes, {"Sriov": "Enabled"}, None)
    seen = []
    server.bios.stage(reading, wanted, ["Sriov"], lambda: seen.append(len(server.wire.calls("PATCH"))))
    assert (seen, len(server.wire.calls("PATCH"))) == ([0], 1)
