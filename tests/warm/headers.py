"""Headers of HTTP are read line by line, and not with the parser of whole mails, which is a tenth of a test."""

from __future__ import annotations

import http.client
import io
import re
from typing import Any

USUAL = re.compile(rb"(?:[!-9;-~]+:[^\r\n]*\r\n)*\r\n")
# Those whose messages have parts, in the eyes of that parser.
PARTS = re.compile(rb"multipart/|message/", re.IGNORECASE)


def install() -> None:
    """Change how clients and servers of this process and of its forks read headers; unusual ones are Python's."""
    read, parse = http.client._read_headers, http.client.parse_headers  # type: ignore[attr-defined]

    def parse_headers(fp: Any, _class: Any = http.client.HTTPMessage) -> Any:
        whole = b"".join(read(fp))
        if not USUAL.fullmatch(whole) or PARTS.search(whole):
            return parse(io.BytesIO(whole), _class)
        message = _class()
        for line in whole.decode("iso-8859-1").split("\r\n")[:-2]:
            name, _colon, value = line.partition(":")
            message.set_raw(name, value.lstrip(" \t"))
        message.set_payload("")
        return message

    http.client.parse_headers = parse_headers
