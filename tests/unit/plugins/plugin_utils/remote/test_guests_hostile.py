"""Whatever a guest answers when it is looked at, asked or measured: it is read or refused, never a traceback."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import look, plan, result
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import look as pair_look
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import outcome
from ansible_collections.aiready.vsphere.plugins.plugin_utils.training import steps

from unit.plugins.module_utils.training.runs import LIMITS, guests, request
from unit.plugins.module_utils.validation.pairs.ends import request as pair_request

IMAGE = {"Id": "sha256:1", "RepoDigests": ["a@sha256:1"], "Config": {"Env": ["PATH=/usr/bin"]}, "Architecture": "amd64"}
WORDS = (
    *(
        "",
        "-",
        "--5",
        "-1",
        "\u00b2",
        "\u0663",
        "9" * 5000,
        "x" * 5000,
        "nan",
        "1e999",
        "\x1b[2J",
        "\u202e",
        "../..",
        "-x",
    ),
    *("::1%x", "10.0.112.11/99999", "/", "0000:0000:0000:0000:0000:ffff:zzzz:\u00b2", "[" * 3000, "{", "=", "bm8="),
)


def coded(value):
    return base64.b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).decode()


LOOK = f"""\
net lo 65536 up
net ens224 9000 up
addr ens224 10.0.112.11/24
gid mlx5_0 1 3 0000:0000:0000:0000:0000:ffff:0a00:700b ens224 RoCE_v2
down mlx5_1 1 down
rdma uverbs0
gpu GPU-1
engine Docker version 26.1.3
image {coded([IMAGE])}
left aiready-1 20260301-1 true 5
work ok
tool iperf3 iperf 3.16
"""
ANSWER = f"state true 0 false\nstatus 0\nsize 5\noutput {coded(b'hello')}\nroom 100\nsaid x\nready yes\n"
COUNTERS = "net ens224 100 200\nrdma mlx5_0/1 10 20\n"
SIDE = f"port 5201\nstatus 1 0\noutput 1 {coded(b'hello')}\nended\n"


def spoilt(text):
    """The same text with another word in the place of each word, and with each line left out or there twice."""
    lines = [line.split(" ") for line in text.splitlines()]
    for place, line in enumerate(lines):
        for at in range(len(line)):
            for word in WORDS:
                changed = [*line[:at], word, *line[at + 1 :]]
                yield "\n".join(" ".join(one) for one in [*lines[:place], changed, *lines[place + 1 :]])
        yield "\n".join(" ".join(one) for one in lines[:place] + lines[place + 1 :])
        yield "\n".join(" ".join(one) for one in [*lines, line, line])


def of_look(text):
    seen = look.parse("job-01", text)
    looks = {**guests(2), "job-01": seen}
    plan.plan(request(), looks, "20260301-081530-6ed2", LIMITS)


def of_pair(text):
    seen = pair_look.parse("job-01", text)
    guest = pair_request().guests[0]
    pair_look.end_of(guest, seen)
    pair_look.why_not(guest, seen)
    pair_look.processes(None, seen)


@pytest.mark.parametrize(
    "text, reader",
    [
        (LOOK, of_look),
        (LOOK, of_pair),
        (ANSWER, steps._answer),
        (COUNTERS, lambda text: result.traffic(result.counters(text), result.counters(COUNTERS))),
        (SIDE, outcome.side),
    ],
    ids=["look", "look of a pair", "answer", "counters", "side of a test"],
)
def test_nonsense_in_the_place_of_any_word(text, reader):
    reader(text)
    for one in spoilt(text):
        with contextlib.suppress(OperatorError):
            reader(one)


@pytest.mark.parametrize("value", [None, [], [[]], "x", 5, [None]])
def test_an_image_that_is_none(value):
    assert look._image(coded(value)) is None


@pytest.mark.parametrize("value", [{}, {"Config": []}, {"Config": {"Env": {"a": 1}}}, {"Config": {"Env": [1, None]}}])
def test_an_image_without_an_environment(value):
    assert look._image(coded([value]))["environment"] == {}


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe", b"{", b"NaN"])
def test_an_image_that_is_no_json(content):
    assert look._image(coded(content)) is None


def test_an_image_is_read():
    assert look._image(coded([IMAGE]))["environment"] == {"PATH": "/usr/bin"}


@pytest.mark.parametrize(
    "text, number",
    [("5", 5), (" -5 ", -5), ("\u0663", 3), ("\u00b2", None), ("--5", None), ("", None), ("9" * 21, None)],
)
def test_a_whole_number_of_another_machine(text, number):
    assert plain_text.whole(text) == number
