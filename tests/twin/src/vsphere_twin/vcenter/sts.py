"""The security token service at /sts/STSService: WS-Trust 1.3 Issue and Renew of bearer tokens."""

from __future__ import annotations

import datetime
import urllib.parse
from xml.sax.saxutils import escape

from ..model.sso import BEARER_S, SAML, Rejected, span_of, stamp

# pyVim/sso.py and GOVC (sts.Path); GOVC's lookup service names the path with the domain.
PATHS = ("/sts/STSService", "/sts/STSService/vsphere.local")
TRUST = "http://docs.oasis-open.org/ws-sx/ws-trust/200512"
WSSE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
WSU = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
_KINDS = {f"{TRUST}/RST/Issue": "Issue", f"{TRUST}/RST/Renew": "Renew"}


class Sts:
    """Answers requests for tokens."""

    def __init__(self, dispatcher):
        self._world = dispatcher.world
        self._requests = dispatcher.requests

    def serves(self, path):
        return urllib.parse.urlsplit(path).path.rstrip("/") in PATHS

    def handle(self, data, soap_action):
        """(status, body) of one request."""
        with self._world.lock:
            try:
                kind = _KINDS.get((soap_action or "").strip().strip('"'))
                if kind is None:
                    raise _Fault("InvalidRequest", "The action is not supported.")
                self._requests[f"STS {kind}"] += 1
                return 200, (self._issue if kind == "Issue" else self._renew)(data)
            except Rejected as problem:
                fault = _Fault("InvalidRequest", str(problem))
            except _Fault as problem:
                fault = problem
        # pyVim/sso.py takes a fault apart only if its texts are these two.
        return 500, (
            f'<S:Envelope xmlns:S="{ENVELOPE}"><S:Body><S:Fault xmlns:ns0="{TRUST}">'
            f"<faultcode>ns0:{fault.code}</faultcode><faultstring>{escape(fault.text)}</faultstring></S:Fault></S:Body></S:Envelope>"
        ).encode()

    def _issue(self, data):
        request = self._request(data)
        security = span_of(data, f"{WSSE} Security")
        token = f"{WSSE} UsernameToken"
        names = security.texts(token, f"{WSSE} Username") if security else []
        words = security.texts(token, f"{WSSE} Password") if security else []
        self._check_timestamp(security)
        if len(names) != 1 or len(words) != 1:
            raise _Fault("FailedAuthentication", "Invalid credentials")
        user = self._world.sso.authenticated(names[0], words[0])
        if user is None:
            raise _Fault("FailedAuthentication", "Invalid credentials")
        return self._answer(request, user)

    def _renew(self, data):
        """A new token for one that is still valid."""
        request = self._request(data)
        target = span_of(request.raw, f"{SAML} Assertion")
        if target is None:
            raise _Fault("InvalidRequest", "There is no token to renew.")
        try:
            user = self._world.sso.user_of(target.raw)
        except Rejected:
            raise _Fault("InvalidSecurityToken", "The token cannot be renewed.") from None
        return self._answer(request, user)

    def _request(self, data):
        request = span_of(data, f"{TRUST} RequestSecurityToken")
        if request is None:
            raise _Fault("InvalidRequest", "There is no RequestSecurityToken.")
        if request.texts(f"{TRUST} KeyType") not in ([f"{TRUST}/Bearer"], []):
            # The twin has no solution users, whose certificates would sign [the twin's limit].
            raise _Fault("RequestFailed", "Only bearer tokens are issued.")
        return request

    def _check_timestamp(self, security):
        """A message is valid until its Expires (WS-Security 1.1, 10); a client without a timestamp is refused."""
        expires = security.texts(f"{WSU} Timestamp", f"{WSU} Expires") if security else []
        if len(expires) != 1 or _time(expires[0]) <= datetime.datetime.now(datetime.timezone.utc):
            raise _Fault("ExpiredData", "The request has expired, or has no time.")

    def _answer(self, request, user):
        now = datetime.datetime.now(datetime.timezone.utc)
        asked = request.texts(f"{TRUST} Lifetime", f"{WSU} Expires")
        # More than the longest lifetime is cut: pyVim/sso.py asks for 600 s by default [unsure: derived].
        ends = min(
            _time(asked[0]) if asked else now + datetime.timedelta(days=1), now + datetime.timedelta(seconds=BEARER_S)
        )
        if ends <= now:
            raise _Fault("InvalidTimeRange", "The lifetime of the token is over.")
        token = self._world.sso.issue(user, begins=now, lifetime_s=(ends - now).total_seconds())
        return (
            f'<S:Envelope xmlns:S="{ENVELOPE}"><S:Body>'
            f'<RequestSecurityTokenResponseCollection xmlns="{TRUST}"><RequestSecurityTokenResponse>'
            "<TokenType>urn:oasis:names:tc:SAML:2.0:assertion</TokenType>"
            f"<RequestedSecurityToken>{token}</RequestedSecurityToken>"
            f'<Lifetime xmlns:wsu="{WSU}"><wsu:Created>{stamp(now)}</wsu:Created>'
            f"<wsu:Expires>{stamp(ends)}</wsu:Expires></Lifetime></RequestSecurityTokenResponse>"
            "</RequestSecurityTokenResponseCollection></S:Body></S:Envelope>"
        ).encode()


class _Fault(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


def _time(text):
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise _Fault("InvalidTimeRange", "A time of the request cannot be read.") from None
