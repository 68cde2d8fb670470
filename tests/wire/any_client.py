"""Any client of the vSphere API, as pyVmomi and as bare HTTP: what it asks, and what comes back on the wire."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
import time

from pyVmomi import vim, vmodl

from vsphere_twin.launch import launch

from .observe import client

_ENVELOPE = (
    '<?xml version="1.0"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Body>{}</Body></Envelope>'
)


class Lab:
    """A twin with one client that is logged in."""

    def __init__(self, twin, service):
        self.twin = twin
        self.service = service
        self.content = service.RetrieveContent()
        self.cookie = service._stub.cookie
        self.token = None

    def find(self, kind, name):
        """The object of this kind and name."""
        view = self.content.viewManager.CreateContainerView(self.content.rootFolder, [kind], True)
        try:
            (found,) = [one for one in view.view if one.name == name]
        finally:
            view.Destroy()
        return found

    def vm(self, name="train-01"):
        return self.find(vim.VirtualMachine, name)

    def host(self, name="esx-01.lab.example"):
        return self.find(vim.HostSystem, name)

    @property
    def center(self):
        return self.content.rootFolder.childEntity[0]

    def ask(self, verb, path, body=None, headers=None, **more):
        """One request over a connection of its own: status, headers, body."""
        context = ssl.create_default_context(cafile=str(self.twin.ca_file))
        connection = http.client.HTTPSConnection("localhost", self.twin.port, context=context)
        try:
            connection.request(verb, path, body, headers or {}, **more)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def soap(self, text, **more):
        """What the server answers to the body of a SOAP message, as text."""
        return self.ask("POST", "/sdk", _ENVELOPE.format(text).encode(), {"Cookie": self.cookie}, **more)[2].decode()

    def fetch(self, entity, prop):
        """A property as the wire shows it."""
        this = f'<_this type="{type(entity)._wsdlName}">{entity._moId}</_this>'
        return self.soap(f'<Fetch xmlns="urn:vim25">{this}<prop>{prop}</prop></Fetch>')

    def read(self, entity, *paths):
        """Properties of an object by their paths, as the property collector gives them."""
        spec = vmodl.query.PropertyCollector.FilterSpec(
            objectSet=[vmodl.query.PropertyCollector.ObjectSpec(obj=entity)],
            propSet=[vmodl.query.PropertyCollector.PropertySpec(type=type(entity), pathSet=list(paths))],
        )
        found = self.content.propertyCollector.RetrievePropertiesEx([spec], _OPTIONS)
        return {prop.name: prop.val for one in found.objects for prop in one.propSet}

    def rest(self, verb, path, body=None):
        """Status and value of a request to the REST API."""
        if self.token is None:
            self.token = self.ask("POST", "/rest/com/vmware/cis/session", headers=self._basic())[2]
            self.token = json.loads(self.token)["value"]
        headers = {"vmware-api-session-id": self.token, "Content-Type": "application/json"}
        status, _headers, data = self.ask(verb, path, None if body is None else json.dumps(body), headers)
        return status, json.loads(data) if data else None

    def _basic(self):
        login = base64.b64encode(f"{self.twin.username}:{self.twin.password}".encode()).decode()
        return {"Authorization": f"Basic {login}"}


_OPTIONS = vmodl.query.PropertyCollector.RetrieveOptions()


@contextlib.contextmanager
def lab(seed="small"):
    """A lab for the tests of one module that leave it as it was."""
    with launch(seed) as twin, client(twin) as service:
        yield Lab(twin, service)


def ended(task):
    """The result of a task, or the fault with which it ended."""
    while task.info.state not in ("success", "error"):
        time.sleep(0.02)
    return task.info.error or task.info.result
