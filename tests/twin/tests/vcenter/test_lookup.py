"""The lookup service, in the form of a Go client."""

from __future__ import annotations

import re

import pytest

from vsphere_twin.vcenter.lookup import Lookup

BODY = (
    '<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>'
    '<{0} xmlns="urn:lookup"><_this type="LookupServiceRegistration">ServiceRegistration</_this>{1}</{0}>'
    "</Body></Envelope>"
)


@pytest.fixture
def ask(dispatcher):
    lookup = Lookup(dispatcher)
    return lambda method, inside="": lookup.handle(BODY.format(method, inside).encode(), "vc.example:8989")


def urls(answer):
    status, body = answer
    assert status == 200
    return re.findall("<url>(.*?)</url>", body.decode())


def test_services_are_listed_by_the_name_of_the_request(ask, world):
    every = urls(ask("List"))
    assert len(every) == 5
    assert all(one.startswith("https://vc.example:8989/") for one in every)
    kind = "<serviceType><product>com.vmware.cis</product><type>vcenterserver</type></serviceType>"
    vim = f"<filterCriteria>{kind}</filterCriteria>"
    assert urls(ask("List", vim)) == ["https://vc.example:8989/sdk"]
    assert world.instance_uuid.encode() in ask("List", vim)[1]
    trust = "<filterCriteria><endpointType><protocol>wsTrust</protocol></endpointType></filterCriteria>"
    assert len(urls(ask("List", trust))) == 2
    assert urls(ask("List", "<filterCriteria><siteId>other</siteId></filterCriteria>")) == []
    assert urls(ask("List", f"<filterCriteria><nodeId>{world.instance_uuid}</nodeId></filterCriteria>")) == every


def test_the_content_names_the_registration_and_the_site(ask):
    assert b'<serviceRegistration type="LookupServiceRegistration">' in ask("RetrieveServiceContent")[1]
    assert b"<returnval>default-site</returnval>" in ask("GetSiteId")[1]


def test_other_operations_and_messages_get_a_fault(ask, dispatcher):
    status, body = ask("Delete")
    assert (status, b"not supported" in body) == (500, True)
    assert dispatcher.unserved["lookup"] == 1
    assert ask("List", "<open>")[0] == 500
