"""Whatever a hostile guest or rank sends in place of an output, its reader comes to an answer, in time."""

from __future__ import annotations

import json
import re
import time

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters

from .test_readers import READERS

WORDS = ("", "-1", "\u00b2", "9" * 400, "9" * 5000, "1e999", "nan", "1.2.3", "\x1b[2J", "{", "0x")
MARKS = (
    *(
        "NCCL INFO Channel 0 : ",
        "[1[1",
        "[",
        "{",
        "{\n",
        '{"a":',
        '{"a":1,\n',
        " ",
        "\t",
        "\n",
        " \n",
        "0 ",
        "x=",
        "- ",
    ),
    *("[1,0]<stdout>:", "CA ", "link ", "GPU ", "job-01:1:1 [0] NCCL INFO ", "Xid "),
)
DOCUMENTS = ('{"a": 1' + "0" * 5000 + "}", '{"a": 1e999}', '{"a": NaN}', "[" * 20000, '{"a":' * 4000)
MORE = {
    "rdma": (counters.rdma, "link mlx5_0/1 rx_write_requests 5\n"),
}
# So long is a text of a mark, in which patterns that take its square run away.
LONG, LIMIT_S = 10_000, 10
# Of each text, so many words are replaced.
MOST_WORDS = 12


def hostile(text):
    tokens = list(re.finditer(r"[^\s,\"=:\[\]{}|]+", text))
    for token in tokens[:: max(1, len(tokens) // MOST_WORDS)]:
        for word in WORDS:
            yield text[: token.start()] + word + text[token.end() :]
    for mark in MARKS:
        one = mark * (LONG // len(mark))
        yield from (text + one, one + text)
    yield from (text + one for one in DOCUMENTS)
    yield from DOCUMENTS


@pytest.mark.parametrize("name", [*READERS, *MORE])
def test_a_reader_comes_to_an_answer(name):
    read, text = {**READERS, **MORE}[name]
    for one in hostile(text):
        began = time.monotonic()
        found = read(one)
        assert json.dumps(found, allow_nan=False)
        # What was not understood says why.
        assert (found["understood"] is False) <= bool(found["why"])
        assert time.monotonic() - began < LIMIT_S
