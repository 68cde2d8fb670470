"""The twin's BMCs are what clients take for BMCs that nobody here wrote: sushy, and modules of two collections."""

from __future__ import annotations

import ssl
import time
import urllib.error
import urllib.request

import pytest
import sushy
from sushy import auth

from .observe import client
from .third_party_run import run

DELL, HPE = "esx-01.lab.example", "esx-02.lab.example"
CHANGES = {
    "dell": {"SriovGlobalEnable": "Enabled"},
    "hpe": {"Sriov": "Enabled"},
    "supermicro": {"SR-IOVSupport#0048": "Enabled"},
    "other": {"PCIS007": "PCIS007On"},
}


def one_host(vendor):
    """A seed with one host of a vendor, as it leaves the factory."""
    host = {"name": "esx-01", "state": "factory", "bios": {"vendor": vendor}}
    return {
        "users": {"someone": "secret"},
        "datacenters": [{"name": "lab", "clusters": [{"name": "gpu", "hosts": [host]}]}],
    }


def sushy_system(running, host, login=auth.BasicAuth):
    known = login(running.bmc_username, running.bmc_password)
    root = sushy.Sushy(running.bmc_endpoints[host], verify=str(running.ca_file), auth=known)
    (system,) = root.get_system_collection().get_members()
    return system


def bmc_of(running, host):
    """The model's own BMC of a host."""
    (found,) = [one for one in running.world.of_kind("HostSystem") if one.name == host]
    return found.bmc


def until(running, happened, patience_s=20):
    end = time.monotonic() + patience_s
    while True:
        with running.world.lock:
            if happened():
                return
        assert time.monotonic() < end, "It did not happen."
        time.sleep(0.02)


# sushy sends no ETag with settings, so services that demand one are not for it.
@pytest.mark.parametrize("vendor", ["dell", "hpe", "supermicro"])
def test_sushy_stages_settings_and_finds_them_after_a_restart(twin, vendor):
    running = twin(one_host(vendor), faces=("redfish",))
    system, change = sushy_system(running, "esx-01"), CHANGES[vendor]
    before = dict(system.bios.attributes)
    assert set(before) == {one.name for one in system.bios.get_attribute_registry().registry_entries.attributes}
    system.bios.set_attributes(change, apply_time=sushy.APPLY_TIME_ON_RESET)
    system.bios.refresh(force=True)
    assert system.bios.attributes == before
    assert system.bios.pending_attributes.items() >= change.items()
    assert sushy.ResetType.FORCE_RESTART in system.get_allowed_reset_system_values()
    system.reset_system(sushy.ResetType.FORCE_RESTART)
    until(running, lambda: bmc_of(running, "esx-01").active.items() >= change.items())
    system.bios.refresh(force=True)
    assert system.bios.attributes == {**before, **change}


def test_sushy_reads_a_refusal_as_it_was_meant(twin):
    running = twin("factory", faces=("redfish",))
    system = sushy_system(running, DELL)
    with pytest.raises(sushy.exceptions.BadRequestError, match="The property NoSuchThing is not in the list"):
        system.bios.set_attributes({"NoSuchThing": "Enabled"})
    running.bmc_password = "wrong"
    with pytest.raises(sushy.exceptions.AccessError):
        sushy_system(running, DELL)


def test_sushy_logs_in_and_out(twin):
    running = twin("factory", faces=("redfish",))
    session = auth.SessionAuth(running.bmc_username, running.bmc_password)
    system = sushy_system(running, HPE, login=lambda *_words: session)
    assert system.power_state == sushy.PowerState.ON
    key = session.get_session_key()
    session.close()
    request = urllib.request.Request(f"{running.bmc_endpoints[HPE]}/redfish/v1/Systems", headers={"X-Auth-Token": key})
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(running.ca_file)))


def test_sushy_switches_a_server_off_and_on(twin):
    running = twin("factory", faces=("redfish",))
    system = sushy_system(running, HPE)
    (host,) = [one for one in running.world.of_kind("HostSystem") if one.name == HPE]
    system.reset_system(sushy.ResetType.GRACEFUL_SHUTDOWN)
    until(running, lambda: host.power == "poweredOff")
    system.refresh(force=True)
    assert system.power_state == sushy.PowerState.OFF
    with client(running) as service:
        seen = service.RetrieveContent().searchIndex.FindByDnsName(dnsName=HPE, vmSearch=False)
        assert seen.runtime.connectionState == "notResponding"
    system.reset_system(sushy.ResetType.ON)
    until(running, lambda: host.reachable)
    assert host.cold_boots == 1


def general_module(running, module, host, command, **more):
    """A call of a module of community.general."""
    options = {
        "baseuri": running.bmc_endpoints[host].removeprefix("https://"),
        "username": running.bmc_username,
        "password": running.bmc_password,
        "validate_certs": True,
        "ca_path": str(running.ca_file),
    }
    return f"community.general.{module}", {**options, "category": "Systems", "command": command, **more}


def chains_for(running):
    """What modules do to a Dell and to an HPE."""

    def general(module, host, command, **more):
        return general_module(running, module, host, command, **more)

    def change(host, **attributes):
        return general("redfish_config", host, "SetBiosAttributes", bios_attributes=attributes)

    return [
        [
            general("redfish_info", DELL, "GetBiosAttributes,GetBiosRegistries"),
            change(DELL, SriovGlobalEnable="Enabled"),
            change(DELL, SriovGlobalEnable="Enabled"),
            general("idrac_redfish_command", DELL, "CreateBiosConfigJob"),
            change(DELL, ProcVirtualization="Enabled"),
        ],
        [
            general("redfish_info", HPE, "all"),
            change(HPE, Sriov="Enabled"),
            change(HPE, Sriov="On"),
            general("redfish_command", HPE, "PowerForceOff"),
            general("redfish_command", HPE, "PowerOn"),
        ],
    ]


def test_modules_of_other_collections_work_and_are_refused_where_they_should(twin):
    running = twin("factory", faces=("redfish",))
    dell, hpe = run(chains_for(running), running.ca_file)
    outcomes = [[(one["failed"], one.get("changed", False)) for one in answers] for answers in (dell, hpe)]
    made, same, refused = (False, True), (False, False), (True, False)
    assert outcomes == [[same, made, made, made, refused], [same, made, refused, made, made]]
    attributes = dell[0]["redfish_facts"]["bios_attribute"]["entries"][0][1]
    assert attributes["SriovGlobalEnable"] == "Disabled"
    assert "Pending configuration values are already committed" in dell[4]["msg"]
    assert hpe[0]["redfish_facts"]["system"]["entries"][0][1]["Manufacturer"] == "HPE"
    assert "The value On for the property Sriov is not in the list" in hpe[2]["msg"]
    assert bmc_of(running, DELL).staged == {"SriovGlobalEnable": "Enabled"}
    assert bmc_of(running, DELL).scheduled_job is not None
    until(running, lambda: bmc_of(running, HPE).active["Sriov"] == "Enabled")


def test_dells_own_module_makes_a_job_for_the_next_restart(twin):
    running = twin("factory", faces=("redfish",))
    address, _colon, port = running.bmc_endpoints[DELL].removeprefix("https://").partition(":")
    options = {
        "idrac_ip": address,
        "idrac_port": int(port),
        "idrac_user": running.bmc_username,
        "idrac_password": running.bmc_password,
        "ca_path": str(running.ca_file),
        "attributes": {"MmioAbove4Gb": "Enabled"},
        "apply_time": "OnReset",
        "job_wait": False,
    }
    ((answer,),) = run([[("dellemc.openmanage.idrac_bios", options)]], running.ca_file)
    assert not answer["failed"], answer["msg"]
    bmc = bmc_of(running, DELL)
    assert (bmc.staged, bmc.scheduled_job.id) == ({"MmioAbove4Gb": "Enabled"}, answer["job_id"])


def test_a_module_that_sends_etags_gets_on_with_a_bmc_that_demands_them(twin):
    running = twin(one_host("other"), faces=("redfish",))
    change = general_module(running, "redfish_config", "esx-01", "SetBiosAttributes", bios_attributes=CHANGES["other"])
    ((answer,),) = run([[change]], running.ca_file)
    assert answer["changed"], answer["msg"]
    assert bmc_of(running, "esx-01").staged == CHANGES["other"]


def test_trouble_is_planned_for_the_bmc_of_one_host(twin):
    running = twin("factory", faces=("redfish",))
    running.control.bmc_unavailable(host=DELL, count=1)
    context = ssl.create_default_context(cafile=str(running.ca_file))

    def status(host):
        try:
            with urllib.request.urlopen(f"{running.bmc_endpoints[host]}/redfish/v1/", context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers["Retry-After"]

    assert [status(HPE), status(DELL), status(DELL)] == [200, (503, "1"), 200]
