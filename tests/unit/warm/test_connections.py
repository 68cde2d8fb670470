"""Errors of switches are found as Ansible's own patterns find them."""

from __future__ import annotations

import pytest
from ansible_collections.cisco.nxos.plugins.terminal.nxos import TerminalModule

from warm.connections import bounded

SLOW = [one for one in TerminalModule.terminal_stderr_re if bounded(one) is not one]


def test_only_patterns_of_whole_lines_are_changed():
    assert [one.pattern for one in SLOW] == [
        b"(.+)please specify sequence number",
        b"(.+sufficient free entries are not available in tcam bank.*)",
    ]
    assert [bounded(one).pattern for one in SLOW] == [
        b"(.)please specify sequence number",
        b"(.sufficient free entries are not available in tcam bank.*)",
    ]


@pytest.mark.parametrize("pattern", SLOW, ids=str)
@pytest.mark.parametrize(
    "words", ["please specify sequence number", "sufficient free entries are not available in tcam bank"]
)
@pytest.mark.parametrize("before", ["", "\n", "a", " ", "ERROR: ", "in\n", "one\r\nERROR: "])
@pytest.mark.parametrize("after", ["", " 1", "\r\nleaf-02# "])
def test_an_error_is_found_as_before(pattern, words, before, after):
    for text in (words, words.title(), words[1:]):
        response = f"{before}{text}{after}".encode()
        assert (bounded(pattern).search(response) is None) == (pattern.search(response) is None)
