"""vCenter Single Sign-On: domains, SAML 2.0 bearer assertions that it signs, and what it accepts of them."""

from __future__ import annotations

import base64
import datetime
import hashlib
import secrets
import uuid
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from . import accounts

BEARER_S = 300  # GOVC session.login: a bearer token lives for at most 5 minutes, unless it is renewed
LARGEST = 1 << 20  # bytes of a message; the twin's own limit
DEEPEST = 100
SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
DSIG = "http://www.w3.org/2000/09/xmldsig#"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"


class Rejected(Exception):
    """The reason why a token or a request is not accepted. vCenter shows clients none of it."""


@dataclass(frozen=True)
class Span:
    """An element as it is written: its bytes, and the elements inside as (path of names, attributes, text)."""

    raw: bytes
    parts: list = field(default_factory=list)

    def texts(self, *path):
        return [text.strip() for names, _attributes, text in self.parts if names == path]

    def attributes(self, *path):
        return next((attributes for names, attributes, _text in self.parts if names == path), {})


class Sso:
    """The identity service of one vCenter."""

    def __init__(self, world):
        self._world = world
        self.federated = set()  # domains of an external identity provider
        self.issuer = "https://localhost/websso/SAML2/Metadata/vsphere.local"
        self._key = None

    @property
    def key(self):
        """The key that signs, made at its first use."""
        if self._key is None:
            self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        return self._key

    def blocks_password(self, user):
        """Return whether only a token opens a session for a user: a federated one, from vCenter 9.0.

        PSN90 in words; that SOAP, REST and STS answer as to a wrong password, and 9.1 too [unsure: derived].
        """
        domain = (user or "").partition("@")[2].casefold()
        return self._world.release.at_least(9, 0, 0) and domain in {one.casefold() for one in self.federated}

    def authenticated(self, name, password):
        """Return the user of a name and a password, or None."""
        user = accounts.account(self._world, name)
        known = self._world.users.get(user)
        if known is None or not secrets.compare_digest(known.encode(), (password or "").encode()):
            return None
        return None if self.blocks_password(user) else user

    def issue(self, user, *, begins=None, lifetime_s=BEARER_S, audience=None, issuer=None, key=None):
        """A signed bearer assertion of a user; the options are for tokens that are not accepted."""
        begins = begins or datetime.datetime.now(datetime.timezone.utc)
        own_id, ends = f"_{uuid.uuid4()}", begins + datetime.timedelta(seconds=lifetime_s)
        restriction = (
            f"<saml2:AudienceRestriction><saml2:Audience>{escape(audience)}</saml2:Audience></saml2:AudienceRestriction>"
            if audience
            else ""
        )
        head = (
            f'<saml2:Assertion xmlns:saml2="{SAML}" ID="{own_id}" IssueInstant="{stamp(begins)}" Version="2.0">'
            f'<saml2:Issuer Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity">{escape(issuer or self.issuer)}'
            "</saml2:Issuer>"
        )
        tail = (
            '<saml2:Subject><saml2:NameID Format="http://schemas.xmlsoap.org/claims/UPN">'
            f"{escape(_upn(user))}</saml2:NameID>"
            f'<saml2:SubjectConfirmation Method="{BEARER}"><saml2:SubjectConfirmationData NotOnOrAfter="{stamp(ends)}">'
            "</saml2:SubjectConfirmationData></saml2:SubjectConfirmation></saml2:Subject>"
            f'<saml2:Conditions NotBefore="{stamp(begins)}" NotOnOrAfter="{stamp(ends)}">{restriction}'
            '<saml2:ProxyRestriction Count="10"></saml2:ProxyRestriction></saml2:Conditions>'
            f'<saml2:AuthnStatement AuthnInstant="{stamp(begins)}"><saml2:AuthnContext><saml2:AuthnContextClassRef>'
            "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml2:AuthnContextClassRef>"
            "</saml2:AuthnContext></saml2:AuthnStatement></saml2:Assertion>"
        )
        return head + _signature(own_id, head + tail, key or self.key) + tail

    def user_of(self, text):
        """The user of an assertion that is accepted; Rejected otherwise."""
        element = span_of(text, f"{SAML} Assertion")
        if element is None:
            raise Rejected("There is no SAML 2.0 assertion.")
        self._check_signature(element)
        # SAML core 2.5.1: the conditions. No tolerance for clocks that differ: the twin has one clock.
        now = datetime.datetime.now(datetime.timezone.utc)
        conditions = element.attributes(f"{SAML} Conditions")
        if not _moment(conditions.get("NotBefore")) <= now < _moment(conditions.get("NotOnOrAfter")):
            raise Rejected("The token is not valid at this time.")
        audiences = element.texts(f"{SAML} Conditions", f"{SAML} AudienceRestriction", f"{SAML} Audience")
        if audiences and self.issuer not in audiences:
            # That vCenter expects its own entity here [unsure: SAML core 2.5.1.4 in general].
            raise Rejected("The token is for another audience.")
        if element.texts(f"{SAML} Issuer") != [self.issuer]:
            raise Rejected("The token has another issuer.")
        confirmation = element.attributes(f"{SAML} Subject", f"{SAML} SubjectConfirmation")
        if confirmation.get("Method") != BEARER:
            raise Rejected("The token is no bearer token.")
        names = element.texts(f"{SAML} Subject", f"{SAML} NameID")
        user = accounts.account(self._world, names[0]) if len(names) == 1 else None
        if user is None:
            raise Rejected("The token has no user of this vCenter.")
        return user

    def _check_signature(self, element):
        """Of all that an XML signature can be, what the STS writes: one enveloped reference to the assertion."""
        signature = f"{DSIG} Signature"
        signed, reference = (signature, f"{DSIG} SignedInfo"), (signature, f"{DSIG} SignedInfo", f"{DSIG} Reference")
        own_id = element.attributes().get("ID")
        if not own_id or element.attributes(*reference).get("URI") != f"#{own_id}":
            raise Rejected("The token is not signed.")
        content = ElementTree.canonicalize(element.raw.decode(), exclude_tags=[f"{{{DSIG}}}Signature"])
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        if element.texts(*reference, f"{DSIG} DigestValue") != [digest]:
            raise Rejected("The token was changed.")
        value = element.texts(signature, f"{DSIG} SignatureValue")
        info = span_of(element.raw, f"{DSIG} SignedInfo", declare=DSIG)
        try:
            self.key.public_key().verify(
                base64.b64decode("".join(value)),
                ElementTree.canonicalize(info.raw.decode()).encode(),
                padding.PKCS1v15(),
                hashes.SHA256(),
            )
        except (InvalidSignature, ValueError, AttributeError):
            raise Rejected(f"The signature is wrong ({len(element.texts(*signed))} of them).") from None


def span_of(data, name, declare=None):
    """The first element with a name ("namespace local"), or None; Rejected for XML with a DTD, too large or too deep.

    declare: a namespace that the element gets as its own `ds`, because an ancestor declares it.
    """
    data = data.encode() if isinstance(data, str) else data
    if len(data) > LARGEST:
        raise Rejected("The message is too large.")
    walk = _Walk(name)
    try:
        walk.parser.Parse(data, True)
    except expat.ExpatError as problem:
        raise Rejected(f"The message is not XML: {problem}.") from problem
    if walk.begins is None:
        return None
    raw = data[walk.begins : data.index(b">", walk.ends) + 1]
    if declare and b"xmlns:ds=" not in raw.partition(b">")[0]:
        raw = raw.replace(b"<ds:SignedInfo", f'<ds:SignedInfo xmlns:ds="{declare}"'.encode(), 1)
    return Span(raw, walk.parts)


class _Walk:
    def __init__(self, name):
        self.begins = self.ends = None
        self.parts = []
        self._name = name
        self._path = []
        self._open = []
        self._depth = 0
        self.parser = expat.ParserCreate("UTF-8", " ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = _refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _start(self, tag, attributes):
        self._depth += 1
        if self._depth > DEEPEST:
            raise Rejected("The message is nested too deep.")
        if self._path:
            self._path.append(tag)
        elif tag == self._name and self.begins is None:
            self.begins = self.parser.CurrentByteIndex
            self._path = [tag]
        if self._path:
            part = [tuple(self._path[1:]), attributes, ""]
            self.parts.append(part)
            self._open.append(part)

    def _end(self, _tag):
        self._depth -= 1
        if self._path:
            self._open.pop()
            self._path.pop()
            if not self._path:
                self.ends = self.parser.CurrentByteIndex

    def _text(self, text):
        if self._open:
            self._open[-1][2] += text


def _refuse(*_declaration):
    raise Rejected("The message declares a document type or entities.")


def _signature(own_id, content, key):
    digest = base64.b64encode(hashlib.sha256(ElementTree.canonicalize(content).encode()).digest()).decode()
    info = (
        f'<ds:SignedInfo xmlns:ds="{DSIG}"><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}">'
        "</ds:CanonicalizationMethod>"
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></ds:SignatureMethod>'
        f"<ds:Reference URI={quoteattr('#' + own_id)}><ds:Transforms>"
        f'<ds:Transform Algorithm="{DSIG}enveloped-signature"></ds:Transform>'
        f'<ds:Transform Algorithm="{EXCLUSIVE}"></ds:Transform></ds:Transforms>'
        '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>'
        f"<ds:DigestValue>{digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>"
    )
    value = key.sign(ElementTree.canonicalize(info).encode(), padding.PKCS1v15(), hashes.SHA256())
    inside = info.replace(f' xmlns:ds="{DSIG}"', "", 1)
    return (
        f'<ds:Signature xmlns:ds="{DSIG}">{inside}<ds:SignatureValue>{base64.b64encode(value).decode()}'
        "</ds:SignatureValue></ds:Signature>"
    )


def stamp(moment):
    """2026-11-28T13:00:00.000Z, as the STS writes times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _moment(text):
    try:
        return datetime.datetime.strptime(text or "", "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        raise Rejected("The token has no time.") from None


def _upn(user):
    """Administrator@VSPHERE.LOCAL, as the STS writes names."""
    name, at, domain = user.partition("@")
    return f"{accounts.BUILT_IN.get(name.casefold(), name)}{at}{domain.upper()}"
