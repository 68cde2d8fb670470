"""SOAP input: object, method and arguments. Envelopes of the output."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import escape

from pyVmomi import VmomiSupport, vmodl
from pyVmomi.SoapAdapter import (
    NS_SEP,
    XMLNS_SOAPENV,
    ExpatDeserializerNSHandlers,
    GetHandlers,
    SetHandlers,
    SoapDeserializer,
)

from ..model.sso import SAML, Rejected, span_of
from . import serialiser, types

# By service: methods of the API and those that clients call beside it. Each service has its own address.
NAMESPACES = {
    types.SERVICE_NAMESPACE: ("urn:vim25", "urn:internalvim25", "urn:reflect"),
    types.POLICY_SERVICE: ("urn:pbm",),
    types.DISK_SERVICE: ("urn:vslm",),
}
WSSE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"

BODY = f"{XMLNS_SOAPENV}{NS_SEP}Body"
SESSION_HEADER = "vcSessionCookie"
_COOKIE = re.compile(r'vmware_soap_session="?([^";,\s]+)"?')
_ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope'
    ' xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"'
    ' xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n<soapenv:Body>\n'
)
_END = "\n</soapenv:Body>\n</soapenv:Envelope>"


@dataclass
class Request:
    """One call as the client sent it."""

    method: str
    this: VmomiSupport.ManagedObject
    arguments: dict
    session: str | None = None  # the key in the header, by which services beside the API know a session


@dataclass
class Written:
    """A result that is XML already, in parts: returnval elements or nothing."""

    parts: list


class _Arguments(VmomiSupport.DataObject):
    """`_this` and the parameters of a call; omitted ones are None or empty."""

    def __init__(self):
        for info in self._propList:
            value = info.type() if issubclass(info.type, list) else None
            object.__setattr__(self, info.name, value)


class _Refused(ValueError):
    """A request that is none of this service; its text says why."""


class _RequestReader(ExpatDeserializerNSHandlers):
    """Reads the envelope and leaves the body to pyVmomi's own deserialiser."""

    def __init__(self, namespaces):
        super().__init__()
        self.method = None
        self.session = None
        self.inner = SoapDeserializer()
        self._namespaces = namespaces
        self._in_body = self._in_session = False

    def read(self, data):
        self.parser = expat.ParserCreate(namespace_separator=NS_SEP)
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = _declares
        SetHandlers(self.parser, GetHandlers(self))
        self.parser.Parse(data, True)
        return self.inner.result

    def StartElementHandler(self, tag, attr):
        if self._in_body and self.method is None:
            namespace, _separator, self.method = tag.rpartition(NS_SEP)
            if namespace not in self._namespaces:
                raise _Refused(f"the namespace {namespace!r} is not known here")
            try:
                arguments = _arguments_type(self.method)
            except ValueError as problem:
                raise _Refused(str(problem).rstrip(".")) from problem
            self.inner.Deserialize(self.parser, arguments, nsMap=self.nsMap)
            self.inner.StartElementHandler(tag, attr)
        elif tag == BODY:
            self._in_body = True
        self._in_session = not self._in_body and tag.rpartition(NS_SEP)[2] == SESSION_HEADER

    def EndElementHandler(self, tag):
        self._in_session = False

    def CharacterDataHandler(self, data):
        if self._in_session:
            self.session = (self.session or "") + data


@functools.lru_cache(maxsize=None)
def _arguments_type(method):
    info = types.method_of(method)
    this = VmomiSupport.Object(
        name="_this", type=VmomiSupport.ManagedObject, version=VmomiSupport.BASE_VERSION, flags=0
    )
    fields = [this, *info.params]
    return type(
        f"{method}RequestType",
        (_Arguments,),
        {"_wsdlName": f"{method}RequestType", "_propList": fields, "_propInfo": {one.name: one for one in fields}},
    )


def read_request(data, service=types.SERVICE_NAMESPACE):
    """Return the call in a SOAP envelope; vmodl.fault.InvalidRequest if there is no valid one for this service."""
    reader = _RequestReader(NAMESPACES[service])
    try:
        values = reader.read(data)
    except (expat.ExpatError, TypeError, KeyError, AttributeError, ValueError) as problem:
        what = f"The request for {reader.method or 'no method'} cannot be read"
        raise _unreadable(f"{what}: {_reason(problem, reader.parser)}.") from problem
    if values is None or values._this is None:
        raise _unreadable("The request names no method, or no object for it.")
    arguments = {}
    for info in types.method_of(reader.method).params:
        value = getattr(values, info.name)
        if value is None or isinstance(value, list) and not value:
            if not info.flags & VmomiSupport.F_OPTIONAL and not isinstance(value, list):
                raise _unreadable(f"The required parameter {info.name} of {reader.method} is missing.")
            continue
        arguments[info.name] = value
    return Request(reader.method, values._this, arguments, (reader.session or "").strip(' "') or None)


def _declares(*_declaration):
    # A SOAP message has no document type (SOAP 1.1, 3).
    raise _Refused("it declares a document type or entities")


def _reason(problem, parser):
    """Why a message cannot be read, without the words of Python for a value that does not fit its field."""
    if isinstance(problem, (expat.ExpatError, _Refused)):
        return str(problem)
    name = str(getattr(problem, "name", None) or problem).strip("'")
    named = f" {name}" if re.fullmatch(r"[\w.:-]{1,80}", name) else ""
    place = f"line {parser.CurrentLineNumber}, column {parser.CurrentColumnNumber}"
    return f"the element or the value{named} at {place} does not fit the API"


def _unreadable(text):
    return vmodl.fault.InvalidRequest(msg=text)


def answer(method, value, version):
    """The envelope with a method's result, which may be written already."""
    out = [_ENVELOPE, f"<{method}Response{serialiser.namespaces(version)}>"]
    if isinstance(value, Written):
        out += value.parts
    else:
        serialiser.write_result(out, "returnval", value, types.method_of(method).result, version)
    out += [f"</{method}Response>", _END]
    return "".join(out).encode()


def fault_answer(fault, version):
    """The envelope with a fault: in the detail without the wrapper that faults have elsewhere."""
    name = type(fault)._wsdlName
    out = [
        _ENVELOPE,
        "<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>",
        escape(fault.msg or ""),
        "</faultstring><detail>",
    ]
    serialiser.write_bare_fault(out, f"{name}Fault", fault, version)
    out += ["</detail></soapenv:Fault>", _END]
    return "".join(out).encode()


def security_token(data):
    """The SAML assertion in the WS-Security header of a message, or nothing."""
    try:
        header = span_of(data, f"{WSSE} Security")
        token = span_of(header.raw, f"{SAML} Assertion") if header else None
    except Rejected as problem:
        raise _unreadable(str(problem)) from problem
    return token.raw if token else b""


def session_cookie(header):
    """The session key in a Cookie header, or None."""
    found = _COOKIE.search(header or "")
    return found.group(1) if found else None


def client_version(soap_action, newest):
    """Return the version of a client; an unknown one, a newer one or none counts as the server's own."""
    asked = types.version_of((soap_action or "").strip('"').rpartition("/")[2], types.service_of(newest))
    if asked is None or not types.knows(newest, asked):
        return newest
    return asked
