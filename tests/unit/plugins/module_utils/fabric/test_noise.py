# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Captures that are cut, mixed up or full of terminal noise: never a crash, never an empty result without a word."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known, platform_of

SAMPLES = Path(__file__).parent / "samples"
FOLDERS = {"enterprise_sonic": "sonic"}
CAPTURES = [(name, path) for name in known() for path in sorted((SAMPLES / FOLDERS.get(name, name)).iterdir())]
NOISE = (
    " --More-- ",
    "--More--\r          \r",
    "\x1b[7m--More--\x1b[27m",
    "lines 1-23 (END)",
    "% Invalid input detected at '^' marker.",
    "switch#",
    "switch# show clock",
    "*** Authorized users only ***",
    "{",
    "]",
    "\x00",
)


def mangled(text, seed):
    """The text with a few things that happen to captures, the same ones for each seed."""
    chance = random.Random(seed)
    for _time in range(3):
        lines = text.split("\n")
        place = chance.randrange(len(lines) + 1)
        text = chance.choice(
            [
                "\n".join([*lines[:place], chance.choice(NOISE), *lines[place:]]),
                "\n".join(lines[:place]),
                "\n".join(lines[place:]),
                "\r\n".join(lines),
                "\n".join(line for line in lines if chance.random() > 0.2),
                re.sub(r"\d+", lambda one: chance.choice([one.group(), "-", "x", "1.2|"]), text),
                "".join(sign if chance.random() > 0.01 else chance.choice("{}[]:|#>$ %\t") for sign in text),
                re.sub(r" {2,}", " ", text),
            ]
        )
    return text


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name, path", CAPTURES, ids=[f"{name}-{path.name}" for name, path in CAPTURES])
def test_noise_is_never_a_crash_and_never_silent(name, path, seed):
    platform, text = platform_of(name, None), mangled(path.read_text(encoding="utf-8"), f"{path.name}{seed}")
    for outputs in (text, {platform.commands[seed % len(platform.commands)]: text}):
        assert said(platform, outputs) != []


def said(platform, outputs):
    """What is reported of a capture, or the code of the refusal of one that nobody knows."""
    try:
        reported = offline.parsed(platform, outputs)
    except OperatorError as error:
        return [error.code]
    keys = ("ports", "unread", "hostname", "version", "model", "exceptions")
    return [key for key in keys if reported[key]] + (["unsaved"] if reported["unsaved"] is not None else [])


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("eos", "priority-flow-control pause watchdog default timeout 1.2|\ninterface Ethernet1\n   mtu 9214\n", None),
        ("eos", "priority-flow-control pause watchdog default timeout 1.5\ninterface Ethernet1\n   mtu 9214\n", 1500),
    ],
)
def test_a_time_that_is_no_number_is_not_known(name, text, expected):
    (port,) = offline.parsed(platform_of(name, None), text)["ports"].values()
    assert (port["watchdog_detection_ms"], port["mtu"]) == (expected, 9214)


@pytest.mark.parametrize(
    "name, text, port",
    [
        ("nxos", "Port Mode Oper(VL bmap) RxPPP TxPPP\nEthernet1/1 On On (zz) 1 2\n", "Ethernet1/1"),
        (
            "enterprise_sonic",
            "qos scheduler-policy p\n queue x\n  type dwrr\ninterface Eth1/1\n scheduler-policy p\n",
            "Eth1/1",
        ),
    ],
)
def test_words_in_place_of_numbers_leave_the_port(name, text, port):
    assert list(offline.parsed(platform_of(name, None), text)["ports"]) == [port]


def test_a_joined_command_of_sonic_that_printed_nothing_is_unread():
    from_shell = "@ show version\nSONiC Software Version: SONiC.202405\n@ show lldp table\n@ show pfc priority\n\n"
    switch = platform_of("sonic", None).parse({"echo '@ show version'; show version": from_shell})
    assert switch.version == "202405"
    assert [sentence.partition("`. ")[0] for sentence in switch.unread] == [
        "Cannot read `show lldp table",
        "Cannot read `show pfc priority",
    ]
