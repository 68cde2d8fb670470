"""A capture of shells sends only the listed commands, keeps hardware, and contains no text of the site."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.action import guest_capture_info
from ansible_collections.aiready.vsphere.plugins.module_utils.capture import shell
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import COMMANDS
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.shell_commands import GUEST_LINES, HOST_LINES
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import commands

from house.collection import ROOT
from vsphere_twin.launch import launch
from vsphere_twin.shell.interpreter import Shell

from . import drive_action
from .linux_host import LinuxHost
from .rows.host_shell_capture_info import HOST, LAB

PAGE = (ROOT / "docs" / "capture_requests.md").read_text()
SAMPLES = Path(__file__).parents[1] / "unit/plugins/module_utils/capture/samples"
GUEST_TOOLS = {
    "uname -r": "6.8.0-45-generic",
    "nvidia-smi -q -x": (ROOT / "tests/twin/tests/data/nvidia_smi/h100__q-x_first-gpu.txt").read_text(),
    "nvidia-smi topo -m": (SAMPLES / "topo.txt").read_text(),
    "ip -j link": (SAMPLES / "ip_link.json").read_text(),
    "lspci -Dvvvnn": (SAMPLES / "lspci.txt").read_text(),
    "ibv_devinfo -v": (SAMPLES / "ibv_devinfo.txt").read_text(),
    "mlxconfig -d 0000:0b:00.0 -e query": (SAMPLES / "mlxconfig.txt").read_text(),
    "nvidia-smi nvlink --status": "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-2aee1db3-7d6b-4f8a-a8c1-d9f0e3b5a7c2)\n"
    "\t Link 0: 26.562 GB/s\n",
    "cat /proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56"
    " UTC 2024\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n",
    "grep PRETTY_NAME /etc/os-release": 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
    "ls /sys/module": "gdrdrv\nib_uverbs\nmlx5_core\nnv_peer_mem\nrdma_ucm\n",
}


def words_of(line):
    return " ".join([line.words[0].rpartition("/")[2], *line.words[1:]])


def listed(lines):
    return [words_of(line) for line in lines if f"`{words_of(line)}`" not in PAGE]


def everything(answer):
    found = Capture(answer["dest"])
    return "\n".join(text.decode() + name for name, text in found.files.items()) + json.dumps(found.manifest)


@pytest.fixture
def host(monkeypatch):
    """A host of the twin, and the programs that it ran."""
    ran = []
    execute = Shell.execute

    def noted(self, argv, *given):
        ran.append(list(argv))
        return execute(self, argv, *given)

    monkeypatch.setattr(Shell, "execute", noted)
    with launch(LAB, faces=("ssh",)) as running:
        (found,) = [one for one in running.world.of_kind("HostSystem") if one.name == HOST]
        software = found.software
        yield running, found, ran, software


@pytest.fixture
def guest(tmp_path):
    return LinuxHost(tmp_path / "linux", {}, GUEST_TOOLS)


def on_host(running, tmp_path, **params):
    answer = drive_action.run(running, HOST, "host_shell_capture_info", {"dest": str(tmp_path / "site.zip"), **params})
    assert not answer["failed"], answer["msg"]
    return answer


def on_guest(guest, tmp_path, variables=None, **params):
    with guest.running() as connection:
        answer = drive_action.act(
            connection,
            "guest_capture_info",
            {"dest": str(tmp_path / "site.zip"), **params},
            variables=variables or {"inventory_hostname": "train-01"},
        )
    assert not answer["failed"], answer["msg"]
    return answer


def test_a_host_receives_only_the_commands_that_the_page_lists(host, tmp_path):
    running, _found, ran, _software = host
    on_host(running, tmp_path)
    sent = {" ".join([argv[0].rpartition("/")[2], *argv[1:]]) for argv in ran}
    sent = {re.sub(r"mt\d+_pciconf\d+", "DEVICE", one) for one in sent if not one.startswith(("/bin/sh", "sh "))}
    limits = {one for one in sent if re.fullmatch(r"head -c \d+|echo aiready-status \d+", one)}
    assert f"head -c {shell.LARGEST + 32}" in limits
    assert sent - limits <= {words_of(line) for line in HOST_LINES}
    assert listed(HOST_LINES) == []


def test_a_host_answers_esxcli_in_its_shell_as_through_vcenter(host, tmp_path):
    running, found, _ran, _software = host
    answer = on_host(running, tmp_path, esxcli=True)
    assert set(found.esxcli_calls) <= {command.name for command in COMMANDS}
    files = Capture(answer["dest"]).files
    (nics,) = [json.loads(text) for name, text in files.items() if name.endswith("-esxcli-network-nic-list.json")]
    assert [one["Name"] for one in nics] == [nic.device for nic in found.nics]


def test_a_guest_receives_only_the_commands_that_the_page_lists(guest, tmp_path):
    answer = on_guest(guest, tmp_path)
    sent = {re.sub(r"\d{4}:\w\w:\w\w\.\d", "DEVICE", " ".join(shlex.split(one))) for one in guest.commands}
    assert [one for one in sent if "timeout -k 5 120 " not in one and "LC_ALL" not in one] == []
    plain = [re.sub(r".*\b(uname|nvidia-smi|ip|lspci|ibv_devinfo|mlxconfig|cat|grep|ls) ", r"\1 ", one) for one in sent]
    expected = {words_of(line) for line in GUEST_LINES}
    assert [one for one in plain if not one.startswith(tuple(expected))] == []
    assert listed(GUEST_LINES) == []
    assert answer["refused"] == {}
    # Readers of a capture look for the whole command.
    rows = json.loads(Capture(answer["dest"]).files["guests/vm-001/shell/commands.json"])["commands"]
    assert {re.sub(r"\d{4}:\w\w:\w\w\.\d", "DEVICE", row["command"]) for row in rows} == expected


def test_hardware_of_a_guest_stays(guest, tmp_path):
    answer = on_guest(guest, tmp_path)
    text = everything(answer)
    for kept in (
        *("NVIDIA H100 80GB HBM3", "0000:0b:00.0", "[15b3:101d]", "NUMA node: 0", "LnkSta:", "ATSCtl:", "mlx5_core"),
        *("fw_ver:", "22.36.1010", "MT_0000000359", "NUM_OF_VFS", "True(1)", "PIX", "ens192", "9000"),
        *("Link 0: 26.562 GB/s", "NVRM version: NVIDIA UNIX x86_64", "550.54.15"),
        *('PRETTY_NAME="Ubuntu 24.04.1 LTS"', "gdrdrv", "ib_uverbs", "nv_peer_mem", "rdma_ucm"),
    ):
        assert kept in text, kept


def test_one_adapter_has_one_pseudonym_in_all_outputs(guest, tmp_path):
    answer = on_guest(guest, tmp_path)
    files = {name.rpartition("/")[2]: text.decode() for name, text in Capture(answer["dest"]).files.items()}
    links = json.loads(files["004-ip-j-link.txt"])
    (mac,) = [one["address"] for one in links if one["ifname"] == "ens192"]
    plain = mac.replace(":", "")
    assert plain[:6] == "b8cef6"
    assert f"{plain[:4]}:{plain[4:6]}03:00{plain[6:8]}:{plain[8:]}" in files["006-ibv-devinfo-v.txt"]
    assert "b8:ce:f6:aa:bb:cc" not in "".join(files.values())
    assert "b8ce:f603:00aa:bbcc" not in "".join(files.values())


@pytest.mark.parametrize("names", [["train-01", ""], ["train-01.example.com", ""], ["alias", "train-01"]])
def test_a_guest_has_the_pseudonym_of_its_vm(guest, tmp_path, names):
    secret = tmp_path / "site.zip.secret.json"
    table = {"salt": "AAAA", "names": {"vm": {"train-01": "vm-007"}}, "known": {"train-01": "vm-007"}}
    secret.write_text(json.dumps(table))
    variables = dict(zip(("inventory_hostname", "ansible_host"), names, strict=True))
    assert on_guest(guest, tmp_path, variables)["source"] == "guest vm-007"


def test_a_guest_that_cannot_be_reached_is_in_the_coverage(guest, tmp_path, monkeypatch):
    def refuses(_kind, run, *_given):
        return shell.Outputs(lost=True)

    monkeypatch.setattr(shell, "read", refuses)
    answer = on_guest(guest, tmp_path)
    assert answer["unreached"]
    found = Capture(answer["dest"])
    assert found.manifest["coverage"]["guest vm-001"]["refused"] == {"": "unreachable"}
    assert not found.is_read("guest vm-001")


def test_a_command_that_hangs_is_ended_and_hides_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(shell, "GUEST", replace(shell.GUEST, limit=("timeout", "-k", "1", "1")))
    monkeypatch.setattr(guest_capture_info.ActionModule, "KIND", shell.GUEST)
    linux = LinuxHost(tmp_path / "linux", {}, {"uname -r": "6.8.0-45-generic"})
    hanging = tmp_path / "linux" / "bin" / "nvidia-smi"
    hanging.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    hanging.chmod(0o755)
    answer = on_guest(linux, tmp_path)
    assert answer["refused"]["guest vm-001/002-nvidia-smi-q-x"] == {"": "timed_out"}
    assert Capture(answer["dest"]).is_read("guest vm-001/001-uname-r")


CANARY = "canary{:05}x"


def planted_in(text, planted):
    """The text with lines that name the site after each line, and a name at the end of each line."""
    if text.lstrip().startswith("["):
        return json.dumps([{**one, "ifalias": mark(planted), mark(planted): "10.77.1.9"} for one in json.loads(text)])
    if text.lstrip().startswith("<?xml"):
        return re.sub(
            r"<(process_name|serial|uuid|[a-z_]+_mode)>[^<]*<", lambda one: f"<{one[1]}>{mark(planted)}<", text
        )
    lines = []
    for line in text.split("\n"):
        lines += [
            f"{line} {mark(planted)}",
            f"  VM Name : {mark(planted)} of finance",
            f"\t[SN] Serial number: {mark(planted)}",
        ]
        lines += [f"   {mark(planted)} 10.77.1.9:22 0c42.a1be.0042 0c:42:a1:be:00:42 to-finance", "password hunter2"]
    return "\n".join(lines)


def mark(planted):
    planted.append(CANARY.format(len(planted)))
    return planted[-1]


LEAKS = re.compile(r".*(?:canary|hunter|10\.77\.|0c42\.a1be|0c:42:a1:be|finance).*")


def plant(monkeypatch, planted):
    read = shell.read

    def raw(kind, run, *given):
        found = read(kind, run, *given)
        for one in found.outputs:
            one.text = planted_in(one.text, planted) if one.answered else ""
        return found

    monkeypatch.setattr(shell, "read", raw)


def test_planted_texts_of_a_guest_are_nowhere_in_the_capture(guest, tmp_path, monkeypatch):
    planted = []
    plant(monkeypatch, planted)
    answer = on_guest(guest, tmp_path)
    assert len(planted) > 300
    assert LEAKS.findall(everything(answer)) == []
    assert "hunter" not in Path(answer["secret"]).read_text()


def test_planted_texts_of_a_host_are_nowhere_in_the_capture(host, tmp_path, monkeypatch):
    running, found, _ran, _software = host
    planted = []
    plant(monkeypatch, planted)
    answer = on_host(running, tmp_path)
    assert len(planted) > 100
    text = everything(answer)
    assert LEAKS.findall(text) == []
    assert HOST not in text
    assert [vm.name for vm in found.vms.values() if vm.name in text] == []


def test_a_guest_itself_ends_an_output_that_is_too_large(tmp_path, monkeypatch):
    received, run = [], commands.Remote.run_limited

    def noted(self, words, most):
        received.append(run(self, words, most))
        return received[-1]

    monkeypatch.setattr(commands.Remote, "run_limited", noted)
    monkeypatch.setattr(shell, "LARGEST", 4000)
    linux = LinuxHost(tmp_path / "linux", {}, {"uname -r": "6.8.0-45-generic"})
    endless = tmp_path / "linux" / "bin" / "nvidia-smi"
    endless.write_text("#!/bin/sh\nwhile :; do echo 0123456789; done\n")
    endless.chmod(0o755)
    answer = on_guest(linux, tmp_path)
    assert answer["refused"]["guest vm-001/002-nvidia-smi-q-x"] == {"": "too_large"}
    assert max(len(one.stdout) for one in received) < 4000 + 100
    assert Capture(answer["dest"]).is_read("guest vm-001/001-uname-r")


def test_hostile_output_is_bounded_and_has_no_control_characters(tmp_path):
    tools = {"uname -r": "6.8.0\x1b[2J\x07-generic " + "x" * 5000, "nvidia-smi topo -m": "GPU0\x1b]0;title\x07\x00\x9b"}
    answer = on_guest(LinuxHost(tmp_path / "linux", {}, tools), tmp_path)
    texts = [text.decode() for text in Capture(answer["dest"]).files.values()]
    assert [text for text in texts if not all(sign.isprintable() or sign in "\n\t" for sign in text)] == []
    (kernel,) = [text for name, text in Capture(answer["dest"]).files.items() if name.endswith("-uname-r.txt")]
    assert len(kernel) < 5000
