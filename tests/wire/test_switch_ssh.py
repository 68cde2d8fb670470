"""Switches over SSH, whatever runs on them: who comes in, what a terminal does, how connections end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import asyncssh
import pytest

from twin_labs.fabric_lab import HOSTS, cli, fabric, openssh, switch
from vsphere_twin.launch import launch
from vsphere_twin.model import seed as seeds
from vsphere_twin.model.seed_file import SeedError

EOS, NXOS = "leaf-01", "leaf-02"


@pytest.fixture(scope="module")
def lab():
    """Two switches with command lines of their own and one that is Linux."""
    switches = switch(EOS, "eos"), switch(NXOS, "nxos", "feature lldp"), switch("leaf-03", "cumulus")
    with launch(fabric(*switches), faces=("switches",)) as running:
        yield running
        running.control.clear()


@pytest.fixture
def device(lab):
    """The devices by the names of their switches, as they come, with nothing planned."""
    lab.control.clear()
    return {name: one.device for name, one in lab.world.fabric.switches.items()}


def test_the_endpoint_reports_clients_where_each_switch_answers(lab):
    reported = lab.endpoint()
    row = reported["switches"][NXOS]
    assert (row["ssh_host"], row["ssh_port"]) == lab.switch_endpoints[NXOS]
    assert (row["platform"], row["username"]) == ("nxos", "admin")
    assert (reported["switch_username"], reported["switch_password"]) == ("admin", lab.password)


def test_each_switch_has_a_key_of_its_own(lab):
    keys = [line.split()[-1] for line in lab.known_hosts_file.read_text().splitlines()]
    assert len(set(keys)) == 3


def test_one_command_comes_with_its_output_alone(lab):
    done = openssh(lab, EOS, "show hostname")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Hostname: {EOS}\nFQDN:     {EOS}\n", "")


@pytest.mark.parametrize("user, password", [("admin", "wrong"), ("nobody", None)], ids=["password", "user"])
def test_strangers_stay_outside(lab, user, password):
    address, port = lab.switch_endpoints[EOS]

    async def come_in():
        options = {"username": user, "password": password or lab.password, "client_keys": None, "config": None}
        async with asyncssh.connect(address, port, known_hosts=str(lab.known_hosts_file), **options):
            pass

    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(come_in())


def test_what_is_typed_is_echoed_and_lines_end_as_on_a_terminal(lab):
    done = subprocess.run(
        [*openssh(lab, NXOS, argv_only=True), "-tt"], input=b"show hostname\rexit\r", capture_output=True, check=False
    )
    assert done.stdout.endswith(f"{NXOS}# show hostname\r\n{NXOS}\r\n{NXOS}# exit\r\n".encode())


def test_keys_edit_the_line_before_it_is_sent(lab):
    with cli(lab, NXOS) as console:
        assert console("show hostnaX\x7fme") == NXOS
        assert console("nonsense\x15show hostname") == NXOS


@pytest.mark.parametrize("key, lines", [(" ", 23), ("\r", 1)], ids=["next page", "next line"])
def test_long_answers_come_page_by_page(lab, key, lines):
    with cli(lab, NXOS) as console:
        first = console.type("show queuing interface", until="--More--$")
        assert first.count("\n") == 24  # the echo and 23 lines
        assert console.press(key, until="--More--$").count("\n") == lines
        assert console.press("q").endswith(f"{NXOS}# ")
        console("terminal length 0")
        assert "--More--" not in console("show queuing interface")


def test_every_login_and_every_line_is_counted(lab):
    before, lines = lab.switch_sessions[NXOS], len(lab.switch_commands[NXOS])
    with cli(lab, NXOS) as console:
        console("show hostname", "show version")
    assert lab.switch_sessions[NXOS] == before + 1
    assert lab.switch_commands[NXOS][lines:] == ["show hostname", "show version"]


@pytest.mark.parametrize("after", [False, True], ids=["before it took effect", "after it took effect"])
def test_a_planned_line_fails_or_seems_to(lab, device, after):
    lab.control.fail_switch_command(prefix="description", switch=NXOS, text="ERROR: planned", after=after)
    with cli(lab, NXOS) as console:
        console("configure terminal", "interface Ethernet1/1", "no description")
        assert console(f"description reported{after}") == "ERROR: planned"
        assert (f"description reported{after}" in device[NXOS].running()) is after
        assert console("description twice") == ""  # a plan is used up


@pytest.mark.parametrize("after", [False, True], ids=["before it took effect", "after it took effect"])
def test_the_line_may_break_at_a_command(lab, device, after):
    lab.control.drop_switch_command(prefix="description", after=after)
    with cli(lab, EOS) as console:
        console("enable", "configure", "interface Ethernet2", "no description")
        with pytest.raises((ConnectionError, asyncssh.Error)):
            console.type(f"description cut{after}")
    assert (f"description cut{after}" in device[EOS].running()) is after


def test_a_switch_that_is_dropped_lets_in_again_and_one_that_refuses_does_not(lab, device):
    with cli(lab, EOS) as console:
        lab.control.drop_switch(switch=EOS)
        with pytest.raises((ConnectionError, asyncssh.Error, BrokenPipeError)):
            console.type("show version")
    assert openssh(lab, EOS, "show hostname").returncode == 0
    lab.control.refuse_switch(switch=EOS)
    assert openssh(lab, EOS, "show hostname").returncode == 255
    lab.control.clear()
    assert openssh(lab, EOS, "show hostname").returncode == 0


def test_a_reload_ends_sessions_and_forgets_what_was_not_saved(lab, device):
    with cli(lab, NXOS) as console:
        console("configure terminal", "vlan 77", "end")
        assert "vlan 77" in device[NXOS].running()
        lab.control.reload_switch(switch=NXOS, seconds=0.05)
        with pytest.raises((ConnectionError, asyncssh.Error, BrokenPipeError)):
            console.type("show version")
    assert "vlan 77" not in device[NXOS].running()
    assert lab.world.fabric.switches[NXOS].reloads == 1


def test_a_cable_that_is_pulled_is_seen_at_both_ends(lab, device):
    assert "leaf-02" in openssh(lab, EOS, "show lldp neighbors").stdout
    lab.control.link(switch=EOS, port="Ethernet3", up=False)
    ports = lab.world.fabric.switches
    assert (ports[EOS].ports["Ethernet3"].up, ports[NXOS].ports["Ethernet1/4"].up) == (False, False)
    assert "leaf-02" not in openssh(lab, EOS, "show lldp neighbors").stdout
    lab.control.link(switch=EOS, port="Ethernet3", up=True)


@pytest.mark.parametrize(
    "verb, options, said",
    [
        ("drop_switch", {"switch": "leaf-99"}, "There is no switch leaf-99"),
        ("kill_feature", {"switch": EOS, "feature": "fans"}, "There is no feature fans"),
        ("link", {"switch": EOS, "port": "Ethernet99", "up": True}, "has no port Ethernet99"),
        ("fail_switch_command", {"prefix": " "}, "must name a command"),
    ],
    ids=["switch", "feature", "port", "prefix"],
)
def test_trouble_that_cannot_be_is_refused(lab, verb, options, said):
    with pytest.raises(ValueError, match=said):
        lab.control.do(verb, **options)


# Switches that are Linux.


def test_a_linux_switch_runs_commands_for_its_users_and_for_root(lab):
    done = openssh(lab, "leaf-03", "whoami; sudo -n whoami; nonsense")
    assert (done.stdout, done.returncode) == ("cumulus\nroot\n", 127)
    assert done.stderr == "-bash: nonsense: command not found\n"


def test_input_goes_into_files_and_through_sudo(lab):
    done = openssh(lab, "leaf-03", "sudo -n /bin/sh -c 'cat > /tmp/patch'; cat /tmp/patch; rm /tmp/patch", stdin="[]\n")
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)


def test_what_is_printed_before_input_is_read_does_not_wait_for_it(lab):
    with subprocess.Popen(
        [*openssh(lab, "leaf-03", argv_only=True), "sudo -n /bin/sh -c 'echo ready; cat'"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert process.communicate("later\n", timeout=120)[0] == "later\n"


def test_ansible_runs_raw_commands_with_become(lab, tmp_path):
    address, port = lab.switch_endpoints["leaf-03"]
    common = f"'-F none -o UserKnownHostsFile={lab.known_hosts_file}'"
    (tmp_path / "hosts").write_text(
        f"leaf-03 ansible_host={address} ansible_port={port} ansible_user=cumulus ansible_ssh_common_args={common} "
        f"ansible_ssh_private_key_file={lab.ssh_key_file}\n"
    )
    argv = [str(Path(sys.executable).parent / "ansible"), "-i", "hosts", "leaf-03", "-b", "-m", "raw", "-a", "whoami"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "root" in done.stdout


def test_a_terminal_on_linux_has_a_prompt(lab):
    with cli(lab, "leaf-03") as console:
        assert console("sudo whoami") == "root"


# Seeds.


@pytest.mark.parametrize(
    "change, said",
    [
        ({"switches": [{"name": "a", "platform": "ios"}]}, "There is no platform ios; these exist: cumulus, "),
        ({"switches": [switch("a", "eos"), switch("a", "eos")]}, "Switch a: there are two of this name."),
        ({"switches": [switch("a", "eos", version="9.9")]}, "eos 9.9 is none of"),
        ({"switches": [switch("a", "eos", "frobnicate")]}, "Switch a: 'frobnicate' is answered with"),
        ({"cables": [["a/Ethernet9", "b/Ethernet1/1"]]}, "a has no port Ethernet9; it has Ethernet1 to Ethernet4."),
        ({"cables": [["c/Ethernet1", "b/Ethernet1/1"]]}, "there is no switch and no host c."),
        ({"cables": [[f"{HOSTS[0]}/vmnic9", "a/Ethernet1"]]}, "has no port vmnic9; it has vmnic0, "),
        ({"cables": [["a/Ethernet1", "b/Ethernet1/1"], ["b/Ethernet1/1", "a/Ethernet2"]]}, "b/Ethernet1/1 has a cable"),
        ({"cables": [["a/Ethernet1"]]}, "seed.fabric.cables[0]: a cable is a list of its two ends"),
        ({"cables": [["a/Ethernet1", "a/Ethernet1"]]}, "both ends are a/Ethernet1."),
        ({"wires": []}, "seed.fabric.wires: unknown key"),
    ],
    ids=["platform", "twice", "version", "config", "port", "owner", "vmnic", "used", "one_end", "loop", "key"],
)
def test_a_fabric_that_cannot_be_is_named_by_its_place(change, said):
    data = fabric(switch("a", "eos"), switch("b", "nxos"), cables=[])
    data["fabric"].update(change)
    with pytest.raises(SeedError) as refused:
        seeds.from_data(data)
    assert said in str(refused.value)


def test_a_row_of_switches_has_numbers():
    data = fabric(
        {"name": "leaf-{n:02}", "count": 3, "platform": "eos"}, cables=[["leaf-01/Ethernet32", "leaf-03/Ethernet1"]]
    )
    assert list(seeds.from_data(data).fabric.switches) == ["leaf-01", "leaf-02", "leaf-03"]
