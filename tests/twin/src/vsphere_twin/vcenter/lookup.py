"""The lookup service at /lookupservice/sdk: the addresses of vCenter's services. Reading it needs no login."""

from __future__ import annotations

import urllib.parse
import uuid
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ..model.sso import Rejected, span_of

PATH = "/lookupservice/sdk"
LOOKUP = "urn:lookup"
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
SITE = "default-site"
CONTENT = {  # the managers by their fields: type and identifier (GOV, lookup/simulator)
    "lookupService": ("LookupLookupService", "lookupService"),
    "serviceRegistration": ("LookupServiceRegistration", "ServiceRegistration"),
    "deploymentInformationService": ("LookupDeploymentInformationService", "deploymentInformationService"),
    "l10n": ("LookupL10n", "l10n"),
}


@dataclass(frozen=True)
class Registration:
    """A service with its only endpoint."""

    product: str
    kind: str
    protocol: str
    endpoint: str
    path: str
    version: str = "2.0"


SSO, STS = "com.vmware.cis.cs.identity.sso", "/sts/STSService/vsphere.local"
# Products and types: GOV (lookup/simulator), and the samples of the vSphere Automation SDK for cs.vapi and sms.
REGISTRATIONS = (
    Registration("com.vmware.cis", "cs.identity", "wsTrust", SSO, STS),
    Registration("com.vmware.cis", "vcenterserver", "vmomi", "com.vmware.vim", "/sdk"),
    Registration("com.vmware.cis", "cs.vapi", "vapi.json.https.public", "com.vmware.vapi.endpoint", "/api"),
    Registration("com.vmware.vim.sms", "sms", "https", "com.vmware.vim.pbm", "/pbm"),
    # Of before, and PowerCLI still asks for it (GOV).
    Registration("com.vmware.cis", "sso:sts", "wsTrust", SSO, STS),
)


class Lookup:
    """Answers which services there are."""

    def __init__(self, dispatcher):
        self._world = dispatcher.world
        self._requests = dispatcher.requests
        self._unserved = dispatcher.unserved
        self._methods = {"RetrieveServiceContent": self._content, "List": self._list, "GetSiteId": self._site}

    def serves(self, path):
        return urllib.parse.urlsplit(path).path.rstrip("/") == PATH

    def handle(self, data, host):
        """(status, body) of one request from a client that reaches the server by this name and port."""
        with self._world.lock:
            try:
                for name, work in self._methods.items():
                    request = span_of(data, f"{LOOKUP} {name}")
                    if request is not None:
                        self._requests[f"lookup {name}"] += 1
                        inside = f'<{name}Response xmlns="{LOOKUP}">{work(request, host)}</{name}Response>'
                        return 200, _envelope(inside)
                text = "The operation is not supported on the object: the twin only lists services."
                self._unserved["lookup"] += 1
            except Rejected as problem:
                text = str(problem)
        return 500, _envelope(
            f"<S:Fault><faultcode>ServerFaultCode</faultcode><faultstring>{escape(text)}</faultstring></S:Fault>"
        )

    def _content(self, _request, _host):
        fields = (f'<{name} type="{kind}">{moid}</{name}>' for name, (kind, moid) in CONTENT.items())
        return f"<returnval>{''.join(fields)}</returnval>"

    def _site(self, _request, _host):
        return f"<returnval>{SITE}</returnval>"

    def _list(self, request, host):
        """The services that fit all fields of the filter that the request has."""
        wanted = {
            field: request.texts(f"{LOOKUP} filterCriteria", *(f"{LOOKUP} {name}" for name in path))
            for field, path in {
                "site": ("siteId",),
                "node": ("nodeId",),
                "product": ("serviceType", "product"),
                "kind": ("serviceType", "type"),
                "protocol": ("endpointType", "protocol"),
                "endpoint": ("endpointType", "type"),
            }.items()
        }
        node = self._world.instance_uuid
        found = []
        for one in REGISTRATIONS:
            values = {"site": SITE, "node": node, **vars(one)}
            if all(text in ("", values[field]) for field, texts in wanted.items() for text in texts):
                found.append(self._shown(one, node, host))
        return "".join(found)

    def _shown(self, one, node, host):
        own = node if one.kind == "vcenterserver" else f"{SITE}:{uuid.uuid5(uuid.UUID(node), one.kind)}"
        version = self._world.release.version if one.kind == "vcenterserver" else one.version
        return (
            f"<returnval><serviceVersion>{version}</serviceVersion><serviceEndpoints>"
            f"<url>https://{escape(host)}{one.path}</url><endpointType><protocol>{one.protocol}</protocol>"
            f"<type>{one.endpoint}</type></endpointType></serviceEndpoints>"
            f"<ownerId>administrator@vsphere.local</ownerId><serviceType><product>{one.product}</product>"
            f"<type>{one.kind}</type></serviceType><nodeId>{node}</nodeId><serviceId>{own}</serviceId>"
            f"<siteId>{SITE}</siteId></returnval>"
        )


def _envelope(inside):
    return f'<S:Envelope xmlns:S="{ENVELOPE}"><S:Body>{inside}</S:Body></S:Envelope>'.encode()
