"""Reading requests and choosing versions."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.vcenter import codec, types

ENVELOPE = (
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
    "<soapenv:Header><operationID>one</operationID></soapenv:Header><soapenv:Body>{}</soapenv:Body></soapenv:Envelope>"
)
THIS = '<_this type="VirtualMachine">vm-1</_this>'


def read(body):
    return codec.read_request(ENVELOPE.format(body).encode())


def test_request_gives_method_object_and_arguments():
    request = read(
        f'<ReconfigVM_Task xmlns="urn:vim25">{THIS}<spec><extraConfig><key>a</key>'
        '<value xsi:type="xsd:string">b</value></extraConfig></spec></ReconfigVM_Task>'
    )
    assert (request.method, request.this._moId) == ("ReconfigVM_Task", "vm-1")
    assert [(one.key, one.value) for one in request.arguments["spec"].extraConfig] == [("a", "b")]


def test_reference_in_the_style_of_other_clients_is_understood():
    """govc and its kin write xsi:type on references and prefixes on elements."""
    request = read(
        '<v:PowerOnVM_Task xmlns:v="urn:vim25"><v:_this xsi:type="v:ManagedObjectReference" type="VirtualMachine">'
        'vm-1</v:_this><v:host xsi:type="v:ManagedObjectReference" type="HostSystem">host-1</v:host></v:PowerOnVM_Task>'
    )
    assert request.arguments["host"] == vim.HostSystem("host-1")


def test_parameters_left_out_are_left_to_the_method():
    assert read(f'<PowerOnVM_Task xmlns="urn:vim25">{THIS}</PowerOnVM_Task>').arguments == {}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="no-method"),
        pytest.param(f'<NoSuchMethod xmlns="urn:vim25">{THIS}</NoSuchMethod>', id="unknown-method"),
        pytest.param('<PowerOnVM_Task xmlns="urn:vim25"/>', id="no-object"),
        pytest.param(f'<PowerOnVM_Task xmlns="urn:vim25">{THIS}', id="not-well-formed"),
        pytest.param(f'<Rename_Task xmlns="urn:vim25">{THIS}</Rename_Task>', id="required-parameter-missing"),
        pytest.param(
            f'<ReconfigVM_Task xmlns="urn:vim25">{THIS}<spec><nonsense>1</nonsense></spec></ReconfigVM_Task>',
            id="unknown-property",
        ),
        pytest.param(
            f'<ReconfigVM_Task xmlns="urn:vim25">{THIS}<spec><numCPUs>many</numCPUs></spec></ReconfigVM_Task>',
            id="not-a-number",
        ),
    ],
)
def test_what_makes_no_sense_is_an_invalid_request(body):
    with pytest.raises(vmodl.fault.InvalidRequest):
        read(body)


@pytest.mark.parametrize(
    "element, named",
    [
        ("<priority>wild</priority>", "value wild at line"),
        ("<wild>1</wild>", "value wild at line"),
        ('<host type="Wild">x</host>', "value Wild at line"),
    ],
)
def test_a_wrong_value_is_named_without_words_of_python(element, named):
    with pytest.raises(vmodl.fault.InvalidRequest) as caught:
        read(f'<MigrateVM_Task xmlns="urn:vim25">{THIS}{element}</MigrateVM_Task>')
    assert named in caught.value.msg
    assert "attribute" not in caught.value.msg


@pytest.mark.parametrize(
    "soap_action, expected",
    [
        pytest.param('"urn:vim25/7.0.3.0"', "7.0.3.0", id="older"),
        pytest.param("urn:vim25/8.0.2.0", "8.0.2.0", id="same-without-quotes"),
        pytest.param("urn:vim25/9.0.0.0", "8.0.2.0", id="newer-is-clamped"),
        pytest.param("urn:vim25/99.1", "8.0.2.0", id="unknown-is-clamped"),
        pytest.param(None, "8.0.2.0", id="none"),
    ],
)
def test_client_version_never_exceeds_the_server(soap_action, expected):
    assert codec.client_version(soap_action, types.version_of("8.0.2.0")) == types.version_of(expected)


@pytest.mark.parametrize(
    "header, key",
    [
        ('vmware_soap_session="abc"; Path=/; HttpOnly; Secure;', "abc"),
        ("vmware_soap_session=abc", "abc"),
        ('other=1; vmware_soap_session="abc"', "abc"),
        ("other=1", None),
        (None, None),
    ],
)
def test_session_cookie_is_found_however_it_is_quoted(header, key):
    assert codec.session_cookie(header) == key
