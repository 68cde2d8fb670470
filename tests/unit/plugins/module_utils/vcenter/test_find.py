# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import find
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened

NODE_1 = "42000000-0000-0000-0000-000000000001"
TWIN_BIOS = "56000000-0000-0000-0000-000000000009"


class Site:
    """Two datacenters, one inside a folder; VMs in folders and vApps, with doubles and odd names."""

    def __init__(self, wire):
        self.wire = wire
        self.inventory = FakeInventory(wire)
        self.vms: dict[str, dict] = {}
        root = self._container(vim.Folder, "group-d1", "Datacenters", None)
        emea = self._container(vim.Folder, "group-d2", "emea", root)
        paris = self._datacenter("datacenter-1", "paris", root, "group-v1")
        rome = self._datacenter("datacenter-2", "rome", emea, "group-v2")
        team = self._container(vim.Folder, "group-v11", "team%2fa", paris)
        app = self._app("resgroup-v1", "app", parentFolder=paris)
        inner = self._app("resgroup-v2", "inner", parentVApp=app, within=app)
        self.vm("vm-1", "node-01", paris, **{"config.instanceUuid": NODE_1})
        self.vm("vm-2", "node-02", team, **{"config.uuid": TWIN_BIOS})
        self.vm("vm-3", "node-01", rome, **{"config.uuid": TWIN_BIOS})
        self.vm("vm-4", "in%2fvapp", None, app=app)
        self.vm("vm-5", "deep", None, app=inner)
        self.vm("vm-6", "100%25", paris)
        self.vm("vm-7", "only-rome", rome)
        self.vm("vm-8", None, paris)
        wire.handlers["FindAllByUuid"] = self._by_uuid

    def vm(self, moid, name, parent, app=None, **more):
        properties = dict(more, name=name, parent=parent, parentVApp=app)
        self.vms[moid] = properties
        ref = self.inventory.add(vim.VirtualMachine, moid, **properties)
        if app is not None:
            self._children(app, "vm").append(ref)
        else:
            self._children(parent, "childEntity").append(ref)

    def _by_uuid(self, mo, datacenter, uuid, vmSearch, instanceUuid):
        key = "config.instanceUuid" if instanceUuid else "config.uuid"
        hits = [moid for moid, vm in self.vms.items() if vm.get(key) == uuid]
        return [vim.VirtualMachine(moid, mo._GetStub()) for moid in hits]

    def _children(self, ref, path):
        return self.inventory.objects[ref._GetMoId()][1].setdefault(path, [])

    def _container(self, kind, moid, name, parent):
        ref = self.inventory.add(kind, moid, name=name, parent=parent)
        if parent is not None:
            self._children(parent, "childEntity").append(ref)
        return ref

    def _datacenter(self, moid, name, parent, folder):
        datacenter = self._container(vim.Datacenter, moid, name, parent)
        home = self.inventory.add(vim.Folder, folder, name="vm", parent=datacenter)
        self.inventory.objects[moid][1]["vmFolder"] = home
        return home

    def _app(self, moid, name, parentFolder=None, parentVApp=None, within=None):
        ref = self.inventory.add(vim.VirtualApp, moid, name=name, parentFolder=parentFolder, parentVApp=parentVApp)
        self._children(within or parentFolder, "resourcePool" if within else "childEntity").append(ref)
        return ref


@pytest.fixture
def site():
    vcenter, wire = opened()
    site = Site(wire)
    site.vcenter = vcenter
    return site


def found(site, requested, datacenter=None):
    (answer,) = find.find_vms(site.vcenter, [requested], datacenter)
    return answer


@pytest.mark.parametrize(
    "requested, datacenter, moid, path",
    [
        ({"name": "node-02"}, None, "vm-2", "/paris/vm/team%2fa/node-02"),
        ({"name": "node-01"}, "rome", "vm-3", "/emea/rome/vm/node-01"),
        ({"name": "node-01"}, "/emea/rome", "vm-3", "/emea/rome/vm/node-01"),
        ({"name": "in/vapp"}, None, "vm-4", "/paris/vm/app/in%2fvapp"),
        ({"name": "in%2Fvapp"}, None, "vm-4", "/paris/vm/app/in%2fvapp"),
        ({"name": "deep"}, None, "vm-5", "/paris/vm/app/inner/deep"),
        ({"name": "100%"}, None, "vm-6", "/paris/vm/100%25"),
        ({"path": "/paris/vm/node-01"}, None, "vm-1", "/paris/vm/node-01"),
        ({"path": "paris/vm/node-01/"}, None, "vm-1", "/paris/vm/node-01"),
        ({"path": "/paris/vm/team%2fa/node-02"}, None, "vm-2", "/paris/vm/team%2fa/node-02"),
        ({"path": "team%2Fa/node-02"}, "paris", "vm-2", "/paris/vm/team%2fa/node-02"),
        ({"path": "/emea/rome/vm/node-01"}, "rome", "vm-3", "/emea/rome/vm/node-01"),
        ({"moid": "vm-5"}, None, "vm-5", "/paris/vm/app/inner/deep"),
        ({"moid": "vm-3"}, "rome", "vm-3", "/emea/rome/vm/node-01"),
        ({"instance_uuid": NODE_1}, None, "vm-1", "/paris/vm/node-01"),
        ({"instance_uuid": NODE_1.upper().replace("-", "")}, None, "vm-1", "/paris/vm/node-01"),
        ({"bios_uuid": TWIN_BIOS}, "paris", "vm-2", "/paris/vm/team%2fa/node-02"),
    ],
)
def test_a_vm_is_found_by_every_way_to_name_it(site, requested, datacenter, moid, path):
    answer = found(site, requested, datacenter)
    assert (answer.moid, answer.path) == (moid, path)


def test_the_name_is_reported_without_escapes(site):
    assert found(site, {"moid": "vm-4"}).name == "in/vapp"


def test_a_name_that_two_vms_have_is_an_error_with_both_paths(site):
    error = found(site, {"name": "node-01"})
    assert error.code == "vm_ambiguous"
    assert error.message == (
        "VM node-01: the name is not unique. There are 2: /emea/rome/vm/node-01, /paris/vm/node-01. "
        "Use `path`, `instance_uuid` or `moid` to select one of them."
    )


def test_a_bios_uuid_that_two_vms_have_is_an_error_with_both_paths(site):
    assert found(site, {"bios_uuid": TWIN_BIOS}).data["candidates"] == [
        "/emea/rome/vm/node-01",
        "/paris/vm/team%2fa/node-02",
    ]


@pytest.mark.parametrize(
    "requested, near",
    [
        ({"name": "node-1"}, {"node-01", "node-02"}),
        ({"name": "NODE-02"}, {"node-01", "node-02"}),
        ({"path": "/paris/vm/node-02"}, {"/paris/vm/node-01", "/paris/vm/team%2fa/node-02", "/emea/rome/vm/node-01"}),
        ({"name": "zzz"}, set()),
    ],
)
def test_an_unknown_name_is_an_error_with_what_may_have_been_meant(site, requested, near):
    error = found(site, requested)
    assert error.code == "vm_not_found"
    assert set(error.data["near"]) == near


@pytest.mark.parametrize(
    "requested, datacenter",
    [
        ({"name": "only-rome"}, "paris"),
        ({"path": "/emea/rome/vm/only-rome"}, "paris"),
        ({"path": "/team%2fa/node-02"}, "paris"),
        ({"moid": "vm-7"}, "paris"),
        ({"moid": "vm-999"}, None),
        ({"moid": "group-v1"}, None),
        ({"instance_uuid": NODE_1}, "rome"),
        ({"instance_uuid": "00000000-0000-0000-0000-000000000000"}, None),
    ],
)
def test_a_vm_elsewhere_or_nowhere_is_not_found(site, requested, datacenter):
    assert found(site, requested, datacenter).code == "vm_not_found"


def test_a_malformed_uuid_is_called_so(site):
    error = found(site, {"bios_uuid": "node-01"})
    assert error.code == "uuid_malformed"


def test_an_unknown_datacenter_lists_those_there_are(site):
    with pytest.raises(OperatorError, match=r"there are: paris, rome\.") as caught:
        found(site, {"name": "node-01"}, "berlin")
    assert caught.value.code == "datacenter_not_found"


def test_one_bad_request_does_not_hide_the_others(site):
    answers = find.find_vms(site.vcenter, [{"name": "deep"}, {"name": "nowhere"}, {"moid": "vm-1"}])
    assert [getattr(answer, "moid", None) for answer in answers] == ["vm-5", None, "vm-1"]


@pytest.mark.parametrize(
    "requests, datacenter, cost",
    [
        ([{"name": f"n{number}"} for number in range(500)], None, {"RetrievePropertiesEx": 1}),
        ([{"name": "node-01"}], "rome", {"RetrievePropertiesEx": 2}),
        ([{"moid": "vm-1"}, {"moid": "vm-2"}], None, {"RetrievePropertiesEx": 1}),
        ([{"instance_uuid": NODE_1}], None, {"FindAllByUuid": 1, "RetrievePropertiesEx": 1}),
        ([{"bios_uuid": TWIN_BIOS}] * 20, None, {"RetrievePropertiesEx": 1}),
        ([{"name": "deep"}, {"bios_uuid": TWIN_BIOS}, {"moid": "vm-1"}], None, {"RetrievePropertiesEx": 1}),
        ([], None, {}),
    ],
    ids=["500-names", "in-datacenter", "moids", "uuid", "many-uuids", "mixed", "none"],
)
def test_finding_takes_few_requests(site, requests, datacenter, cost):
    find.find_vms(site.vcenter, requests, datacenter)
    assert site.wire.requests == cost


def test_a_vm_whose_folder_must_not_be_seen_is_still_found_by_its_moid(site):
    site.inventory.add(vim.VirtualMachine, "vm-50", name="hidden", parent=None)
    answers = find.find_vms(site.vcenter, [{"name": "deep"}, {"moid": "vm-50"}])
    assert [answer.path for answer in answers] == ["/paris/vm/app/inner/deep", "/hidden"]


@pytest.mark.parametrize("moid", ["vm-1<&>", "vm 1", "vm-1\n"])
def test_a_moid_that_can_be_none_never_gets_into_a_request_and_keeps_no_other_vm_from_being_found(site, moid):
    site.inventory.add(vim.VirtualMachine, "vm-50", name="other", parent=None)
    for further in ([], [{"name": "deep"}]):
        wanted, other = find.find_vms(site.vcenter, [{"moid": moid}, {"moid": "vm-50"}, *further])[:2]
        assert (wanted.code, other.moid) == ("vm_not_found", "vm-50")
    assert not find._vm_refs(site.vcenter, [moid])


@pytest.mark.parametrize(
    "requested, text",
    [({"name": "a"}, "a"), ({"path": "/x/vm/a"}, "/x/vm/a"), ({"moid": "vm-1", "name": None}, "MoID vm-1")],
)
def test_a_request_has_a_label_for_messages(requested, text):
    assert find.label(requested) == text


def test_a_request_without_an_identity_is_an_error_that_names_them_all(site):
    with pytest.raises(OperatorError) as refused:
        found(site, {"name": "", "moid": None})
    assert refused.value.failure == documented("identity_missing", subject="VM")
    assert ", ".join(find.IDENTITY_KEYS) in refused.value.message


def test_each_of_several_ways_finds_its_own_vm(site):
    requests = [{"name": "node-02"}, {"instance_uuid": NODE_1}, {"moid": "vm-7"}, {"bios_uuid": "no UUID"}]
    answers = find.find_vms(site.vcenter, requests)
    assert [answer.moid for answer in answers[:3]] == ["vm-2", "vm-1", "vm-7"]
    assert isinstance(answers[3], OperatorError)


def test_only_for_names_and_paths_there_are_others_that_are_near(site):
    requests = [{"name": "node-03"}, {"path": "/paris/vm/node-02"}, {"moid": "vm-99"}]
    near = [answer.data["near"] for answer in find.find_vms(site.vcenter, requests)]
    paths = ["/paris/vm/team%2fa/node-02", "/emea/rome/vm/node-01", "/paris/vm/node-01"]
    assert near == [["node-02", "node-01"], paths, []]
