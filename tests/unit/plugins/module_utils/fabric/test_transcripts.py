# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Captures as operators paste them: nothing of them is dropped without a sentence in `unread`."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline, transcript
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known, platform_of

PAGES = Path(__file__).parents[5] / "docs" / "switches"


def parsed(name, outputs):
    return offline.parsed(platform_of(name, None), outputs)


@pytest.mark.parametrize(
    "name, typed, whole",
    [
        ("eos", "sh int", "show interfaces"),
        ("eos", "show int eth1/1", "show interfaces eth1/1"),
        ("eos", "do sh lldp nei det | json", "show lldp neighbors det"),
        ("eos", "show run section qos", None),
        ("eos", "sh prio count", "show priority-flow-control counters"),
        ("eos", "show ip route", None),
        ("nxos", "sh int e1/1 prio", "show interface priority-flow-control e1/1"),
        ("nxos", "show run int eth1/1", "show running-config int eth1/1"),
        ("nxos", "show interface counters", None),
        ("onyx", "show interfaces ethernet 1/1 congestion-control", "show interfaces congestion-control ethernet 1/1"),
        ("onyx", "show dcb ets interface ethernet 1/1", "show dcb ets interface ethernet 1/1"),
        ("cumulus", "nv show interface swp1 qos roce status -o json", "nv show interface swp1 qos roce status -o json"),
        (
            "cumulus",
            "sudo cat /etc/cumulus/datapath/qos/qos_features.conf",
            "/etc/cumulus/datapath/qos/qos_features.conf",
        ),
        ("sonic", "sudo sonic-cfggen -d --print-data", "sonic-cfggen -d --print-data"),
        ("sonic", "show pfc counters -n asic0", "show pfc counters -n asic0"),
        ("os10", "show interface eth 1/1/1", "show interface eth 1/1/1"),
        ("junos", "show configuration class-of-service | display set", "show configuration class-of-service"),
        ("enterprise_sonic", "show interface status | no-more", "show interface status"),
    ],
)
def test_abbreviated_commands_are_spelled_out(name, typed, whole):
    assert platform_of(name, None).spelled(typed) == whole


@pytest.mark.parametrize("name", known())
def test_every_command_that_is_read_is_recognised_and_on_the_page(name):
    platform = platform_of(name, None)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for command in platform.commands:
        assert platform.spelled(command) == command
        assert f"    {command}\n" in page


PROMPTS = {
    "eos": "leaf-1(config)#",
    "nxos": "leaf-1# ",
    "onyx": "leaf-1 [standalone: master] (config) # ",
    "cumulus": "cumulus@leaf-1:mgmt:~$ ",
    "sonic": "admin@leaf-1:~$ ",
    "enterprise_sonic": "leaf-1# ",
    "os10": "leaf-1# ",
    "junos": "admin@leaf-1> ",
}
LLDP = {
    "eos": (
        "show lldp neighbors",
        "Port  Neighbor Device ID  Neighbor Port ID  TTL\n---- ---- ---- ---\n"
        "Et1   esx-01              vmnic4            120\n",
        "Ethernet1",
    ),
    "nxos": (
        "show lldp neighbors",
        "Device ID            Local Intf      Hold-time  Capability  Port ID\n"
        "esx-01               Eth1/1          120        S           vmnic4\nTotal entries displayed: 1\n",
        "Ethernet1/1",
    ),
    "onyx": (
        "show lldp remote",
        "Local Interface   Device ID           Port ID    System Name\n"
        "Eth1/1            7c:fe:90:00:00:01   vmnic4     esx-01\n",
        "Eth1/1",
    ),
    "cumulus": (
        "nv show interface lldp",
        "Interface  Speed  Type  Remote Host  Remote Port\n---------  -----  ----  -----------  -----------\n"
        "swp1       100G   swp   esx-01       vmnic4\n",
        "swp1",
    ),
    "sonic": (
        "show lldp table",
        "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n"
        "-----------  --------------  --------------  ------------  -----------------\n"
        "Ethernet0    esx-01          vmnic4          B             a port\n",
        "Ethernet0",
    ),
    "enterprise_sonic": (
        "show lldp table",
        "LocalPort          RemoteDevice       RemotePortID        Capability          RemotePortDescr\n"
        "Eth1/1             esx-01             vmnic4              B                   x\n",
        "Eth1/1",
    ),
    "os10": (
        "show lldp neighbors",
        "Loc PortID          Rem Host Name     Rem Port Id         Rem Chassis Id\n"
        "ethernet1/1/1       esx-01            vmnic4              0c:42:a1:00:00:01\n",
        "ethernet1/1/1",
    ),
    "junos": (
        "show lldp neighbors",
        "Local Interface    Parent Interface    Chassis Id          Port info          System Name\n"
        "et-0/0/1           -                   0c:42:a1:00:00:01   vmnic4             esx-01\n",
        "et-0/0/1",
    ),
}
assert {*LLDP} == {*known()} == {*PROMPTS}
FORMS = {
    "by its command": lambda name, command, text: {command: text},
    "by its form": lambda name, command, text: text,
    "behind its prompt": lambda name, command, text: f"{PROMPTS[name]}{command}\n{text}{PROMPTS[name]}\n",
    "CRLF": lambda name, command, text: f"{PROMPTS[name]}{command}\n{text}".replace("\n", "\r\n"),
    "escapes": lambda name, command, text: f"\x1b[?2004l{PROMPTS[name]}{command}\n\x1b[1m{text}\x1b[0m\x07",
    "a pager": lambda name, command, text: f"{PROMPTS[name]}{command}\n" + text.replace("\n", "\n --More-- \r\n", 1),
    "a heading": lambda name, command, text: f"------------- {command} -------------\n\n{text}",
    "an echo": lambda name, command, text: {command: f"{command}\n{text}"},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", LLDP)
def test_neighbours_alone_are_ports_in_every_form_of_capture(name, form):
    command, text, port = LLDP[name]
    reported = parsed(name, form(name, command, text))
    assert [(peer["system"], peer["port"]) for peer in reported["ports"][port]["neighbours"]] == [("esx-01", "vmnic4")]
    assert (list(reported["ports"]), reported["unread"]) == ([port], [])


@pytest.mark.parametrize("name", known())
def test_what_was_not_understood_is_reported_command_by_command(name):
    command, text, port = LLDP[name]
    prompt = PROMPTS[name]
    other = "nv show bridge" if name == "cumulus" else "show bridge"
    refused = "nv show x" if name == "cumulus" else "show x"
    whole = f"Welcome to the switch\n{prompt}{other}\nbridge 1\n{prompt}{command}\n{text}"
    whole += f"{prompt}{refused}\n% Invalid input\n{prompt}{command}\n{prompt}"
    reported = parsed(name, whole)
    assert list(reported["ports"]) == [port]
    banner, bridge, invalid, empty = sorted(
        reported["unread"], key=lambda one: ["Welc", "brid", " x`", "empty"].index(_of(one))
    )
    assert "Welcome to the switch" in banner
    assert f"Cannot read `{other}`" in bridge
    assert invalid == f"The switch rejected `{refused}`: % Invalid input"
    assert f"Cannot read `{command}`. Its output is empty." in empty


def _of(sentence):
    return next(word for word in ("Welc", "brid", " x`", "empty") if word in sentence)


@pytest.mark.parametrize("name", known())
@pytest.mark.parametrize(
    "text", ["", " \r\n", "lorem ipsum\n" * 20, "-----\n=====\n"], ids=["empty", "blank", "other", "rules"]
)
def test_an_output_that_reports_nothing_is_unread(name, text):
    reported = parsed(name, {LLDP[name][0]: text})
    assert reported["ports"] == {}
    assert [LLDP[name][0] in sentence for sentence in reported["unread"]] == [True]


@pytest.mark.parametrize("name", known())
def test_a_refusal_between_outputs_is_reported_too(name):
    command, text, port = LLDP[name]
    reported = parsed(name, {command: f"{text}\n\n% Invalid input detected at '^' marker.\n\n\n"})
    assert list(reported["ports"]) == [port]
    assert [sentence for sentence in reported["unread"] if "% Invalid input" in sentence] == reported["unread"]


@pytest.mark.parametrize(
    "name, command, text, lost",
    [
        ("eos", "show priority-flow-control", "Et1  E A W  3   -  -\nHu7/1  E A W  3  -  -\n", "Hu7/1"),
        ("nxos", "show interface priority-flow-control", "Ethernet1/1 Auto Off 0 0\nfc1/3 Auto Off 0 0\n", "fc1/3"),
        ("os10", "show interface", "Ethernet 1/1/1 is up, line protocol is up\nEthernet 1/1/2 ??\n", "Ethernet1/1/2"),
        (
            "sonic",
            "show pfc priority",
            "Interface  Lossless priorities\n---------  -------------------\nEthernet0  3\n---\nEthernet4 : 3",
            "Ethernet4",
        ),
    ],
)
def test_rows_of_ports_in_another_form_are_unread(name, command, text, lost):
    reported = parsed(name, {command: text})
    assert len(reported["ports"]) == 1
    assert [lost in sentence and command in sentence for sentence in reported["unread"]] == [True]


def test_management_ports_of_a_configuration_need_no_mention():
    text = "interface Ethernet1\n   mtu 9214\ninterface Management1\n   ip address 192.0.2.1/24\ninterface Vlan5\n"
    assert parsed("eos", text)["unread"] == []


@pytest.mark.parametrize("name", ["eos", "nxos"])
def test_settings_without_a_port_are_unread(name):
    text = {"eos": "qos map dscp 26 to traffic-class 3\n", "nxos": "class-map type qos match-any A\n  match dscp 26\n"}
    (sentence,) = parsed(name, {"show running-config": text[name]})["unread"]
    assert "It names no port" in sentence


@pytest.mark.parametrize(
    "typed, text, expected",
    [
        (
            "show qos interfaces ethernet 1 ecn",
            "Tx-Queue  Min Threshold  Max Threshold  Unit\n  3   150   1500   kbytes\n",
            150000,
        ),
        ("sh qos int et1 ecn", "Tx-Queue  Min Threshold (kbytes)  Max Threshold (kbytes)\n  3   150   1500\n", 150000),
    ],
)
def test_the_port_of_an_eos_table_may_be_in_its_command_alone(typed, text, expected):
    reported = parsed("eos", f"leaf-1#{typed}\n{text}")
    assert reported["ports"]["Ethernet1"]["running"]["ecn"][3]["min_bytes"] == expected
    assert reported["unread"] == []


@pytest.mark.parametrize(
    "outputs", ["leaf(config-if-Et5)#show active\n   mtu 9214\n", {"show run int et5": "   mtu 9214\n"}]
)
def test_a_configuration_without_its_interface_belongs_to_the_port_of_its_prompt_or_command(outputs):
    reported = parsed("eos", outputs)
    assert {name: port["mtu"] for name, port in reported["ports"].items()} == {"Ethernet5": 9214}


def test_the_same_command_for_several_ports_is_read_each_time():
    text = "leaf# sh int\nEthernet1/1 is up\n  MTU 9216 bytes, BW 100000000 Kbit\n"
    mtus = {"Ethernet1/1": 9216, "Ethernet1/2": 1500, "Ethernet1/3": 4096}
    outputs = [text.replace("Ethernet1/1", name).replace("9216", str(mtu)) for name, mtu in mtus.items()]
    reported = parsed("nxos", "".join(outputs))
    assert {name: port["running"]["mtu"] for name, port in reported["ports"].items()} == mtus


def test_a_shell_command_is_named_in_short():
    with pytest.raises(OperatorError) as error:
        parsed("sonic", "admin@leaf:~$ show nothing here\nsome text\n")
    assert error.value.code == "unknown_text"
    assert len(error.value.message) < 250
    assert "does not read `show nothing here` on this platform" in error.value.message


def test_a_long_command_of_a_shell_is_named_by_its_beginning():
    """SONiC is read with one command of several hundred characters, which no sentence repeats."""
    command = platform_of("sonic", None).reads([])[1]
    assert len(command) > 300
    for outputs in ({command: "some text\n"}, f"admin@leaf:~$ {command}\nsome text\n"):
        (sentence,) = parsed("sonic", outputs)["unread"]
        assert "Cannot read `echo '@ show version'; show version" in sentence
        assert len(sentence) < 250


def test_a_part_of_a_long_command_that_was_not_understood_is_unread():
    command = platform_of("sonic", None).reads([])[1]
    reported = parsed("sonic", {command: f"@ show pfc priority\nsome text\n@ show lldp table\n{LLDP['sonic'][1]}"})
    assert list(reported["ports"]) == ["Ethernet0"]
    assert ["`show pfc priority`" in sentence for sentence in reported["unread"]] == [True]


def test_lines_that_only_look_like_prompts_stay_in_their_output():
    text = "interface Ethernet1\n   description a>b #1\n   mtu 9214\nbanner motd\nhost# no command\nEOF\n"
    assert [command for command, _output in transcript.split(text)] == [None]


def test_outputs_one_below_the_other_are_reported_apart_by_their_commands():
    text = f"show lldp neighbors\n{LLDP['nxos'][1]}show hardware x\nsome data\n"
    reported = parsed("nxos", text)
    assert list(reported["ports"]) == ["Ethernet1/1"]
    assert ["`show hardware x`" in sentence for sentence in reported["unread"]] == [True]


def test_the_place_in_a_chassis_of_junos_is_no_text_of_its_own():
    assert (
        parsed("junos", f"{{master:0}}\nadmin@leaf> show lldp neighbors\n{LLDP['junos'][1]}\n{{master:0}}\n")["unread"]
        == []
    )


def test_a_view_of_one_link_of_cumulus_is_that_of_its_port():
    text = """\
              operational  applied
------------  -----------  -------
oper-status   up
mtu           9216         9216
speed         400G         auto
"""
    port = parsed("cumulus", {"nv show interface swp1 link": text})["ports"]["swp1"]
    assert (port["speed"], port["running"]["up"], port["running"]["mtu"]) == (400, True, 9216)


def test_names_of_ports_alone_are_unread():
    reported = parsed(
        "cumulus", {"nv show interface swp1 qos pfc": "  operational  applied\n  -----------  -------\nnonsense\n"}
    )
    assert ["nv show interface swp1 qos pfc" in sentence for sentence in reported["unread"]] == [True]


ROWS_OF_UNKNOWN_FORM = "Et1 Eth1/1 Ethernet1 foo\nEthernet4 zz\nEth1/2 baz\nswp3 z\nxe-0/0/1 up\n"


@pytest.mark.parametrize("name", known())
def test_rows_of_unknown_form_are_reported_once_for_each_command(name):
    platform = platform_of(name, None)
    for command in platform.commands:
        texts = {command: ROWS_OF_UNKNOWN_FORM}
        read = transcript.complete(platform.parse(texts))
        reported = transcript.unheard(platform, texts, read)
        # Differences are read in a form of their own; some readers name the lines themselves.
        form = (
            f"Cannot read `{command}`. No line of its output has a form that is known for {platform.title}. Give the "
        )
        named = "diff" in command or any(command in one or "Ethernet4" in one for one in read.unread)
        assert reported == ([] if named else [f"{form}whole output as the switch prints it."]), read.unread


def test_an_mlag_port_channel_is_known_by_both_names():
    text = "interface mlag-port-channel 2\n   mtu 9216 force\nexit\n"
    reported = parsed("onyx", {"show running-config": text})
    assert (list(reported["ports"]), reported["unread"]) == (["Mpo2"], [])
