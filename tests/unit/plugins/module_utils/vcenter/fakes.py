"""A transport and a clock to put in place of the real ones: everything above them is the code under test."""

from __future__ import annotations

from collections import Counter

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.login import Password
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.wire import Target
from pyVmomi import vim, vmodl

COLLECTOR = vmodl.query.PropertyCollector


def target(**changes) -> Target:
    values = {
        "host": "vc.example",
        "port": 443,
        "proxy_host": None,
        "proxy_port": 80,
        "validate_certs": True,
        "ca_file": None,
        "timeout_s": 60,
    }
    return Target(**{**values, **changes})


def assertion(
    user="Ops@VSPHERE.LOCAL",
    begins="2026-11-28T13:00:00.000Z",
    ends="2026-11-28T13:05:00.000Z",
    audience="",
    method="bearer",
    signature='<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo/></ds:Signature>',
    more="",
) -> str:
    """A SAML token with the elements of vCenter's."""
    if audience:
        audience = f"<saml2:AudienceRestriction><saml2:Audience>{audience}</saml2:Audience></saml2:AudienceRestriction>"
    return (
        '<saml2:Assertion xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion" ID="_1" Version="2.0">'
        f"<saml2:Issuer>https://sso.example</saml2:Issuer>{signature}<saml2:Subject><saml2:NameID>{user}</saml2:NameID>"
        f'<saml2:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:{method}"/></saml2:Subject>'
        f'<saml2:Conditions NotBefore="{begins}" NotOnOrAfter="{ends}">{audience}'
        f"</saml2:Conditions>{more}</saml2:Assertion>"
    )


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.sleeps: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds


class FakeWire:
    """Answers requests from handlers by WSDL name; trouble[name] holds what happens to the next ones instead."""

    def __init__(self, to: Target | None = None) -> None:
        self.target = to or target()
        self.cookie = ""
        self.version = ""
        self.pin = None
        # The pin at each request that comes before a login.
        self.pins: list[str | None] = []
        self.shown = "AA:BB"
        self.sent = False
        self.patience_s = self.target.timeout_s
        self.requests: Counter = Counter()
        self.drops = 0
        self.logins = 0
        self.password = "secret"
        self.saml_token: str | None = None
        self.tokens: list[str | None] = []
        self.token_is_good = True
        self.release = "8.0.3"
        # The user of a session that another client opened.
        self.user = None
        self.instance_uuid = "11111111-2222-3333-4444-555555555555"
        self.versions = ["8.0.3.0", "8.0.2.0", "7.0.3.0"]
        self.trouble: dict[str, list] = {}
        self.live_cookie: str | None = None
        self.handlers = {"RetrieveServiceContent": self._content, "Login": self._login, "Logout": self._logout}
        self.handlers["LoginByToken"] = self._login_by_token
        self.handlers["Fetch"] = self._fetch

    def use_version(self, version: str) -> None:
        self.version = version

    def drop(self) -> None:
        self.drops += 1

    def fetch(self, path: str) -> tuple[int, bytes]:
        self.requests["GET"] += 1
        self.pins.append(self.pin)
        listed = "".join(f"<version>{text}</version>" for text in self.versions[1:])
        page = f"<version>{self.versions[0]}</version><priorVersions>{listed}</priorVersions>"
        return 200, f"<namespaces><namespace><name>urn:vim25</name>{page}</namespace></namespaces>".encode()

    def call(self, mo, info, args, stub):
        self.sent = False
        self.requests[info.wsdlName] += 1
        queue = self.trouble.get(info.wsdlName)
        if queue:
            happening, self.sent = queue.pop(0)
            raise happening
        self.sent = True
        try:
            if (
                info.wsdlName not in ("RetrieveServiceContent", "Login", "LoginByToken")
                and self.live_cookie != self.cookie
            ):
                raise vim.fault.NotAuthenticated(msg="The session is not authenticated.")
            names = [param.name for param in info.params]
            return 200, self.handlers[info.wsdlName](mo, **dict(zip(names, args, strict=True)))
        except vmodl.MethodFault as fault:
            return 500, fault

    def end_session(self) -> None:
        """As after a restart of vCenter: no cookie is known any more."""
        self.live_cookie = "nobody's"

    def _login(self, mo, userName, password, locale=None):
        if password != self.password:
            raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
        self.logins += 1
        self.cookie = self.live_cookie = f"session-{self.logins}"

    def _login_by_token(self, mo, locale=None):
        self.tokens.append(self.saml_token)
        if not self.token_is_good:
            raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
        self.logins += 1
        self.cookie = self.live_cookie = f"session-{self.logins}"

    def _fetch(self, mo, prop):
        assert prop == "currentSession"
        return vim.UserSession(userName=self.user) if self.user else None

    def _logout(self, mo):
        self.live_cookie = None

    def _content(self, mo):
        stub = mo._GetStub()
        return vim.ServiceInstanceContent(
            rootFolder=vim.Folder("group-d1", stub),
            propertyCollector=COLLECTOR("propertyCollector", stub),
            viewManager=vim.view.ViewManager("ViewManager", stub),
            searchIndex=vim.SearchIndex("SearchIndex", stub),
            sessionManager=vim.SessionManager("SessionManager", stub),
            about=vim.AboutInfo(
                name="VMware vCenter Server",
                fullName="VMware vCenter Server 8.0.3",
                vendor="VMware, Inc.",
                version=self.release,
                build="1",
                osType="linux-x64",
                productLineId="vpx",
                apiType="VirtualCenter",
                apiVersion="8.0.3.0",
                instanceUuid=self.instance_uuid,
            ),
        )


class FakeInventory:
    """Managed objects as plain dicts, and a property collector that follows traversal specs over them."""

    def __init__(self, wire: FakeWire) -> None:
        self.objects: dict[str, tuple[type, dict]] = {}
        self.hidden: dict[tuple[str, str], vmodl.MethodFault] = {}
        self.page_size: int | None = None
        self._pages: dict[str, list] = {}
        wire.handlers["RetrievePropertiesEx"] = self.retrieve
        wire.handlers["ContinueRetrievePropertiesEx"] = self.go_on

    def add(self, kind: type, moid: str, **properties):
        self.objects[moid] = (kind, properties)
        return kind(moid)

    def retrieve(self, mo, specSet, options):
        stub = mo._GetStub()
        found = []
        for spec in specSet:
            for entry in spec.objectSet:
                if entry.obj._GetMoId() not in self.objects:
                    raise vmodl.fault.ManagedObjectNotFound(obj=entry.obj)
            for moid in self._reached(spec):
                content = self._content(spec, moid, stub)
                if content is not None:
                    found.append(content)
        return self._page(found)

    def go_on(self, mo, token):
        if token not in self._pages:
            raise vmodl.fault.InvalidArgument(invalidProperty="token")
        return self._page(self._pages.pop(token))

    def forget_pages(self) -> None:
        self._pages.clear()

    def _page(self, found):
        if not found:
            return None
        size = self.page_size or len(found)
        token = None
        if found[size:]:
            token = f"page-{len(found)}"
            self._pages[token] = found[size:]
        return COLLECTOR.RetrieveResult(objects=found[:size], token=token)

    def _reached(self, spec):
        steps = {step.name: step for entry in spec.objectSet for step in entry.selectSet if hasattr(step, "path")}
        queue = [entry.obj._GetMoId() for entry in spec.objectSet]
        seen = []
        while queue:
            moid = queue.pop(0)
            if moid in seen or moid not in self.objects:
                continue
            seen.append(moid)
            kind, properties = self.objects[moid]
            for step in steps.values():
                value = properties.get(step.path) if issubclass(kind, step.type) else None
                queue += [ref._GetMoId() for ref in (value if isinstance(value, list) else [value]) if ref is not None]
        return seen

    def _content(self, spec, moid, stub):
        kind, properties = self.objects[moid]
        paths = [path for wanted in spec.propSet if issubclass(kind, wanted.type) for path in wanted.pathSet]
        if not any(issubclass(kind, wanted.type) for wanted in spec.propSet):
            return None
        content = COLLECTOR.ObjectContent(obj=kind(moid, stub))
        content.propSet = [
            vmodl.DynamicProperty(name=path, val=properties[path])
            for path in paths
            if properties.get(path) is not None and (moid, path) not in self.hidden
        ]
        content.missingSet = [
            COLLECTOR.MissingProperty(path=path, fault=self.hidden[moid, path])
            for path in paths
            if (moid, path) in self.hidden
        ]
        return content


def opened(wire: FakeWire | None = None, clock: FakeClock | None = None) -> tuple[VCenter, FakeWire]:
    """A VCenter that is logged in over a fake wire, with the requests of the login no longer counted."""
    wire = wire or FakeWire()
    vcenter = VCenter(wire, Password("ops@vsphere.local", "secret"), clock=clock or FakeClock())
    vcenter.renew("")
    wire.requests.clear()
    return vcenter, wire
