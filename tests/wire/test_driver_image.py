"""Clusters whose software one image manages: the driver goes into the image, and the host to the image."""

from __future__ import annotations

import http.server
import threading

import pytest

from vsphere_twin.model import depot, packages
from vsphere_twin.model import image as images
from vsphere_twin.model import software as installer

from .vib_lab import ESX, OTHER, VIB, bare, depot_name, installed, machine, ready, seed, single_vib, software, stored

COMPONENT = "NVD-AIE-800"
RUNS = ("nvaie", "550.54.16")


@pytest.fixture
def served():
    """Addresses of depots, as a repository in the data centre has them."""
    contents = {
        f"/{depot_name(version)}": depot.build("nvaie", version, "800") for version in ("550.54.16", "570.124.03")
    }

    contents[f"/renamed/{depot_name()}"] = contents[f"/{depot_name('570.124.03')}"]

    class Repository(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            data = contents.get(self.path)
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Repository) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield lambda version="550.54.16": f"http://127.0.0.1:{server.server_address[1]}/{depot_name(version)}"
        server.shutdown()


def image(twin):
    """The image of the cluster in the model."""
    return machine(twin).parent.image


def components(twin):
    with twin.world.lock:
        return dict(image(twin).components)


def version(driver):
    return packages.driver("nvaie", driver)[1][0].version


def import_depot(twin, driver="550.54.16"):
    """What an administrator has imported before."""
    bundle = depot.read(depot.build("nvaie", driver, "800"))
    with twin.world.lock:
        twin.world.depots.add("by hand", f"https://repo.example.com/{driver}.zip", bundle, "administrator")


def test_the_driver_goes_into_the_image_and_the_host_to_the_image(twin, drive, served):
    running = twin(seed=seed(image="managed"))
    module = drive(running)
    predicted = module("nvaie_vib", check=True, host=ESX, url=served())
    assert (predicted["changed"], components(running)) == (True, {})
    answer = module("nvaie_vib", host=ESX, url=served())
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["pending"] == predicted["host"]["pending"] == []
    assert answer["host"]["after"]["managed_by"] == "image"
    assert components(running) == {COMPONENT: version("550.54.16")}
    assert software(running) == installed(runs=RUNS)
    assert module("nvaie_vib", host=ESX, url=served())["changed"] is False


def test_the_second_host_of_a_cluster_finds_the_image_ready(twin, drive, served):
    running = twin(seed=seed(image="managed", hosts=2))
    module = drive(running)
    module("nvaie_vib", host=ESX, url=served())
    assert software(running, OTHER) == bare()
    commits = len(image(running).commits)
    assert module("nvaie_vib", host=OTHER, url=served())["changed"]
    assert len(image(running).commits) == commits
    assert software(running, OTHER) == installed(runs=RUNS)
    assert machine(running).boots == 1


def test_an_update_and_a_removal_go_through_the_image_too(twin, drive, served):
    running = twin(seed=seed(image="managed"))
    module = drive(running)
    module("nvaie_vib", host=ESX, url=served())
    assert module("nvaie_vib", host=ESX, url=served("570.124.03"))["changed"]
    assert components(running) == {COMPONENT: version("570.124.03")}
    answer = module("nvaie_vib", host=ESX, state="absent")
    assert not answer["failed"], answer["msg"]
    assert components(running) == {}
    assert software(running) == bare()


def test_a_component_that_vcenter_has_already_is_taken_from_there(twin, drive):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert not answer["failed"], answer["msg"]
    assert software(running) == installed(runs=RUNS)


def test_a_depot_that_vcenter_cannot_reach_is_reported(twin, drive):
    running = twin(seed=seed(image="managed"))
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert answer["failure"]["code"] == "not_in_depot"
    assert "Use `url` with an address from which vCenter can download the depot" in answer["msg"]
    assert (components(running), software(running)) == ({}, bare())


def test_an_address_that_serves_nothing_is_reported_in_vcenters_words(twin, drive, served):
    running = twin(seed=seed(image="managed"))
    url = served().replace("/NVD-AIE-800_550.54.16", "/NVD-AIE-800_550.54.99")
    answer = drive(running)("nvaie_vib", host=ESX, url=url)
    assert answer["failure"]["code"] == "rest_task_failed"
    assert "inaccessible" in answer["msg"]
    assert not answer["changed"]


def test_a_depot_that_holds_something_else_than_its_name_says_is_reported_and_not_committed(twin, drive, served):
    running = twin(seed=seed(image="managed"))
    answer = drive(running)("nvaie_vib", host=ESX, url=served().replace("/NVD", "/renamed/NVD"))
    assert answer["failure"]["code"] == "not_in_depot"
    assert "and the depot does not contain it" in answer["msg"]
    assert (components(running), image(running).drafts, software(running)) == ({}, {}, bare())


def test_a_host_that_works_is_refused_before_the_image_is_touched(twin, drive, served):
    running = twin(seed=seed(image="managed", maintenance=False))
    answer = drive(running)("nvaie_vib", host=ESX, url=served())
    assert answer["failure"]["code"] == "not_in_maintenance"
    assert (components(running), running.world.depots.offline) == ({}, {})


@pytest.mark.parametrize("filled", [False, True], ids=["empty", "with the driver"])
def test_a_draft_that_a_killed_run_has_left_is_taken_up(twin, drive, filled):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    draft(running, {COMPONENT: version("550.54.16")} if filled else {})
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert not answer["failed"], answer["msg"]
    assert image(running).drafts == {}
    assert components(running) == {COMPONENT: version("550.54.16")}


def test_a_draft_with_the_work_of_a_person_is_neither_committed_nor_thrown_away(twin, drive):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    theirs = {"Their-Component": "1.0-1"}
    draft(running, theirs)
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert answer["failure"]["code"] == "draft_in_the_way"
    assert "Their-Component" in answer["msg"]
    assert [one.components for one in image(running).drafts.values()] == [theirs]
    assert components(running) == {}


def test_a_draft_that_brings_another_add_on_is_not_committed_along_with_the_driver(twin, drive):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    draft(running, {})
    with running.world.lock:
        (theirs,) = image(running).drafts.values()
        theirs.add_on["version"] = "803.24585383-A04"
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert answer["failure"]["code"] == "draft_in_the_way"
    assert "changes add_on in one" in answer["msg"]
    assert image(running).add_on["version"] == images.ADD_ON["version"]
    assert components(running) == {}


def test_the_draft_of_another_user_is_left_alone_and_an_own_one_is_committed(twin, drive):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    draft(running, {}, "CORP\\operator")
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert not answer["failed"], answer["msg"]
    assert [(one.owner, one.components) for one in image(running).drafts.values()] == [("CORP\\operator", {})]
    assert components(running) == {COMPONENT: version("550.54.16")}


def test_a_commit_that_was_not_applied_is_applied_by_the_next_run(twin, drive):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    with running.world.lock:
        image(running).components[COMPONENT] = version("550.54.16")
    commits = len(image(running).commits)
    assert drive(running)("nvaie_vib", host=ESX, depot=stored())["changed"]
    assert len(image(running).commits) == commits
    assert software(running) == installed(runs=RUNS)


def test_a_driver_that_was_installed_by_hand_is_put_into_the_image_without_a_restart(twin, drive):
    running = twin(seed=seed(image="managed", maintenance=False, state="ready"))
    import_depot(running)
    host = machine(running)
    with running.world.lock:
        bundle = depot.read(depot.build("nvaie", "550.54.16", "800"))
        host.maintenance = True
        installer.install_bundle(running.world, host, bundle)
        host.maintenance = False
    module = drive(running)
    predicted = module("nvaie_vib", check=True, host=ESX, depot=stored())
    answer = module("nvaie_vib", host=ESX, depot=stored())
    assert not answer["failed"], answer["msg"]
    assert [change["path"] for change in answer["host"]["changes"]] == [f"image.{COMPONENT}"]
    assert answer["host"]["after"] == predicted["host"]["after"]
    assert components(running) == {COMPONENT: version("550.54.16")}
    assert machine(running).boots == 0
    assert module("nvaie_vib", host=ESX, depot=stored())["changed"] is False


def test_a_single_vib_is_no_part_of_an_image(twin, drive, tmp_path):
    running = twin(seed=seed(image="managed"))
    path = tmp_path / "driver.vib"
    path.write_bytes(single_vib())
    answer = drive(running)("nvaie_vib", host=ESX, file=str(path), datastore="datastore-01")
    assert answer["failure"]["code"] == "not_a_component"
    assert components(running) == {}


@pytest.mark.parametrize("how", [{"depot": stored()}, {"version": "550.54.16"}], ids=["package", "depot of vCenter"])
def test_a_newer_driver_is_removed_from_the_host_before_the_image_brings_an_older_one(twin, drive, how):
    running = twin(seed=ready("570.124.03", image="managed"))
    import_depot(running)
    module = drive(running)
    assert module("nvaie_vib", host=ESX, **how)["failure"]["code"] == "downgrade"
    predicted = module("nvaie_vib", check=True, host=ESX, downgrade="allow", **how)
    answer = module("nvaie_vib", host=ESX, downgrade="allow", **how)
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["after"] == {**predicted["host"]["after"], "vibs": answer["host"]["after"]["vibs"]}
    assert components(running) == {COMPONENT: version("550.54.16")}
    assert (software(running), machine(running).boots) == (installed(runs=RUNS), 1)
    assert module("nvaie_vib", host=ESX, downgrade="allow", **how)["changed"] is False


def test_a_run_continues_after_a_kill_between_the_removal_and_the_image(twin, drive):
    running = twin(seed=ready("570.124.03", image="managed"))
    import_depot(running)
    host = machine(running)
    with running.world.lock:
        image(running).components[COMPONENT] = version("550.54.16")
        installer.remove(running.world, host, [VIB])
    assert drive(running)("nvaie_vib", host=ESX, version="550.54.16", downgrade="allow")["changed"]
    assert software(running) == installed(runs=RUNS)


def test_a_newer_component_that_was_installed_by_hand_is_reported_as_what_blocks_the_image(twin, drive):
    running = twin(seed=ready("570.124.03", image="managed"))
    import_depot(running)
    contents, built = packages.daemon()
    older = depot.Bundle(*packages.daemon("1.0"))
    with running.world.lock:
        running.world.depots.add("by hand", "https://repo.example.com/daemon.zip", older, "administrator")
        installer.install_bundle(running.world, machine(running), depot.Bundle(contents, built))
        image(running).components[built[0].name] = "1.0"
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored(), downgrade="allow")
    assert answer["failure"]["code"] == "image_not_applied"
    assert "Downgrades of manually added Components" in answer["msg"]
    assert "the image needs the same or a newer version" in answer["msg"]


def test_a_version_that_no_depot_of_vcenter_has_needs_a_package(twin, drive):
    running = twin(seed=ready("570.124.03", image="managed"))
    answer = drive(running)("nvaie_vib", host=ESX, version="550.54.16", downgrade="allow")
    assert answer["failure"]["code"] == "no_package"
    assert components(running) == {COMPONENT: version("570.124.03")}


def test_work_on_the_cluster_for_another_host_is_waited_for(twin, drive, brisk):
    running = twin(seed=seed(image="managed"))
    import_depot(running)
    cluster = machine(running).parent
    with running.world.lock:
        other = running.world.operations.begin(running.world, "scan", "scan$task", "somebody", cluster.moid)
    threading.Timer(0.4, lambda: other.succeed({})).start()
    answer = drive(running)("nvaie_vib", host=ESX, depot=stored())
    assert not answer["failed"], answer["msg"]
    assert software(running) == installed(runs=RUNS)


def draft(twin, changes, owner=None):
    """A draft, of the user that the tests log in as unless another one is named."""
    with twin.world.lock:
        made = images.create_draft(image(twin), owner or twin.username)
        images.change_draft(made, changes, [])
