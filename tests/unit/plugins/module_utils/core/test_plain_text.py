"""What guests, switches and BMCs return never acts on the terminal of the operator."""

from __future__ import annotations

import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import measurement
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import findings
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import BLOCKS, Finding
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import commands
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import progress, watch

HOSTILE = "job-01\x1b]0;title\x07\x1b[2J\x9b31m\x00\r\x7f\u202e\ud800"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")


class Display:
    def __init__(self):
        self.written = []

    def display(self, text, **_how):
        self.written.append(text)

    warning = display


def of_module(display):
    error = OperatorError(HOSTILE, HOSTILE, HOSTILE, HOSTILE, "x", host=HOSTILE, lines=[HOSTILE], of={HOSTILE: HOSTILE})
    display.display(f"{error} {error.message} {error.failure}")
    return error.failure["host"]


def of_measurement(display):
    display.display(measurement("guest.kernel", {}, why=HOSTILE)["why"])


def of_stages(display):
    watch.Watch(display, None).say(HOSTILE, next(iter(watch.COLOURS)))


def of_progress(display):
    progress.report(display, HOSTILE)


def of_action(display):
    module = commands.RemoteModule.__new__(commands.RemoteModule)
    module._display = display
    module.warn(HOSTILE)
    with pytest.raises(commands.Left) as left:
        module.fail_json(HOSTILE)
    display.display(left.value.answer["msg"])


def of_preflight(display):
    one = Finding("guests", HOSTILE, HOSTILE, BLOCKS, HOSTILE, HOSTILE, HOSTILE)
    plain = findings._plain(one)
    display.display("\n".join(findings.table([plain])) + findings.sentence({BLOCKS: 1}, [plain]))


@pytest.mark.parametrize("user", [of_module, of_measurement, of_stages, of_progress, of_action, of_preflight])
def test_no_control_character_reaches_the_terminal(monkeypatch, user):
    monkeypatch.setattr(findings, "STATES", (BLOCKS,))
    display = Display()
    user(display)
    assert display.written
    assert [text for text in display.written if ACTS.search(text)] == []
    assert "\\x1b]0;title\\x07" in display.written[0].replace("\\\\", "\\")


@pytest.mark.parametrize("text", ["line\n\tnext", "Grüße aus Köln", "温度 25 °C", "a\\x1b"])
def test_ordinary_text_stays_as_it_is(text):
    assert plain_text.shown(text) == text
    assert not plain_text.acts(text, lines=True)


def test_other_values_stay_what_they_are():
    assert plain_text.shown_all({"a": [1, None, True], "b": ("x", 2.5)}) == {"a": [1, None, True], "b": ("x", 2.5)}
