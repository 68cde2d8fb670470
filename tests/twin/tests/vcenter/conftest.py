"""A pyVmomi client whose messages reach the dispatcher without a network, and a small inventory behind it."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl
from pyVmomi.SoapAdapter import SoapResponseDeserializer, SoapStubAdapterBase

from vsphere_twin.model import seed
from vsphere_twin.vcenter import types
from vsphere_twin.vcenter.dispatch import Dispatcher

USER, PASSWORD = "someone@vsphere.local", "Secret1!"
DATA = {
    "release": "8.0.3",
    "users": {USER: PASSWORD},
    "datacenters": [
        {
            "name": "here",
            "datastores": [{"name": "disk", "capacity_gb": 100, "free_gb": 50}],
            "networks": [{"name": "VM Network"}],
            "clusters": [{"name": "pair", "hosts": [{"name": "host-{n}", "count": 2}]}],
            "vms": [{"name": "vm-{n}", "count": 3, "cpus": 2, "memory_gb": 4, "networks": ["VM Network"]}],
        }
    ],
}
Collector = vmodl.query.PropertyCollector


class InProcess(SoapStubAdapterBase):
    """The transport of a pyVmomi client, straight into a dispatcher."""

    requestContext = None

    def __init__(self, dispatcher, version_id="8.0.3.0"):
        super().__init__(types.version_of(version_id))
        self.dispatcher = dispatcher
        self.cookie = None

    def InvokeMethod(self, mo, info, args, outerStub=None):
        data = self.SerializeRequest(mo, info, args)
        reply = self.dispatcher.handle(data, cookie=self.cookie, soap_action=self.versionId)
        if reply.cookie:
            self.cookie = f'vmware_soap_session="{reply.cookie}"'
        answer = SoapResponseDeserializer(self).Deserialize(reply.body, info.result)
        if reply.status == 500:
            raise answer
        return answer


class Client:
    """What most tests need of a client: the service content, and short ways to ask."""

    def __init__(self, dispatcher, version_id="8.0.3.0", login=True):
        self.stub = InProcess(dispatcher, version_id)
        self.content = vim.ServiceInstance("ServiceInstance", self.stub).RetrieveContent()
        self.collector = self.content.propertyCollector
        if login:
            self.content.sessionManager.Login(USER, PASSWORD)

    def reference(self, entity):
        """The client's side of an entity."""
        return types.managed_type(entity.kind)(entity.moid, self.stub)

    def view(self, *kinds, container=None, recursive=True):
        """A container view of the whole inventory."""
        manager = self.content.viewManager
        return manager.CreateContainerView(container or self.content.rootFolder, list(kinds), recursive)

    def read(self, spec, **options):
        """One RetrievePropertiesEx."""
        return self.collector.RetrievePropertiesEx([spec], Collector.RetrieveOptions(**options))


def filter_spec(start, wanted, select=(), skip=False, **options):
    """A filter: start objects, {type: paths or None for all}, traversals."""
    return Collector.FilterSpec(
        objectSet=[Collector.ObjectSpec(obj=one, skip=skip, selectSet=list(select)) for one in start],
        propSet=[
            Collector.PropertySpec(type=kind, pathSet=list(paths or ()), all=paths is None)
            for kind, paths in wanted.items()
        ],
        **options,
    )


def traversal(kind, path, *select, name=None, skip=False):
    return Collector.TraversalSpec(name=name, type=kind, path=path, skip=skip, selectSet=list(select))


@pytest.fixture(scope="session")
def specs():
    """How tests write filters."""
    return filter_spec, traversal


@pytest.fixture
def world():
    made = seed.from_data(DATA)
    yield made
    made.close()


@pytest.fixture
def dispatcher(world):
    return Dispatcher(world)


@pytest.fixture
def connect(dispatcher):
    """Makes clients of one server."""
    return lambda **options: Client(dispatcher, **options)


@pytest.fixture
def client(connect):
    return connect()


@pytest.fixture
def vms(world):
    """The VMs by name."""
    return {vm.name: vm for vm in world.of_kind("VirtualMachine")}


@pytest.fixture
def result(world):
    """Ends a task, and returns its result or raises its fault."""

    def of(task):
        world.timeline.settle()
        if task.info.error is not None:
            raise task.info.error
        return task.info.result

    return of
