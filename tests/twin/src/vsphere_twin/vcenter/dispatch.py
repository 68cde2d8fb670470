"""From a message to an answer: caller, method, permission, and result."""

from __future__ import annotations

import collections
import functools
import inspect
import logging
from dataclasses import dataclass

from pyVmomi import vmodl

from ..model.services import DISK_SERVICES, POLICY_SERVICES, Service
from . import codec, newer, registry, types
from .calls import OPEN_KINDS, Call
from .paths import PropertyReader, parse
from .services.service_instance import ServiceInstance
from .services.view_manager import ViewManager
from .sessions import SessionManager
from .updates import Collector

LOG = logging.getLogger(__name__)
# Their privilege is System.Anonymous, but their results depend on the requested objects.
_CHECKED_BY_OBJECT = ("Fetch", "RetrievePropertiesEx", "RetrieveProperties")


@dataclass
class Reply:
    """Response; a reply without a body closes the connection."""

    status: int = 200
    body: bytes | None = None
    cookie: str | None = None
    method: str = ""


class Dispatcher:
    """Answers the calls of one vCenter."""

    def __init__(self, world):
        registry.load()
        self.world = world
        self.reader = PropertyReader(world)
        self.sessions = SessionManager(world)
        self.requests = collections.Counter()  # by method, as the clients sent them
        self.unserved = collections.Counter()  # methods that clients called and that are not served
        self.newest = types.version_of(world.release.api_version)
        for service in (ServiceInstance(), self.sessions, Collector("propertyCollector", world), ViewManager()):
            world.add(service)  # their version is None: answers depend on the caller
        beside = {types.POLICY_SERVICE: POLICY_SERVICES, types.DISK_SERVICE: DISK_SERVICES}
        self._newest = {
            types.SERVICE_NAMESPACE: self.newest,
            **{service: types.newest_beside(self.newest, service) for service in beside},
        }
        self._own = {
            service: {moid: Service(kind, moid) for moid, kind in kinds.items()} for service, kinds in beside.items()
        }

    def handle(self, data, cookie=None, soap_action=None, client=None, service=types.SERVICE_NAMESPACE):
        """Answer one SOAP message to a service."""
        version = codec.client_version(soap_action, self._newest[service])
        reply = Reply()
        with self.world.lock:
            try:
                request = codec.read_request(data, service)
                reply.method = request.method
                self.requests[request.method] += 1
                newer.refuse(request.method, request.arguments, version)
                # Services beside the API ignore the cookie (govmomi #3655).
                own = self._own.get(service)
                session = self.sessions.get(codec.session_cookie(cookie) if own is None else request.session)
                call = Call(self.world, self.reader, self.sessions, session, version, request.method, client, data, own)
                call.begin()
                if session is not None:
                    session.used()
                reply.body = codec.answer(request.method, self._serve(call, request), version)
                reply.cookie = call.new_cookie
            except vmodl.MethodFault as fault:
                LOG.debug("%s ends with %s: %s", reply.method, type(fault)._wsdlName, fault.msg)
                reply.status, reply.body = 500, codec.fault_answer(fault, version)
            if self.world.faults.take_closing(reply.method):
                reply.body = None
        return reply

    def crashed(self, version=None):
        """The answer when the twin itself has a fault."""
        fault = vmodl.fault.SystemError(msg="The twin failed; its log says where.", reason="error in the twin")
        return codec.fault_answer(fault, version or self.newest)

    def _serve(self, call, request):
        if request.method == "Fetch":
            return self._fetch(call, request)
        anonymous = types.method_of(request.method).privId == "System.Anonymous"
        if not (anonymous and (request.this._wsdlName in OPEN_KINDS or request.method in _CHECKED_BY_OBJECT)):
            call.require_session(request.this)
        entity = call.resolve(request.this)
        function = registry.find_method(entity.kind, request.method)
        if function is None:
            raise self._not_served(f"{entity.kind}.{request.method}")
        for name in request.arguments:
            if name not in _parameters(function):
                raise self._not_served(f"{entity.kind}.{request.method}({name})")
        call.require_privilege(types.method_of(request.method, entity.kind).privId, entity)
        return function(call, entity, **request.arguments)

    def _fetch(self, call, request):
        entity = call.resolve(request.this) if call.session or request.this._wsdlName in OPEN_KINDS else None
        if entity is None:
            call.require_session(request.this)
        prop = request.arguments["prop"]
        parse(entity.kind, prop, call.version)
        return codec.Written([self.reader.element("returnval", entity, prop, call.version)])

    def _not_served(self, what):
        self.unserved[what] += 1
        LOG.warning("No one serves %s.", what)
        return vmodl.fault.NotSupported(msg=f"The operation is not supported on the object: the twin has no {what}.")


@functools.cache
def _parameters(function):
    return inspect.signature(function).parameters
