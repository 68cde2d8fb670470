# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What vCenter answers when a host is brought to the image of its cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.depot import Vib
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.image import ClusterImage, bring
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.rest import Answered

from unit.plugins.module_utils.vcenter.fakes import FakeClock


class Rest:
    """Every task ends with the same result."""

    clock = FakeClock()

    def __init__(self, result):
        self.result, self.sent = result, []

    def task(self, method, path, body, *_more):
        self.sent.append((method, path, body))
        return self.result


def applied(result):
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    rest = Rest(result)
    ClusterImage(SimpleNamespace(rest=rest, host=host), 60).apply()
    return rest.sent


@pytest.mark.parametrize("result", [None, {}, {"status": "OK", "failed_hosts": []}, {"failed_hosts": ["host-2"]}])
def test_a_host_that_is_not_among_the_failed_has_the_image(result):
    ((method, path, body),) = applied(result)
    assert (method, body) == ("POST", {"accept_eula": True, "hosts": ["host-1"]})
    assert path.endswith("?action=apply&vmw-task=true")


@pytest.mark.parametrize(
    "result", [{"status": "ERROR"}, {"status": "OK", "failed_hosts": ["host-2", "host-1"]}], ids=["all", "this host"]
)
def test_a_host_that_failed_has_not(result):
    with pytest.raises(OperatorError) as failed:
        applied(result)
    assert (failed.value.code, failed.value.subject) == ("image_not_applied", "Cluster gpu")


OLD, NEW = Vib("NVD-AIE_ESXi_8.0.0_Driver", "550.54.16"), Vib("NVD-AIE_ESXi_8.0.0_Driver", "550.90.05")
IN_OLD, IN_NEW = (("NVD-AIE", "550.54.16"),), (("NVD-AIE", "550.90.05"),)


class Cluster:
    """Records what is asked of the image of a cluster."""

    def __init__(self, holds=False):
        self.done, self._holds = [], holds

    def provide(self, requested_one, source):
        self.done.append(("provide", requested_one, source))

    def holds(self, _requested_settings):
        return self._holds

    def change(self, requested_one):
        self.done.append(("change", requested_one))

    def apply(self):
        self.done.append(("apply",))


# The host has no newer driver, which esxcli would remove.
REACH = SimpleNamespace(esxcli=None)


def item(vib, in_maintenance):
    """A host with the old component in its image, which gets the new one."""
    now = HostDriver(vibs=(vib,), in_image=IN_OLD, in_maintenance=in_maintenance)
    return SimpleNamespace(label="Host esx-01", now=now, wanted=HostDriver(vibs=(NEW,), in_image=IN_NEW), touched=False)


def test_a_host_that_works_gets_no_other_driver_and_its_image_stays():
    cluster, host = Cluster(), item(OLD, in_maintenance=False)
    with pytest.raises(OperatorError) as refused:
        bring(REACH, cluster, host, "the depot")
    assert refused.value.code == "not_in_maintenance"
    assert (cluster.done, host.touched) == ([], False)


def test_a_host_in_maintenance_is_brought_to_the_image_with_its_new_driver():
    cluster, host = Cluster(), item(OLD, in_maintenance=True)
    bring(REACH, cluster, host, "the depot")
    assert cluster.done == [("provide", dict(IN_NEW), "the depot"), ("change", dict(IN_NEW)), ("apply",)]
    assert host.touched


def test_a_host_that_works_with_the_driver_already_may_go_on_while_its_image_changes():
    cluster = Cluster()
    bring(REACH, cluster, item(NEW, in_maintenance=False), "the depot")
    assert cluster.done == [("provide", dict(IN_NEW), "the depot"), ("change", dict(IN_NEW))]


def test_an_image_that_a_killed_run_has_changed_is_only_applied():
    cluster = Cluster(holds=True)
    bring(REACH, cluster, item(OLD, in_maintenance=True), "the depot")
    assert [step[0] for step in cluster.done] == ["provide", "apply"]


SOFTWARE = "/api/esx/settings/clusters/domain-c8/software"
BASE = {"base_image": {"version": "8.0 U3"}, "components": {}}
REQUESTED = dict(IN_NEW)


class Drafts:
    """An image of a cluster with these drafts, {name: (owner, software)}, and perhaps no place for another."""

    clock = FakeClock()

    def __init__(self, drafts, is_full=False):
        self.drafts, self.is_full = drafts, is_full
        self.patched = []

    def is_user(self, owner):
        return owner == "ops"

    def call(self, method, path, body=None):
        if path == SOFTWARE:
            return BASE
        if path == f"{SOFTWARE}/drafts":
            if method == "GET":
                return {name: owner and {"owner": owner} for name, (owner, _software) in self.drafts.items()}
            if self.is_full:
                raise Answered(400, "NOT_ALLOWED_IN_CURRENT_STATE", [])
            return "new"
        draft = path.removeprefix(f"{SOFTWARE}/drafts/")
        if method == "PATCH":
            self.patched.append((draft.removesuffix("/software/components"), body))
            return None
        return {"software": self.drafts[draft][1]}

    def task(self, *_call):
        return None


def drafted(drafts, is_full=False):
    """The draft that takes the components, and what it takes."""
    rest = Drafts(drafts, is_full)
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    ClusterImage(SimpleNamespace(rest=rest, host=host), 60).change(REQUESTED)
    return rest.patched


OURS = {**BASE, "components": {"NVD-AIE": {"version": "550.90.05"}}}
OTHER = {**BASE, "components": {"nmlx5": {"version": "4.23"}}}
RELEASE = {**BASE, "base_image": {"version": "8.0 U2"}}


@pytest.mark.parametrize(
    "drafts, taken",
    [
        ({}, "new"),
        ({"7": ("ops", BASE)}, "7"),
        ({"7": ("ops", OURS)}, "7"),
        ({"7": ("ops", OTHER), "8": ("ops", OURS)}, "8"),
        ({"7": ("ops", OTHER)}, "new"),
        ({"7": ("ops", RELEASE)}, "new"),
        ({"7": ("ops", None)}, "new"),
        ({"7": ("carol", OURS)}, "new"),
        ({"7": (None, OURS)}, "new"),
    ],
    ids=[
        *("no draft", "empty draft of ours", "our change in it", "second of two", "another component in it"),
        *("another release in it", "nothing in it", "of another user", "of nobody"),
    ],
)
def test_a_draft_that_a_killed_run_has_left_is_used_where_nothing_else_is_in_it(drafts, taken):
    assert drafted(drafts) == [(taken, {"components_to_set": REQUESTED})]


def test_a_draft_with_other_changes_is_named_where_vcenter_makes_no_further_one():
    with pytest.raises(OperatorError) as refused:
        drafted({"7": ("ops", OTHER)}, is_full=True)
    assert refused.value.code == "draft_in_the_way"
    assert "ops changes nmlx5 in one" in refused.value.message


def test_without_a_draft_in_the_way_the_refusal_of_vcenter_stays():
    with pytest.raises(OperatorError) as refused:
        drafted({"7": ("carol", OTHER)}, is_full=True)
    assert refused.value.code == "rest_refused"


DEPOTS = "/api/esx/settings/depots/offline"


class Depots:
    """The depots of vCenter, {name: {component: versions}}, and what an import from a URL brings."""

    clock = FakeClock()

    def __init__(self, depots, brings=None, fails=False):
        self.depots, self.brings, self.fails = depots, brings, fails
        self.imported = []

    def call(self, method, path, body=None):
        assert method == "GET"
        if path == DEPOTS:
            return dict.fromkeys(self.depots) or None
        content = self.depots[path.removeprefix(f"{DEPOTS}/").removesuffix("/content")]
        versions = {name: {"versions": [{"version": one} for one in many]} for name, many in content.items()}
        # Bundles have nothing to do with the component, or hold more than one of them.
        bundles = {"7.0": [{}], "8.0": [{"independent_components": versions}]}
        return {"metadata_bundles": bundles} if content else None

    def task(self, method, path, body, *_more):
        self.imported.append((method, path, body["location"]))
        if self.brings:
            self.depots["imported"] = self.brings
        if self.fails:
            raise OperatorError("Cluster gpu", "the depot was to be imported", "It is there", "Wait", "task_failed")


def provided(rest, requested_one=REQUESTED, url="https://depot.example.com/driver.zip"):
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    reach = SimpleNamespace(rest=rest, host=host)
    ClusterImage(reach, 60).provide(requested_one, SimpleNamespace(url=url, name="driver.zip"))
    return rest.imported


IMPORT = ("POST", f"{DEPOTS}?vmw-task=true", "https://depot.example.com/driver.zip")
BOTH_VERSIONS = {"NVD-AIE": ["550.54.16", "550.90.05"]}


@pytest.mark.parametrize(
    "depots, imports",
    [
        ({"a": {"nmlx5": ["4.23"]}, "b": BOTH_VERSIONS}, []),
        ({"a": {"NVD-AIE": ["550.54.16"]}, "b": {"NVD-AIE": ["550.90.05"]}}, []),
        ({"a": {"NVD-AIE": ["550.54.16"]}}, [IMPORT]),
        ({"a": {}}, [IMPORT]),
        ({}, [IMPORT]),
    ],
    ids=["has it", "in the second of two", "has another version", "empty depot", "no depot"],
)
def test_a_depot_is_imported_where_none_has_the_component(depots, imports):
    assert provided(Depots(depots, brings=BOTH_VERSIONS)) == imports


def test_nothing_is_imported_for_a_component_that_goes():
    assert provided(Depots({}), requested_one={"NVD-AIE": None}) == []


def test_an_import_that_fails_because_another_run_has_done_it_is_no_failure():
    assert provided(Depots({}, brings=BOTH_VERSIONS, fails=True)) == [IMPORT]


@pytest.mark.parametrize(
    "rest, url, code",
    [
        (Depots({}, fails=True), IMPORT[2], "task_failed"),
        (Depots({}, brings={"NVD-AIE": ["550.54.16"]}), IMPORT[2], "not_in_depot"),
        (Depots({}), None, "not_in_depot"),
    ],
    ids=["import fails", "import brings another version", "no address to import from"],
)
def test_a_component_that_no_depot_gets_is_a_failure(rest, url, code):
    with pytest.raises(OperatorError) as failed:
        provided(rest, url=url)
    assert failed.value.code == code


def test_without_a_source_no_depot_is_asked_for_what_is_in_the_image_already():
    """As where one driver is removed and a component of another family stays, whose depot is gone from vCenter."""
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    rest = Rest(None)
    ClusterImage(SimpleNamespace(rest=rest, host=host)).provide({"NVD-AIE-800": None, "NVD-VGPU-800": "550.54"}, None)
    assert rest.sent == []


def image(rest, progress=None):
    """The image of a cluster whose vCenter answers like this."""
    cluster = SimpleNamespace(_GetMoId=lambda: "domain-c8")
    host = SimpleNamespace(name="esx-01", moid="host-1", cluster="gpu", cluster_ref=cluster)
    return ClusterImage(SimpleNamespace(rest=rest, host=host), 60, progress)


class Committing(Drafts):
    """An image that becomes another one at a commit, which may fail all the same."""

    def __init__(self, after, fails=False):
        super().__init__({})
        self.there, self.after, self.fails = BASE, after, fails
        self.commits = []

    def call(self, method, path, body=None):
        return self.there if path == SOFTWARE else super().call(method, path, body)

    def task(self, method, path, *_more):
        self.commits.append((method, path))
        self.there = self.after
        if self.fails:
            raise OperatorError("Cluster gpu", "the draft was to be committed", "It is gone", "Wait", "task_failed")


@pytest.mark.parametrize("fails", [False, True], ids=["by this run", "by another run at the same time"])
def test_an_image_changes_with_the_commit_of_the_draft(fails):
    rest = Committing(OURS, fails)
    image(rest).change(REQUESTED)
    assert rest.commits == [("POST", f"{SOFTWARE}/drafts/new?action=commit&vmw-task=true")]


def test_a_commit_that_fails_and_leaves_the_image_as_it_was_is_a_failure():
    with pytest.raises(OperatorError) as failed:
        image(Committing(BASE, fails=True)).change(REQUESTED)
    assert failed.value.code == "task_failed"


@pytest.mark.parametrize(
    "components, requested_one, holds",
    [
        ({"NVD-AIE": "550.90.05", "nmlx5": "4.23"}, {"NVD-AIE": "550.90.05"}, True),
        ({"NVD-AIE": "550.54.16"}, {"NVD-AIE": "550.90.05"}, False),
        ({"nmlx5": "4.23"}, {"NVD-AIE": None}, True),
        ({"NVD-AIE": "550.54.16"}, {"NVD-AIE": None}, False),
        ({"NVD-AIE": "550.90.05", "old": "1"}, {"NVD-AIE": "550.90.05", "old": None}, False),
    ],
    ids=["the version", "another version", "gone", "still there", "one of two"],
)
def test_an_image_holds_what_is_requested_only_as_a_whole(components, requested_one, holds):
    rest = Committing(BASE)
    rest.there = {"components": {name: {"version": version} for name, version in components.items()}}
    assert image(rest).holds(requested_one) is holds


def test_a_depot_that_only_the_controller_can_read_is_not_imported():
    rest = Depots({})
    with pytest.raises(OperatorError) as failed:
        provided(rest, requested_one={"b": "2", "a": "1"}, url=None)
    assert "cannot put a 1, b 2 into its image" in failed.value.message
    assert "vCenter cannot import it from driver.zip" in failed.value.message
    assert rest.imported == []


def test_a_host_that_failed_comes_with_all_that_vcenter_says():
    notes = {
        "info": [{"message": {"default_message": "Checked."}}],
        "errors": [{"message": {"default_message": "No space left."}}, {}],
        "warnings": None,
    }
    with pytest.raises(OperatorError) as failed:
        applied({"status": "ERROR", "notifications": notes})
    assert "No space left. /  / Checked." in failed.value.message
    assert failed.value.data["messages"] == ["No space left.", "", "Checked."]


def test_an_image_that_vcenter_does_not_show_is_an_error_of_the_cluster():
    class Refusing:
        def call(self, *_call):
            raise Answered(403, "UNAUTHORIZED", ["No privilege."])

    with pytest.raises(OperatorError) as refused:
        image(Refusing()).components()
    assert (refused.value.code, refused.value.subject) == ("rest_refused", "Cluster gpu")
    assert "No privilege." in refused.value.message


class Busy:
    """A vCenter that gives these answers to requests for a task, one after the other, the last one for ever."""

    def __init__(self, *answers):
        self.clock, self.answers, self.asked = FakeClock(), list(answers), 0

    def task(self, *request):
        self.asked += 1
        assert self.asked < 1000
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        request[-1](40, "Installing")
        request[-1](100, "")
        return answer


BUSY = Answered(400, "NOT_ALLOWED_IN_CURRENT_STATE", ["Another task runs."])


def test_a_cluster_that_is_busy_with_another_host_is_waited_for():
    rest, lines = Busy(BUSY, BUSY, {"status": "OK"}), []
    image(rest, lines.append).apply()
    assert (rest.asked, len(rest.clock.sleeps)) == (3, 2)
    about = "Cluster gpu: apply the image to host esx-01"
    assert lines == [f"{about}: 40 % Installing", f"{about}: 100 %"]


@pytest.mark.parametrize(
    "answer, waited", [(BUSY, 60), (Answered(403, "UNAUTHORIZED", []), 0)], ids=["busy for too long", "another reason"]
)
def test_what_stays_refused_is_a_failure(answer, waited):
    rest = Busy(answer)
    with pytest.raises(OperatorError) as refused:
        image(rest).apply()
    assert (refused.value.code, rest.clock.now()) == ("rest_refused", waited)
