"""esxcli through vCenter, asked by SOAP messages that are written by hand: no types of ours on the client's side."""

from __future__ import annotations

import http.client
import ssl
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest

ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>{}</soapenv:Body></soapenv:Envelope>'
)
VIM = "{urn:vim25}"


class Soap:
    """A session with a vCenter."""

    def __init__(self, twin):
        context = ssl.create_default_context(cafile=str(twin.ca_file))
        self._connection = http.client.HTTPSConnection(twin.host, twin.port, context=context, timeout=120)
        self._cookie = ""
        self.call("Login", "SessionManager", "SessionManager", userName=twin.username, password=twin.password)

    def call(self, method, kind, moid, body="", **fields):
        """(status, the returned element or the fault)."""
        inner = body + "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items())
        request = f'<{method} xmlns="urn:vim25"><_this type="{kind}">{moid}</_this>{inner}</{method}>'
        headers = {"Content-Type": "text/xml", "SOAPAction": "urn:vim25/8.0.3.0", "Cookie": self._cookie}
        self._connection.request("POST", "/sdk", ENVELOPE.format(request).encode(), headers)
        response = self._connection.getresponse()
        self._cookie = response.getheader("Set-Cookie", self._cookie).partition(";")[0]
        root = ElementTree.fromstring(response.read())
        found = root.find(f".//{VIM}returnval")
        return response.status, found if found is not None else root

    def executer(self, host):
        status, found = self.call("RetrieveManagedMethodExecuter", "HostSystem", host.moid)
        assert status == 200
        return found.get("type"), found.text

    def esxcli(self, host, command, **arguments):
        """(response, fault) of a command, each as XML or None."""
        namespace = command.rpartition(".")[0]
        written = "".join(
            f"<argument><name>{name}</name><val>{escape(f'<{name}>{escape(value)}</{name}>')}</val></argument>"
            for name, value in arguments.items()
        )
        status, found = self.call(
            "ExecuteSoap",
            *self.executer(host),
            body=f"<moid>ha-cli-handler-{namespace.replace('.', '-')}</moid><version>urn:vim25/5.0</version>"
            f"<method>vim.EsxCLI.{command}</method>{written}",
        )
        assert status == 200, ElementTree.tostring(found)
        response, fault = found.find(f"{VIM}response"), found.find(f"{VIM}fault")
        return (
            ElementTree.fromstring(response.text) if response is not None else None,
            ElementTree.fromstring(fault.find(f"{VIM}faultDetail").text) if fault is not None else None,
        )


@pytest.fixture
def lab(twin):
    running = twin()
    return running, Soap(running), running.world.of_kind("HostSystem")[0]


def test_the_executer_is_what_govmomi_expects(lab):
    _running, soap, host = lab
    kind, moid = soap.executer(host)
    assert kind == "ReflectManagedMethodExecuter"
    assert moid


def test_a_list_comes_as_an_array_of_structures(lab):
    _running, soap, host = lab
    response, _fault = soap.esxcli(host, "software.vib.list")
    names = [row.findtext(f"{VIM}Name") for row in response]
    assert "NVD-AIE_ESXi_8.0.0_Driver" in names
    assert {row.get("{http://www.w3.org/2001/XMLSchema-instance}type") for row in response} == {
        "VimEsxCLIsoftwareviblistVIBSummaryExt"
    }


def test_arguments_arrive_and_change_the_host(lab):
    _running, soap, host = lab
    response, _fault = soap.esxcli(host, "system.settings.kernel.set", setting="atsSupport", value="TRUE")
    assert response.text == "true"
    assert host.kernel.settings["atsSupport"].configured == "TRUE"


def test_special_characters_survive_both_levels_of_xml(lab):
    _running, soap, host = lab
    soap.esxcli(host, "system.settings.advanced.set", option="/Syslog/global/logHost", stringvalue="a<b>&'c\"")
    assert host.options["Syslog.global.logHost"] == "a<b>&'c\""


def test_a_refusal_is_a_fault_inside_the_result(lab):
    _running, soap, host = lab
    response, fault = soap.esxcli(host, "software.vib.remove", vibname="frob")
    assert response is None
    lines = [line.text for line in fault.iter(f"{VIM}errMsg")]
    assert lines[0] == "[NoMatchError]"
    assert fault.findtext(f"{VIM}localizedMessage") == "EsxCLI.CLIFault.summary"


@pytest.mark.parametrize(
    "moid,method,version,wrong",
    [
        ("ha-cli-handler-frob", "vim.EsxCLI.frob.list", "urn:vim25/5.0", "moid"),
        ("ha-cli-handler-software-vib", "vim.EsxCLI.software.vib.frob", "urn:vim25/5.0", "method"),
        ("ha-cli-handler-software-vib", "vim.EsxCLI.software.vib.list", "frob", "version"),
    ],
)
def test_what_does_not_exist_is_an_invalid_argument(lab, moid, method, version, wrong):
    _running, soap, host = lab
    body = f"<moid>{moid}</moid><version>{version}</version><method>{method}</method>"
    status, answer = soap.call("ExecuteSoap", *soap.executer(host), body=body)
    assert status == 500
    assert answer.find(f".//{VIM}invalidProperty").text == wrong


def test_a_host_that_is_away_runs_nothing(lab):
    running, soap, host = lab
    kind, moid = soap.executer(host)
    with running.world.lock:
        host.connection = "notResponding"
    body = "<moid>ha-cli-handler-system-version</moid><version>urn:vim25/5.0</version>"
    status, answer = soap.call("ExecuteSoap", kind, moid, body=f"{body}<method>vim.EsxCLI.system.version.get</method>")
    assert status == 500
    assert "HostCommunication" in ElementTree.tostring(answer).decode()


def test_clients_can_ask_which_options_a_command_takes(lab):
    _running, soap, host = lab
    name = "vim.EsxCLI.network.nic"
    body = (
        "<moid>ha-dynamic-type-manager-local-cli-cliinfo</moid><version>urn:vim25/5.0</version>"
        "<method>vim.CLIInfo.FetchCLIInfo</method><argument><name>typeName</name>"
        f"<val>{escape(f'<typeName>{name}</typeName>')}</val></argument>"
    )
    status, found = soap.call("ExecuteSoap", *soap.executer(host), body=body)
    assert status == 200
    info = ElementTree.fromstring(found.findtext(f"{VIM}response"))
    methods = {one.findtext(f"{VIM}name"): one for one in info.findall(f"{VIM}method")}
    aliases = [one.text for one in methods["get"].iter(f"{VIM}aliases")]
    assert aliases == ["--nic-name", "-n"]


def test_a_planned_failure_meets_esxcli_through_vcenter_too(lab):
    running, soap, host = lab
    running.control.fail_command(prefix="esxcli system settings kernel set", text="Something broke.")
    _response, fault = soap.esxcli(host, "system.settings.kernel.set", setting="atsSupport", value="FALSE")
    assert [line.text for line in fault.iter(f"{VIM}errMsg")] == ["Something broke."]
    assert host.kernel.settings["atsSupport"].configured == "TRUE"


def test_without_a_session_nothing_runs(lab):
    running, soap, host = lab
    kind, moid = soap.executer(host)
    running.control.drop_sessions()
    status, answer = soap.call("ExecuteSoap", kind, moid, body="<moid>a</moid><version>b</version><method>c</method>")
    assert status == 500
    assert "NotAuthenticated" in ElementTree.tostring(answer).decode()
