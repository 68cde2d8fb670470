"""From a bare host to a driver that runs: uploads, reboots, and what a run that was cut off leaves to the next one."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from vsphere_twin.esxcli import command
from vsphere_twin.model import depot
from vsphere_twin.model import software as installer

from .vib_lab import ESX, OTHER, VIB, bare, installed, machine, ready, reboot, seed, single_vib, software, stored

DEPOT = stored("550.54.16")
DUE = [{"what": "driver", "needs": "reboot"}]
RUNS = ("nvaie", "550.54.16")


@pytest.fixture
def local(tmp_path):
    """A depot on the controller."""
    path = tmp_path / depot.file_name("nvaie", "550.54.16", "800")
    path.write_bytes(depot.build("nvaie", "550.54.16", "800"))
    return path


def files(twin):
    """{path: SHA-256} of what is on the datastore of the twin, but for the depots of the seed."""
    store = next(iter(machine(twin).datastores.values()))
    with twin.world.lock:
        return {
            path: hashlib.sha256(store.files.get(path).data).hexdigest()
            for path in store.files.paths(deep=True)
            if store.files.get(path) is not None and not path.startswith("depots/")
        }


def test_a_reboot_is_due_until_the_new_driver_runs_whatever_the_installer_says(twin, drive):
    running = twin(seed=seed())
    module = drive(running)
    first = module("nvaie_vib", host=ESX, depot=DEPOT)
    assert (first["changed"], first["host"]["pending"], first["host"]["after"]["loaded"]) == (True, DUE, False)
    again = module("nvaie_vib", host=ESX, depot=DEPOT)
    assert (again["changed"], again["host"]["pending"]) == (False, DUE)
    reboot(running)
    last = module("nvaie_vib", host=ESX, depot=DEPOT)
    assert (last["changed"], last["host"]["pending"]) == (False, [])
    assert (last["host"]["after"]["loaded"], last["host"]["after"]["booted_version"]) == (True, "550.54.16")
    assert software(running) == installed(runs=RUNS)


def test_an_update_keeps_telling_which_version_runs_until_the_reboot(twin, drive):
    running = twin(seed=ready("525.105.14"))
    module = drive(running)
    answer = module("nvaie_vib", host=ESX, depot=DEPOT)["host"]
    assert (answer["after"]["version"], answer["after"]["booted_version"]) == ("550.54.16", "525.105.14")
    assert answer["pending"] == DUE
    reboot(running)
    after = module("nvaie_driver_info", host=ESX)["host"]
    assert (after["booted_version"], after["pending"]) == ("550.54.16", [])


def test_a_driver_that_was_removed_runs_on_until_the_reboot(twin, drive):
    running = twin(seed=ready())
    module = drive(running)
    answer = module("nvaie_vib", host=ESX, state="absent")["host"]
    assert (answer["after"]["version"], answer["after"]["loaded"], answer["pending"]) == (None, True, DUE)
    reboot(running)
    assert module("nvaie_driver_info", host=ESX)["host"]["pending"] == []
    assert software(running) == bare()


def test_a_boot_that_does_not_load_the_driver_is_an_error_and_no_pending_reboot(twin, drive):
    # Times of installation are whole seconds, so that the boot has to be later than that.
    running = twin(seed=seed(boot_seconds=1.2))
    module = drive(running)
    module("nvaie_vib", host=ESX, depot=DEPOT)
    running.control.lose_driver(host=ESX)
    reboot(running)
    answer = module("nvaie_vib", host=ESX, depot=DEPOT)
    assert answer["failure"]["code"] == "driver_not_loaded"
    assert "the module nvidia is not loaded" in answer["msg"]
    assert not answer["changed"]


def test_software_that_was_changed_later_does_not_make_a_running_driver_look_old(twin, drive):
    running = twin(seed=ready(files=[{"path": "extra.zip", "package": "nmst"}]))
    host = machine(running)
    with running.world.lock:
        installer.install(running.world, host, "/vmfs/volumes/datastore-01/extra.zip")
    answer = drive(running)("nvaie_driver_info", host=ESX)["host"]
    assert (answer["loaded"], answer["booted_version"], answer["pending"]) == (True, "550.54.16", [])


def test_a_driver_that_waits_in_the_other_boot_bank_is_seen_and_comes_with_the_boot(twin, drive):
    running = twin(seed=seed(files=[{"path": "extra.zip", "package": "nmst"}]))
    with running.world.lock:
        installer.install(running.world, machine(running), "/vmfs/volumes/datastore-01/extra.zip")
    module = drive(running)
    first, again = (module("nvaie_vib", host=ESX, depot=DEPOT) for dummy in range(2))
    assert (first["failed"], first["changed"], again["changed"]) == (False, True, False)
    assert software(running)["vibs"] == []
    assert again["host"]["pending"] == [{"what": "driver", "needs": "reboot"}]
    reboot(running)
    assert software(running) == installed(runs=("nvaie", "550.54.16"))
    assert module("nvaie_vib", host=ESX, depot=DEPOT)["host"]["pending"] == []


def test_a_local_depot_is_copied_installed_and_kept_for_the_next_host(twin, drive, local):
    running = twin(seed=seed(hosts=2))
    module = drive(running)
    call = {"file": str(local), "datastore": "datastore-01"}
    first = module("nvaie_vib", host=ESX, **call)
    assert first["changed"]
    assert files(running) == {f"aiready/{local.name}": hashlib.sha256(local.read_bytes()).hexdigest()}
    running.requests.clear()
    second = module("nvaie_vib", host=OTHER, **call)
    assert second["changed"]
    assert running.requests["PUT /folder"] == 0
    assert software(running, OTHER) == installed()


def test_check_mode_copies_nothing(twin, drive, local):
    running = twin(seed=seed())
    answer = drive(running)("nvaie_vib", check=True, host=ESX, file=str(local), datastore="datastore-01")
    assert answer["changed"]
    assert files(running) == {}


def test_what_was_copied_is_removed_when_asked_and_what_was_there_stays(twin, drive, local):
    running = twin(seed=seed(hosts=2))
    module = drive(running)
    call = {"file": str(local), "datastore": "datastore-01", "folder": "a/b"}
    assert module("nvaie_vib", host=ESX, keep_upload=False, **call)["changed"]
    assert files(running) == {}
    module("nvaie_vib", host=ESX, state="absent")
    module("nvaie_vib", host=ESX, **call)
    module("nvaie_vib", host=OTHER, keep_upload=False, **call)
    assert list(files(running)) == [f"a/b/{local.name}"]


def test_a_single_vib_is_installed_like_a_depot(twin, drive, tmp_path):
    running = twin(seed=seed())
    path = tmp_path / f"{VIB}_550.54.16.vib"
    path.write_bytes(single_vib())
    answer = drive(running)("nvaie_vib", host=ESX, file=str(path), datastore="datastore-01")
    assert answer["changed"]
    assert software(running)["vibs"] == installed()["vibs"]


def test_a_file_that_another_run_has_left_half_is_copied_anew(twin, drive, local):
    whole = local.read_bytes()
    running = twin(seed=seed())
    host = machine(running)
    store = next(iter(host.datastores.values()))
    with running.world.lock:
        store.files.put(f"aiready/{local.name}.{host.moid}.part", whole[: len(whole) // 2])
    assert drive(running)("nvaie_vib", host=ESX, file=str(local), datastore="datastore-01")["changed"]
    assert files(running) == {f"aiready/{local.name}": hashlib.sha256(whole).hexdigest()}


@pytest.mark.parametrize(
    "alike, check", [(False, False), (False, True), (True, False)], ids=["size", "plan", "content"]
)
def test_another_file_of_the_same_name_is_neither_installed_nor_overwritten(twin, drive, local, alike, check):
    text = "x" * local.stat().st_size if alike else "half a depot"
    running = twin(seed=seed(files=[{"path": f"aiready/{local.name}", "text": text}]))
    before = files(running)
    answer = drive(running)("nvaie_vib", check=check, host=ESX, file=str(local), datastore="datastore-01")
    assert answer["failure"]["code"] == "other_file_there"
    assert files(running) == before
    assert software(running) == bare()


def test_another_file_of_the_same_name_does_not_matter_where_nothing_has_to_be_copied(twin, drive, local):
    running = twin(seed=ready(files=[{"path": f"aiready/{local.name}", "text": "half a depot"}]))
    answer = drive(running)("nvaie_vib", host=ESX, file=str(local), datastore="datastore-01")
    assert (answer["failed"], answer["changed"]) == (False, False)


def test_what_was_copied_is_removed_when_asked_also_after_an_installation_that_failed(twin, drive, local):
    running = twin(seed=seed())
    running.control.fail_command(prefix="esxcli software vib install", text="[LockingError]\n Another one works.")
    answer = drive(running)("nvaie_vib", host=ESX, file=str(local), datastore="datastore-01", keep_upload=False)
    assert answer["failure"]["code"] == "esxcli_failed"
    assert "Wait for the other installation on the host to end" in answer["msg"]
    assert (files(running), software(running)) == ({}, bare())


def test_an_installation_that_took_effect_and_is_reported_as_failed_is_believed_by_what_is_there(twin, drive):
    running = twin(seed=seed())
    running.control.fail_command(prefix="esxcli software vib install", text="[LockingError]\n Busy.", after=True)
    answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT)
    assert (answer["failed"], answer["changed"]) == (False, True)
    assert software(running) == installed()


def test_a_full_datastore_is_reported_and_nothing_is_left_on_it(twin, drive, local):
    data = seed()
    data["datacenters"][0]["datastores"][0].update(capacity_gb=100, free_gb=0)
    running = twin(seed=data)
    answer = drive(running)("nvaie_vib", host=ESX, file=str(local), datastore="datastore-01")
    assert answer["failure"]["code"] == "no_disk_space"
    assert "Free space on the datastore, or choose another one." in answer["msg"]
    assert running.requests["PUT /folder"] == 0
    assert files(running) == {}
    assert software(running) == bare()


def test_a_local_file_that_is_not_there_is_reported_by_its_path(twin, drive, tmp_path):
    running = twin(seed=seed())
    answer = drive(running)("nvaie_vib", host=ESX, file=str(tmp_path / "no.zip"), datastore="datastore-01")
    assert answer["failure"]["code"] == "no_file"
    assert "no.zip" in answer["msg"]


def test_an_answer_that_was_lost_is_replaced_by_a_look_at_the_host(twin, drive, brisk):
    running = twin(seed=seed())
    running.control.drop_command(prefix="esxcli software vib install")
    answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT)
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["pending"] == DUE
    assert software(running) == installed()


# A busy machine may not answer the other requests in one second; then all of it takes longer.
LIMITS_S = (1, 10, 60)


def test_an_installation_may_take_longer_than_other_requests(twin, drive):
    for limit_s in LIMITS_S:
        running = twin(seed={**seed(), "task_seconds": {"esxcli.software.vib.install": 1.5 * limit_s}})
        answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT, request_timeout_s=limit_s)
        if not answer["failed"]:
            break
    assert not answer["failed"], answer["msg"]
    assert software(running) == installed()


def test_an_installation_that_outlasts_its_limit_is_awaited_by_looking(twin, drive, brisk, monkeypatch):
    install = command.table()["software.vib.install"]

    def until_somebody_looks(world, host, **arguments):
        before = host.esxcli_calls["software.vib.list"]
        while host.esxcli_calls["software.vib.list"] == before and not world.closed:
            world.changed.wait(0.05)
        return install.function(world, host, **arguments)

    monkeypatch.setitem(command.table(), install.name, dataclasses.replace(install, function=until_somebody_looks))
    for limit_s in LIMITS_S:
        running = twin(seed=seed())
        answer = drive(running)("nvaie_vib", host=ESX, depot=DEPOT, request_timeout_s=limit_s, esxcli_timeout_s=limit_s)
        if not answer["failed"]:
            break
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["pending"] == DUE
    assert software(running) == installed()


def test_an_installation_that_was_refused_after_the_removal_is_finished_by_the_next_run(twin, drive):
    running = twin(seed=ready(family="graphics"))
    module = drive(running)
    running.control.fail_command(prefix="esxcli software vib install", text="[InstallationError]", count=2)
    broken = module("nvaie_vib", host=ESX, depot=DEPOT, replace=True)
    assert broken["failed"]
    assert broken["changed"]
    assert software(running)["vibs"] == []
    assert module("nvaie_vib", host=ESX, depot=DEPOT, replace=True)["changed"]
    assert software(running) == installed(runs=("graphics", "550.54.16"))


def test_a_look_that_was_cut_off_is_repeated(twin, drive):
    running = twin(seed=ready())
    running.control.drop_command(prefix="esxcli software vib list")
    answer = drive(running)("nvaie_driver_info", host=ESX)
    assert not answer["failed"], answer["msg"]
    assert answer["host"]["version"] == "550.54.16"


def test_an_expired_session_is_renewed_in_the_middle_of_an_upload(twin, drive, local):
    running = twin(seed=seed())
    module = drive(running)
    module("nvaie_driver_info", host=ESX)
    running.control.drop_sessions()
    assert module("nvaie_vib", host=ESX, file=str(local), datastore="datastore-01")["changed"]
    assert software(running) == installed()


def test_looking_costs_the_same_few_requests_in_a_large_data_centre(twin, drive):
    counts = []
    for hosts in (1, 2):
        running = twin(seed=ready(hosts=hosts))
        drive(running)("nvaie_driver_info", host=ESX)
        counts.append(sum(running.requests.values()))
    assert counts[0] == counts[1]
    assert counts[0] <= 20
