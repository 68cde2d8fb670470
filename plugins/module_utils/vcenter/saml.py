# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A SAML 2.0 bearer assertion: read it from a file, reject what is none, and find out why vCenter refused it."""

from __future__ import annotations

import base64
import datetime
import gzip
import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from xml.parsers import expat

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

# An assertion with hundreds of groups has some 40 KiB.
LARGEST = 256 << 10
_DEEPEST = 64
_SAML = "urn:oasis:names:tc:SAML:2.0:assertion "
_ASSERTION, _SIGNATURE = f"{_SAML}Assertion", "http://www.w3.org/2000/09/xmldsig# Signature"
_BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_TEXTS = (["Issuer"], ["Subject", "NameID"], ["Conditions", "AudienceRestriction", "Audience"])
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z?\Z")
_WANTED = "cannot use the SAML token"
_ISSUE = "Issue a new token at the STS of vCenter, such as with `govc session.login -issue`, and write it there"


@dataclass(frozen=True)
class Assertion:
    """The assertion as text, and the parts of it that explain a refusal."""

    source: str
    # Never shown.
    xml: str = field(repr=False)
    user: str = ""
    issuer: str = ""
    audiences: tuple[str, ...] = ()
    not_before: datetime.datetime | None = None
    not_on_or_after: datetime.datetime | None = None
    signed: bool = False

    @property
    def identity(self) -> str:
        """Return a name for this one token, which does not reveal it."""
        return hashlib.sha256(self.xml.encode("utf-8")).hexdigest()

    @property
    def authorization(self) -> str:
        """Return the header for POST /api/session: gzip, then base64 (govmomi, sts.Signer.SignRequest)."""
        packed = base64.b64encode(gzip.compress(self.xml.encode("utf-8"))).decode("ascii")
        return f'SIGN token="{packed}"'

    def refused(self, server: str, said: str, now: datetime.datetime | None = None) -> OperatorError:
        """Return the error for a login that the server refused: it does not state the reason, the token does."""
        now = now or datetime.datetime.now(datetime.timezone.utc)
        wanted = f"cannot log in with the SAML token of {self.user or 'an unnamed user'}"
        if self.not_on_or_after is not None and now >= self.not_on_or_after:
            return OperatorError(
                server,
                wanted,
                f"The token expired at {_stamp(self.not_on_or_after)}, and it is {_stamp(now)} here ({said})",
                f"{_ISSUE} ({self.source}); vCenter issues bearer tokens for at most 5 minutes",
                "saml_token_expired",
            )
        if self.not_before is not None and now < self.not_before:
            return OperatorError(
                server,
                wanted,
                f"The token is valid from {_stamp(self.not_before)}, and it is {_stamp(now)} here ({said})",
                "Synchronise the clocks of this machine, of vCenter and of the issuer, or wait",
                "saml_token_not_yet_valid",
            )
        named = f"issuer {self.issuer or 'none'}, audience {', '.join(self.audiences) or 'not restricted'}"
        signature = "" if self.signed else " It has no signature."
        return OperatorError(
            server,
            wanted,
            f"{said}. The token is within its lifetime, so vCenter does not trust its issuer, its signature or its "
            f"audience, or does not know the user ({named}).{signature}",
            f"Issue the token at the STS of this vCenter, without changes to its text ({self.source}), and check that "
            "the user has a role in this vCenter",
            "saml_token_rejected",
        )


def read(path: str) -> Assertion:
    """Return the assertion in a file that only its owner can read."""
    path = os.path.expanduser(path)
    try:
        # Without waiting for the other end of a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            _demand_private(path, found)
            raw = file.read(LARGEST + 1)
    except OSError as error:
        # A list of findings shows no subject.
        todo = f"{_ISSUE} ({path})"
        raise OperatorError(
            path, "cannot read the SAML token", str(error.strerror or error), todo, "saml_token_unreadable"
        ) from error
    return parsed(raw, path)


def parsed(raw: bytes, source: str) -> Assertion:
    """Return the assertion in a text; source is its file or variable."""
    if len(raw) > LARGEST:
        raise _invalid(source, f"It has more than {LARGEST} bytes")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(source, "It is not UTF-8 text") from error
    reader = _Reader()
    try:
        reader.read(raw)
    except (expat.ExpatError, ValueError) as error:
        raise _invalid(source, f"It is not a SAML 2.0 assertion ({error})") from error
    if not reader.text("NameID"):
        raise _invalid(source, "It is not a SAML 2.0 assertion of a user (its Subject has no NameID)")
    confirmations = reader.confirmations
    if confirmations and _BEARER not in confirmations:
        raise _invalid(source, f"It is no bearer token ({', '.join(sorted(confirmations))})")
    return Assertion(
        source=source,
        xml=raw[reader.begins : reader.ends].decode("utf-8"),
        user=reader.text("NameID"),
        issuer=reader.text("Issuer"),
        audiences=tuple(text.strip() for text in reader.texts.get("Audience", ())),
        not_before=_time(reader.conditions.get("NotBefore")),
        not_on_or_after=_time(reader.conditions.get("NotOnOrAfter")),
        signed=reader.signed,
    )


class _Reader:
    """Parse without a DTD: entities could read files or grow without bounds, and an assertion needs none."""

    def __init__(self) -> None:
        self.begins = self.ends = 0
        self.signed = False
        self.conditions: dict[str, str] = {}
        self.confirmations: set[str] = set()
        self.texts: dict[str, list[str]] = {}
        self._raw = b""
        self._path: list[str] = []
        self._parser = expat.ParserCreate("UTF-8", " ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = _refuse
        self._parser.EntityDeclHandler = _refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def read(self, raw: bytes) -> None:
        self._raw = raw
        self._parser.Parse(raw, True)

    def text(self, name: str) -> str:
        return "".join(self.texts.get(name, [])[:1]).strip()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path:
            if tag != _ASSERTION:
                raise ValueError(f"its root element is {tag.rpartition(' ')[2][:60]}, not Assertion of SAML 2.0")
            self.begins = self._parser.CurrentByteIndex
        if len(self._path) >= _DEEPEST:
            raise ValueError("its elements are nested too deep")
        self._path.append(tag)
        inside = self._inside()
        if inside == ["Conditions"]:
            self.conditions = attributes
        elif inside == ["Subject", "SubjectConfirmation"]:
            self.confirmations.add(attributes.get("Method", ""))
        elif inside in _TEXTS:
            self.texts.setdefault(inside[-1], []).append("")
        self.signed = self.signed or self._path[1:] == [_SIGNATURE]

    def _end(self, _tag: str) -> None:
        self._path.pop()
        if not self._path:
            self.ends = self._raw.index(b">", self._parser.CurrentByteIndex) + 1

    def _characters(self, text: str) -> None:
        inside = self._inside()
        if inside in _TEXTS:
            self.texts[inside[-1]][-1] += text

    def _inside(self) -> list[str]:
        """The names of the open elements below the root; empty ones for those of other namespaces."""
        return [one.partition(_SAML)[2] for one in self._path[1:]]


def _refuse(*_declaration: object) -> None:
    raise ValueError("it declares a document type or entities")


def _demand_private(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        problem = "It is not a regular file"
    elif stat.S_IMODE(found.st_mode) & 0o077:
        problem = f"Other users can access it (its mode is {stat.S_IMODE(found.st_mode):04o})"
    else:
        return
    raise OperatorError(
        path, _WANTED, problem, f"Run `chmod 0600 {path}`, and issue a new token", "saml_token_file_mode"
    )


def _invalid(source: str, why: str) -> OperatorError:
    return OperatorError(source, _WANTED, why, f"{_ISSUE} ({source})", "saml_token_invalid")


def _time(text: str | None) -> datetime.datetime | None:
    found = _TIME.match(text or "")
    if found is None:
        return None
    try:
        moment = datetime.datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return None
    return moment.replace(tzinfo=datetime.timezone.utc)


def _stamp(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
