# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import esxcli, esxcli_ssh, reflect
from pyVmomi import VmomiSupport, vim, vmodl

from unit.plugins.module_utils.vcenter.fakes import opened

HOST = SimpleNamespace(name="esx-01.example.com")
NAMESPACES = (
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns="urn:vim25" versionId="5.0"'
)


def obj(kind, content=""):
    return f'<obj {NAMESPACES} xsi:type="{kind}">{content}</obj>'


VMS = obj(
    "ArrayOfDataObject",
    """
 <DataObject xsi:type="VimEsxCLInetworkvmlistVM">
  <Name>42</Name><Networks>VM Network</Networks><Networks>train</Networks><NumPorts>2</NumPorts><WorldID>98842</WorldID>
 </DataObject>
 <DataObject xsi:type="VimEsxCLInetworkvmlistVM">
  <Name>bar</Name><Networks>VM Network</Networks><NumPorts>1</NumPorts><WorldID>-1</WorldID>
 </DataObject>""",
)
FAULT = (
    f'<obj {NAMESPACES} xsi:type="LocalizedMethodFault"><fault xsi:type="VimEsxCLICLIFault">'
    "<errMsg>[MaintenanceModeError]</errMsg><errMsg> MaintenanceMode is required to remove: [].</errMsg></fault>"
    "<localizedMessage>EsxCLI.CLIFault.summary</localizedMessage></obj>"
)


@pytest.mark.parametrize(
    "response, value",
    [
        (
            VMS,
            [
                {"Name": "42", "Networks": ["VM Network", "train"], "NumPorts": 2, "WorldID": 98842},
                {"Name": "bar", "Networks": "VM Network", "NumPorts": 1, "WorldID": -1},
            ],
        ),
        (
            obj(
                "VimEsxCLIsystemhostnamegetFullyQualifiedHostName", "<DomainName></DomainName><HostName>esx</HostName>"
            ),
            {"DomainName": "", "HostName": "esx"},
        ),
        (obj("ArrayOfDataObject"), []),
        (obj("ArrayOfDataObject", '<DataObject xsi:type="VimEsxCLIx"/>'), [{}]),
        (obj("ArrayOfString", "<string>1</string><string>two</string>"), ["1", "two"]),
        (obj("xsd:string", "8"), "8"),
        (obj("xsd:string"), ""),
        (obj("xsd:boolean", "true"), True),
        (obj("xsd:boolean", "false"), False),
        (obj("xsd:long", "12"), 12),
        ("", None),
        (None, None),
    ],
    ids=[
        "rows",
        "struct",
        "none",
        "empty-row",
        "strings",
        "string",
        "empty-string",
        "true",
        "false",
        "long",
        "empty",
        "nothing",
    ],
)
def test_an_answer_becomes_rows_or_a_value(response, value):
    assert esxcli.decode(response) == value


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("IsLoaded", "true", True),
        ("LiveInstallAllowed", "False", False),
        ("MTU", "9000", 9000),
        ("Offset", "-3", -3),
        ("Configured", "TRUE", "TRUE"),
        ("Value", "1", "1"),
        ("Version", "470", "470"),
        ("Mask", "0x08", "0x08"),
        ("Speed", "007", "007"),
        ("Count", "", ""),
    ],
)
def test_numbers_and_truths_are_typed_and_what_only_looks_so_is_left(name, text, value):
    found = esxcli.typed(name, text)
    assert (found, type(found)) == (value, type(value))


@pytest.fixture
def executer():
    """esxcli on a vCenter whose wire answers as planned: executer.answers, executer.asked."""
    reflect.register()
    vcenter, wire = opened()
    kind = VmomiSupport.GetWsdlType("urn:vim25", "ManagedMethodExecuter")
    state = SimpleNamespace(asked=[], answers=[], vcenter=vcenter)

    def execute(mo, moid, version, method, argument):
        state.asked.append((moid, method, [(one.name, one.val) for one in argument]))
        answer = state.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    wire.handlers["RetrieveManagedMethodExecuter"] = lambda mo: kind("ManagedMethodExecuter-1", vcenter.stub)
    wire.handlers["ExecuteSoap"] = execute
    host = SimpleNamespace(name=HOST.name, ref=vim.HostSystem("host-1", vcenter.stub))
    state.esxcli = esxcli.Esxcli(vcenter, host)
    state.wire = wire
    return state


def result(response=None, fault=None):
    kind = VmomiSupport.GetVmodlType("vmodl.reflect.ManagedMethodExecuter.SoapResult")
    return kind(response=response, fault=fault)


def test_a_command_is_asked_of_the_handler_of_its_namespace_with_escaped_arguments(executer):
    executer.answers = [result(obj("VimEsxCLIx", "<Message>done</Message>"))]
    answer = executer.esxcli.call(
        "software.vib.install", depot="/vmfs/volumes/a&b/x.zip", vibname=["a", "b"], dry_run=True, proxy=None
    )
    assert answer == {"Message": "done"}
    assert executer.asked == [
        (
            "ha-cli-handler-software-vib",
            "vim.EsxCLI.software.vib.install",
            [
                ("depot", "<depot>/vmfs/volumes/a&amp;b/x.zip</depot>"),
                ("vibname", "<vibname>a</vibname><vibname>b</vibname>"),
                ("dryrun", "<dryrun>true</dryrun>"),
            ],
        )
    ]


def test_the_executer_is_asked_for_once(executer):
    executer.answers = [result(VMS), result(VMS)]
    executer.esxcli.call("network.vm.list")
    executer.esxcli.call("network.vm.list")
    assert executer.wire.requests["RetrieveManagedMethodExecuter"] == 1


def test_the_words_of_a_refusal_are_kept(executer):
    fault = VmomiSupport.GetVmodlType("vmodl.reflect.ManagedMethodExecuter.SoapFault")
    executer.answers = [result(fault=fault(faultMsg="EsxCLI.CLIFault.summary", faultDetail=FAULT))]
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("software.vib.install", depot="/x.zip")
    error = caught.value
    assert (error.code, error.data["command"]) == ("esxcli_failed", "software.vib.install")
    assert error.data["errors"] == ["[MaintenanceModeError]", "MaintenanceMode is required to remove: []."]
    assert "esx-01.example.com" in error.message


@pytest.mark.parametrize("detail", ["", None, "not xml <", "<other/>"])
def test_a_refusal_without_readable_detail_reports_its_message(executer, detail):
    fault = VmomiSupport.GetVmodlType("vmodl.reflect.ManagedMethodExecuter.SoapFault")
    executer.answers = [result(fault=fault(faultMsg="A general error occurred.", faultDetail=detail))]
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("system.module.list")
    assert "A general error occurred." in caught.value.data["errors"]


def test_a_refusal_as_a_soap_fault_is_the_same(executer):
    executer.answers = [vim.EsxCLI.CLIFault(errMsg=["Unable to find option"])]
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("system.settings.advanced.list", option="/x")
    assert (caught.value.code, caught.value.data["errors"]) == ("esxcli_failed", ["Unable to find option"])


@pytest.mark.parametrize(
    "fault, code",
    [
        (vmodl.fault.InvalidArgument(invalidProperty="method"), "esxcli_unknown"),
        (vim.fault.NotFound(), "esxcli_unknown"),
        (
            vim.fault.HostNotConnected() if hasattr(vim.fault, "HostNotConnected") else vmodl.fault.HostNotConnected(),
            "host_not_connected",
        ),
        (vim.fault.NoPermission(privilegeId="Host.Config.Settings"), "no_permission"),
    ],
    ids=["argument", "command", "host away", "permission"],
)
def test_what_vcenter_says_instead_of_the_host_has_a_code_of_its_own(executer, fault, code):
    executer.answers = [fault]
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("software.vib.list")
    assert caught.value.code == code


def test_a_look_whose_answer_was_lost_is_repeated_and_a_change_never(executer):
    executer.answers = [result(VMS)]
    executer.wire.trouble["ExecuteSoap"] = [(ConnectionResetError("reset"), True)] * 2
    assert len(executer.esxcli.call("network.vm.list")) == 2
    executer.wire.trouble["ExecuteSoap"] = [(ConnectionResetError("reset"), True)]
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("software.vib.install", depot="/x.zip")
    assert caught.value.code == "fate_unknown"
    assert [method for dummy, method, more in executer.asked] == ["vim.EsxCLI.network.vm.list"]


def test_a_long_command_may_take_longer_than_a_request_and_only_that(executer):
    seen = []
    executer.answers = [result(), result(VMS)]
    handler = executer.wire.handlers["ExecuteSoap"]
    executer.wire.handlers["ExecuteSoap"] = lambda *args, **kw: (
        seen.append(executer.wire.patience_s),
        handler(*args, **kw),
    )[1]
    executer.esxcli.call("software.vib.install", depot="/x.zip")
    executer.esxcli.call("software.vib.list")
    assert (seen, executer.wire.patience_s) == ([900, 60], 60)


def test_a_host_that_hangs_is_asked_once(executer):
    """Each of three attempts had the limit of a command that changes something, 45 minutes in all."""
    trouble, clock = executer.wire.trouble, executer.vcenter.clock
    trouble["ExecuteSoap"] = [(TimeoutError("timed out"), True)] * 3
    times = iter((0, 60))
    executer.vcenter.clock = SimpleNamespace(now=lambda: next(times), sleep=clock.sleep)
    with pytest.raises(OperatorError) as caught:
        executer.esxcli.call("software.vib.list")
    assert len(trouble["ExecuteSoap"]) == 2
    assert "esxcli software vib list got no answer" in caught.value.message
    assert "raise `request_timeout_s`" in caught.value.message


class Ssh:
    """The ssh program: keeps its argv, answers as planned."""

    def __init__(self, stdout="[]", stderr="", returncode=0, error=None):
        self.argv, self.options = None, None
        self._answer = SimpleNamespace(stdout=stdout, stderr=stderr, returncode=returncode)
        self._error = error

    def __call__(self, argv, **options):
        self.argv, self.options = argv, options
        if self._error is not None:
            raise self._error
        return self._answer


PARAMS = {
    "esxcli_transport": "ssh",
    "esxcli_timeout_s": 60,
    "request_timeout_s": 30,
    "ssh_host": None,
    "ssh_port": 22,
    "ssh_user": "root",
    "ssh_key_file": None,
    "ssh_known_hosts_file": None,
}


def over_ssh(ssh, **params):
    return esxcli_ssh.SshEsxcli(HOST, {**PARAMS, **params}, ssh)


def test_ssh_asks_no_questions_checks_the_host_key_and_quotes_every_word():
    ssh = Ssh()
    over_ssh(ssh, ssh_key_file="/k", ssh_known_hosts_file="/h", ssh_port=2222).call(
        "software.vib.install", depot="/vmfs/volumes/my store/x.zip; reboot", dry_run=True, vibname=["a", "b"]
    )
    assert ssh.argv[0] == "ssh"
    for pair in ("BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=/h", "IdentitiesOnly=yes"):
        assert pair in ssh.argv
    assert ssh.argv[ssh.argv.index("-p") + 1] == "2222"
    assert ssh.argv[-3:] == [
        "--",
        "esx-01.example.com",
        "esxcli --formatter=json software vib install '--depot=/vmfs/volumes/my store/x.zip; reboot' --dry-run "
        "--vibname=a --vibname=b",
    ]
    assert ssh.options["timeout"] == 60


@pytest.mark.parametrize("flag", ["dry_run", "rebooting_image"])
def test_ssh_writes_a_flag_without_a_value_and_leaves_out_one_that_is_off(flag):
    ssh, line = Ssh(), "esxcli --formatter=json software vib list"
    over_ssh(ssh).call("software.vib.list", **{flag: True})
    assert ssh.argv[-1] == f"{line} --{flag.replace('_', '-')}"
    over_ssh(ssh).call("software.vib.list", **{flag: False})
    assert ssh.argv[-1] == line


def test_ssh_types_its_answer_like_vcenter_does():
    rows = [{"Name": "42", "NumPorts": 2, "IsLoaded": "true", "Networks": ["train"]}]
    answer = over_ssh(Ssh(json.dumps(rows))).call("network.vm.list")
    assert answer == [{"Name": "42", "NumPorts": 2, "IsLoaded": True, "Networks": ["train"]}]
    assert over_ssh(Ssh("PartnerSupported\n")).call("software.acceptance.get") == "PartnerSupported"
    assert over_ssh(Ssh("\n")).call("system.module.set", module="x", enabled=True) is None


def test_ssh_reports_a_refusal_of_esxcli_from_a_host_that_it_cannot_reach():
    with pytest.raises(OperatorError) as caught:
        over_ssh(Ssh(" [NoMatchError]\n id=x\n", returncode=1)).call("software.vib.get", vibname="x")
    assert (caught.value.code, caught.value.data["errors"]) == ("esxcli_failed", ["[NoMatchError]", "id=x"])
    for ssh in (Ssh(stderr="Host key verification failed.\n", returncode=255), Ssh(error=FileNotFoundError("ssh"))):
        with pytest.raises(OperatorError) as caught:
            over_ssh(ssh).call("software.vib.list")
        assert caught.value.code == "ssh_failed"
    with pytest.raises(OperatorError) as caught:
        over_ssh(Ssh(error=subprocess.TimeoutExpired("ssh", 60))).call("software.vib.install", depot="/x.zip")
    assert caught.value.code == "fate_unknown"


def test_the_transport_follows_the_option():
    vcenter, wire = opened()
    assert isinstance(esxcli_ssh.open_esxcli(vcenter, HOST, PARAMS), esxcli_ssh.SshEsxcli)
    assert isinstance(esxcli_ssh.open_esxcli(vcenter, HOST, {**PARAMS, "esxcli_transport": "vcenter"}), esxcli.Esxcli)
