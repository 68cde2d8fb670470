"""Device modes, device classes and capacity of vSphere 9.1, as clients in typed languages decode and ask them."""

from __future__ import annotations

import re

import pytest
from pyVmomi import vim

from .any_client import lab

# What a client that was generated from the types of 9.1 sends: each value of a type that others extend has its own.
ASKED = (
    '<DirectPathProfileManagerQueryCapacity xmlns="urn:vim25">'
    '<_this type="DirectPathProfileManager">{manager}</_this>'
    '<target xsi:type="DirectPathProfileManagerTargetCluster">'
    '<cluster type="ClusterComputeResource">{cluster}</cluster></target>'
    "{queries}</DirectPathProfileManagerQueryCapacity>"
)
QUERY = (
    '<querySpec xsi:type="DirectPathProfileManagerCapacityQueryByDeviceConfig">'
    '<deviceConfig xsi:type="DirectPathProfileManager{kind}DirectPathConfig">{config}</deviceConfig></querySpec>'
)
PROFILE = "<vgpuProfile>{}</vgpuProfile>"
WHOLE = (
    "<dynamicDirectPathBacking><deviceName></deviceName><allowedDevice><vendorId>4318</vendorId>"
    "<deviceId>8433</deviceId></allowedDevice></dynamicDirectPathBacking>"
)

# The form of a Go client: each value declares the namespace of its type again, with a prefix of its own.
GO = 'xmlns:_XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" _XMLSchema-instance:type'
GO_ASKED = (
    '<DirectPathProfileManagerQueryCapacity xmlns="urn:vim25">'
    '<_this type="DirectPathProfileManager">{manager}</_this>'
    '<target {go}="DirectPathProfileManagerTargetHost"><host type="HostSystem">{host}</host></target>'
    '<querySpec {go}="DirectPathProfileManagerCapacityQueryByName"><name>none</name></querySpec>'
    '<querySpec {go}="DirectPathProfileManagerCapacityQueryByDeviceConfig">'
    '<deviceConfig _XMLSchema-instance:type="DirectPathProfileManagerVmiopDirectPathConfig">'
    "<vgpuProfile>grid_a100-40c</vgpuProfile></deviceConfig></querySpec>"
    "</DirectPathProfileManagerQueryCapacity>"
)

# Its envelope, which declares no other namespace, and how it reads a property: with a collector of its own.
GO_ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>{}</Body></Envelope>'
)
GO_FILTER = (
    "<spec><propSet><type>HostSystem</type><pathSet>config.pciPassthruInfo</pathSet></propSet>"
    '<objectSet><obj type="HostSystem">{host}</obj></objectSet></spec><partialUpdates>false</partialUpdates>'
)


@pytest.fixture(scope="module")
def client():
    with lab("small-9.1") as started:
        yield started


def capacity(client, kind, config):
    cluster = client.find(vim.ClusterComputeResource, "gpu")._moId
    manager = client.content.directPathProfileManager._moId
    queries = QUERY.format(kind=kind, config=config)
    return client.soap(ASKED.format(manager=manager, cluster=cluster, queries=queries))


def test_a_device_has_its_mode_in_the_order_of_the_types(client):
    answer = client.fetch(client.host(), "config.pciPassthruInfo")
    assert '<HostPciPassthruInfo xsi:type="HostPciPassthruInfo"><id>' in answer
    assert (
        "<directPathState><mode>vGpuSameSize</mode><configurableModes>host</configurableModes>"
        "<configurableModes>directPath</configurableModes>" in answer
    )
    assert "<usedMemory>" in answer.partition("<directPathState><mode>vGpuSameSize</mode>")[2]


def test_a_port_has_its_mode_beside_its_virtual_functions(client):
    answer = client.fetch(client.host(), "config.pciPassthruInfo")
    ports = [text for text in answer.split("<HostPciPassthruInfo ") if text.startswith('xsi:type="HostSriovInfo"')]
    modes = [text.partition("<directPathState><mode>")[2].partition("</mode>")[0] for text in ports]
    # The base type's properties come before those of the subtype.
    assert [text.index("<directPathState>") < text.index("<sriovEnabled>") for text in ports] == [True] * len(ports)
    assert set(modes) == {"directPath", "host"}


def test_a_client_of_an_older_release_gets_no_mode():
    with lab("small-9.0") as started:
        assert "directPathState" not in started.fetch(started.host(), "config.pciPassthruInfo")


def test_capacity_is_asked_by_a_device_and_answered_with_its_type(client):
    answer = capacity(client, "Vmiop", PROFILE.format("grid_a100-40c"))
    assert '<returnval xsi:type="DirectPathProfileManagerCapacityInfo"><profile>' in answer
    assert (
        '<deviceConfig xsi:type="DirectPathProfileManagerVmiopDirectPathConfig"><vgpuProfile>grid_a100-40c'
        "</vgpuProfile></deviceConfig></profile><consumed>" in answer
    )
    assert [answer.count(f"<{name}>") for name in ("consumed", "remaining", "max", "unusedReservation")] == [1] * 4


def test_capacity_of_whole_gpus_names_the_device_that_was_asked(client):
    answer = capacity(client, "Dynamic", WHOLE)
    assert (
        '<deviceConfig xsi:type="DirectPathProfileManagerDynamicDirectPathConfig"><dynamicDirectPathBacking>' in answer
    )
    assert "<allowedDevice><vendorId>4318</vendorId><deviceId>8433</deviceId></allowedDevice>" in answer


def test_a_device_that_cannot_be_counted_comes_with_its_query_and_its_reason(client):
    answer = capacity(client, "Vmiop", PROFILE.format("grid_nothing-1c"))
    assert '<returnval xsi:type="DirectPathProfileManagerCapacityUnknown"><querySpec ' in answer
    assert 'xsi:type="DirectPathProfileManagerCapacityQueryByDeviceConfig"' in answer
    assert "<faultList><fault xsi:type=" in answer


def test_a_go_client_asks_a_host_by_a_name_and_by_a_device(client):
    manager = client.content.directPathProfileManager._moId
    answer = client.soap(GO_ASKED.format(manager=manager, host=client.host()._moId, go=GO))
    unknown, known = answer.split("<returnval ")[1:]
    assert 'xsi:type="DirectPathProfileManagerCapacityQueryByName"><name>none</name></querySpec>' in unknown
    assert '<fault xsi:type="NotFound">' in unknown
    assert "<vgpuProfile>grid_a100-40c</vgpuProfile></deviceConfig></profile><consumed>0</consumed>" in known
    assert "<remaining>1</remaining><max>1</max><unusedReservation>0</unusedReservation>" in known


def go(client, method, collector, inner=""):
    """The answer to a method of a collector, as a Go client asks."""
    this = f'<_this type="PropertyCollector">{collector}</_this>'
    text = GO_ENVELOPE.format(f'<{method} xmlns="urn:vim25">{this}{inner}</{method}>')
    headers = {
        "Content-Type": 'text/xml; charset="utf-8"',
        "Soapaction": "urn:vim25/9.1.0.0",
        "Cookie": client.cookie,
    }
    status, _headers, answer = client.ask("POST", "/sdk", text.encode(), headers)
    assert status == 200
    return answer.decode()


def test_a_go_client_reads_the_modes_of_a_host_with_a_collector_of_its_own(client):
    answer = go(client, "CreatePropertyCollector", client.content.propertyCollector._moId)
    collector = re.search("<returnval [^>]*>([^<]+)</returnval>", answer)[1]
    go(client, "CreateFilter", collector, GO_FILTER.format(host=client.host()._moId))
    update = go(client, "WaitForUpdatesEx", collector)
    go(client, "DestroyPropertyCollector", collector)
    assert "<name>config.pciPassthruInfo</name><op>assign</op>" in update
    assert "<directPathState><mode>vGpuSameSize</mode><configurableModes>host</configurableModes>" in update
