"""A capture of a switch sends only the listed commands, keeps QoS values, and contains no text of the site."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import captured
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import as_data

from vsphere_twin.launch import launch

from . import drive_switch
from .rows.roce_qos import NAME, lab

PLATFORMS = ["cumulus", "enterprise_sonic", "eos", "nxos", "onyx", "os10", "sonic"]
DROPPED = ("hostname", "exceptions", "unread", "counted")


def values(platform, texts):
    """What the collection reads of outputs, without names of devices."""
    reported = as_data(platform.parse(texts))
    for port in reported["ports"].values():
        port["neighbours"] = len(port["neighbours"])
    return {key: one for key, one in reported.items() if key not in DROPPED}


def outputs(capture, own="switch-001"):
    about = json.loads(capture.files[f"switches/{own}/commands.json"])
    return {
        one["command"]: capture.files[f"switches/{own}/{one['file']}"].decode()
        for one in about["commands"]
        if one["file"]
    }


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_capture_keeps_what_the_collection_reads(platform, tmp_path, monkeypatch):
    raw, read = {}, captured.read

    def kept(*given):
        found = read(*given)
        raw.update(found.texts)
        return found

    monkeypatch.setattr(captured, "read", kept)
    with launch(lab(platform), faces=("switches",)) as twin:
        switch = twin.world.fabric.switches[NAME]
        answer = drive_switch.run(twin, NAME, "switch_capture_info", {"dest": str(tmp_path / "site.zip")})
        assert not answer["failed"], answer["msg"]
        lines = list(switch.lines)
    asked = platform_of(platform, None)
    ports = sorted(asked.parse(raw).ports)
    allowed = {*asked.reads([]), *asked.reads(ports), *asked.captured}
    assert set(raw) <= allowed
    allowed_text = "\n".join(sorted(allowed)).replace('"', "'")
    sent = [line.replace('"', "'") for line in lines if not PREPARES.match(line)]
    assert [line for line in sent if line not in allowed_text] == []
    assert values(asked, outputs(Capture(answer["dest"]))) == values(asked, raw)


# Lines by which the terminal plugins of Ansible prepare a session, and the programs of the shell that become uses.
PREPARES = re.compile(r"terminal |enable$|sonic-cli$|no cli |cli session|echo BECOME|sudo |$")


# The twin has no switch with Junos.
@pytest.mark.parametrize("platform", [*PLATFORMS, "junos"])
def test_the_page_lists_each_command(platform):
    page = (Path(__file__).parents[2] / "docs" / "capture_requests.md").read_text()
    asked = platform_of(platform, None)
    ports = ["Eth1/1"] if platform == "onyx" else []
    joined = [part for one in (*asked.reads(ports), *asked.captured) for part in parts(one)]
    assert [one for one in joined if f"`{one}`" not in page] == []


def parts(command):
    """The commands of a joined command, without the words of the shell."""
    found = [one.strip() for one in command.split(";")] if "2>/dev/null" in command else [command]
    plain = [one.replace("2>/dev/null", "").replace("|| true", "").strip() for one in found]
    return [
        one.replace("1/1", "PORTS").replace("|", "\\|") for one in plain if one != "true" and not one.startswith("echo")
    ]


# Models and releases are not replaced.
STAYS = []
CANARY = "canary{:05}x"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_planted_texts_are_nowhere_in_the_capture(platform, tmp_path, monkeypatch):
    planted, read = [], captured.read

    def plant(*given):
        found = read(*given)
        switch = platform_of(platform, None).parse(found.texts)
        STAYS[:] = [text for text in (switch.model, switch.version) if text]
        for command, text in found.texts.items():
            found.texts[command] = planted_in(text, planted)
        return found

    monkeypatch.setattr(captured, "read", plant)
    with launch(lab(platform), faces=("switches",)) as twin:
        answer = drive_switch.run(twin, NAME, "switch_capture_info", {"dest": str(tmp_path / "site.zip")})
    assert not answer["failed"], answer["msg"]
    assert len(planted) > 40
    capture = Capture(answer["dest"])
    everything = "\n".join(text.decode() + name for name, text in capture.files.items()) + json.dumps(capture.manifest)
    assert re.findall(r".*(?:canary|hunter|10\.77\.|0c42\.a1be\.0042|finance).*", everything) == []
    assert NAME not in everything
    assert "hunter" not in Path(answer["secret"]).read_text()


def planted_in(text, planted):
    """The text with a canary in each string of JSON, or with lines that name the site after each line."""
    try:
        data = json.loads(text)
    except ValueError:
        lines = []
        for line in text.split("\n"):
            planted.append(CANARY.format(len(planted)))
            lines += [line, f"   description {planted[-1]}", f" {planted[-1]} 10.77.1.9:22 0c42.a1be.0042 to-finance"]
            lines += [f"username {planted[-1]} password hunter2", f"{line} {planted[-1]}"]
        return "\n".join(lines)
    return json.dumps(planted_data(data, planted))


def planted_data(value, planted):
    if isinstance(value, dict):
        planted.append(CANARY.format(len(planted)))
        more = {planted[-1]: "10.77.1.9", "description": planted[-1], "password": "hunter2"}
        return {**{key: planted_data(one, planted) for key, one in value.items()}, **more}
    if isinstance(value, list):
        return [planted_data(one, planted) for one in value]
    if not isinstance(value, str) or any(text in value for text in STAYS):
        return value
    planted.append(CANARY.format(len(planted)))
    return f"{value} {planted[-1]}"
