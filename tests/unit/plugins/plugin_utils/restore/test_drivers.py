"""The earlier driver of a host: its package, the image of its cluster, and what no step restores."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.action.restore_step import ActionModule, _of_others
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.drivers import MODULE, Packages, inverse, prepared
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.judge import CANNOT, DUE, beside, judge
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.plan import narrowed, shown
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.report import report
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import DONE, PLANNED, Step

from .test_steps import entry

SUFFIX = "-1OEM.800.1.0.20613240"
OLD, NEW = f"nvaie 570.158.02{SUFFIX}", f"nvaie 580.65.05{SUFFIX}"
IMAGE = ("image.NVD-AIE-800", OLD[6:], NEW[6:])
VIB = ("vibs.NVD", OLD[6:], NEW[6:])
BACK = {
    "host": "esx-01",
    "family": "nvaie",
    "version": OLD[6:],
    "state": "present",
    "downgrade": "allow",
    "replace": True,
    "other_release": "allow",
}


def made(*changes, host="esx-01", cluster="gpu", state=DONE, when="1", **request):
    ids = {"name": host, "moid": host, "cluster": cluster}
    given = {"host": host, "family": "nvaie", "folder": "aiready", "keep_upload": True, **request}
    return entry(*changes, module=MODULE, host=host, label=host, ids=ids, request=given, state=state, when=when)


def restored(*entries, host="esx-01", others=(), named=None):
    """(arguments of the step or None, reasons) for a host whose runs are these entries."""
    every = [*others, *entries]
    due = [one for one in every if one.run != "earlier"]
    own = [one for one in due if one.host == host]
    found = inverse(prepared(own, due, Packages(every, named or {})))
    (args,) = [one.args for one in found if isinstance(one, Step)] or [None]
    return args, [one.why for one in found if not isinstance(one, Step)]


def first(host="esx-01", **request):
    """A run before those to restore, which installed the old driver."""
    return replace(made(("driver", None, OLD), host=host, **request), run="earlier")


UPGRADE = made(("driver", OLD, NEW, "reboot"), VIB, depot="[ds] new.zip")


@pytest.mark.parametrize(
    "others, named, source",
    [
        ([first(depot="[ds] old.zip", checksum="0" * 64)], {}, {"depot": "[ds] old.zip", "checksum": "0" * 64}),
        ([first(depot="[ds] old.zip"), first("esx-02", depot="[b] old.zip")], {}, {"depot": "[ds] old.zip"}),
        ([first("esx-02", depot="[ds] old.zip")], {}, {"depot": "[ds] old.zip"}),
        (
            [first(file="/srv/old.zip", datastore="ds")],
            {},
            {"file": "/srv/old.zip", "datastore": "ds", "folder": "aiready", "keep_upload": True},
        ),
        ([first(depot="[ds] old.zip")], {"570.158.02": "[ds] mine.zip"}, {"depot": "[ds] mine.zip"}),
        ([], {OLD[6:]: "https://depot.example.org/old.vib"}, {"url": "https://depot.example.org/old.vib"}),
        ([], {"570.158.02": {"file": "/srv/x.vib", "datastore": "ds"}}, {"file": "/srv/x.vib", "datastore": "ds"}),
    ],
    ids=["own run", "own run before another host", "other host", "file", "user first", "full version", "mapping"],
)
def test_the_package_is_the_one_of_the_user_or_of_an_earlier_run(others, named, source):
    assert restored(UPGRADE, others=others, named=named) == ({**BACK, **source}, [])


@pytest.mark.parametrize(
    "others, named",
    [
        ([], {}),
        ([], {"570.124.03": "[ds] other.zip"}),
        ([replace(first(depot="[ds] old.zip"), state=PLANNED)], {}),
    ],
    ids=["none", "another version", "killed run"],
)
def test_without_a_package_the_reason_names_the_driver_and_the_option(others, named):
    args, (why,) = restored(UPGRADE, others=others, named=named)
    assert args is None
    assert f"replaced {OLD}," in why
    assert 'restore_driver to the depot of that driver, for example {"570.158.02": ' in why


@pytest.mark.parametrize("given", ["", [], {"depot": "a", "url": "b"}, {"depot": "a", "password": "b"}, {}])
def test_a_package_of_another_form_is_rejected(given):
    with pytest.raises(AnsibleFilterError, match=r"restore_driver has no package for the driver 570.158.02."):
        Packages([], {"570.158.02": given})


@pytest.mark.parametrize(
    "given, why",
    [
        ("[ds] old.zip", r"restore_driver has the line '\[ds\] old.zip', which names no driver and its package"),
        (["[ds] old.zip"], "which is no mapping"),
        ({"570.158.02": {"file": "/srv/old.zip"}}, 'Set both, for example {"file": "/srv/old.zip", "datastore": '),
    ],
    ids=["path", "list", "file alone"],
)
def test_a_value_without_the_version_or_the_datastore_is_rejected_with_an_example(given, why):
    with pytest.raises(AnsibleFilterError, match=why):
        Packages([], given)


def test_each_host_of_an_image_goes_back_to_the_component_that_the_first_host_replaced():
    one = made(("driver", OLD, NEW), VIB, IMAGE, depot="[ds] new.zip")
    two = made(("driver", OLD, NEW), VIB, host="esx-02", depot="[ds] new.zip", when="2")
    third = made(("driver", OLD, NEW), host="esx-03", cluster="other")
    assert restored(one, two) == (BACK, [])
    assert restored(one, two, host="esx-02") == ({**BACK, "host": "esx-02"}, [])
    (step,) = inverse(prepared([two], [one, two, third], Packages([], {})))
    assert (step.back, step.host) == ({"driver": OLD, IMAGE[0]: OLD[6:]}, "esx-02")
    assert restored(one, third, host="esx-03")[0] is None


def test_settings_that_are_due_alone_keep_the_whole_request():
    one = made(("driver", OLD, NEW), VIB, IMAGE)
    entries = prepared([one], [one], Packages([], {}))
    (step,) = inverse(entries)
    data = dict(shown(step), entries=[asdict(one) for one in entries])
    assert narrowed(data, ["driver"]).args == BACK
    assert narrowed(data, [IMAGE[0]]).args == BACK


def test_a_later_host_of_a_restored_image_gets_its_driver_back():
    one, two = made(("driver", OLD, NEW), VIB, IMAGE), made(("driver", OLD, NEW), VIB, host="esx-02")
    entries = prepared([two], [one, two], Packages([], {}))
    (step,) = inverse(entries)
    values = [("driver", NEW, OLD), (VIB[0], NEW[6:], OLD[6:])]
    changes = [{"path": path, "before": old, "after": new} for path, old, new in values]
    action = ActionModule.__new__(ActionModule)
    action._task = SimpleNamespace(check_mode=False, diff=False)
    calls = []

    def module(name, args, known, check):
        calls.append((args, check))
        return {"host": {"changes": changes, "before": {}, "after": {}}}

    action._module = module
    answer = action._restore(dict(shown(step), entries=[asdict(one) for one in entries]), {})
    assert calls[-1] == ({**BACK, "host": "esx-02"}, False)
    assert {row["setting"]: row["state"] for row in answer["rows"]} == {
        "driver": "restored",
        IMAGE[0]: "already as before",
    }


def test_a_driver_beside_the_image_cannot_be_restored():
    args, (why,) = restored(made(("driver", OLD, NEW), VIB, (IMAGE[0], None, IMAGE[2])))
    assert args is None
    assert "another driver than the image of its cluster" in why
    assert "several drivers" in restored(made(("driver", f"{OLD}, graphics 550", NEW)))[1][0]


@pytest.mark.parametrize("before", [None, OLD[6:]], ids=["driver installed by hand", "remediation without effect"])
def test_an_image_that_changed_without_the_driver_is_set_in_vcenter(before):
    one = made((IMAGE[0], before, IMAGE[2]))
    (found,) = inverse(prepared([one], [one], Packages([], {})))
    assert (found.what, found.why.partition(",")[0]) == (IMAGE[0], "The run changed the image of the cluster")
    again = made((IMAGE[0], IMAGE[2], before), when="2")
    assert inverse(prepared([one, again], [one, again], Packages([], {}))) == []


def test_a_driver_that_came_back_is_compared_by_its_version_again():
    again = made(("driver", NEW, OLD), version=OLD[6:], depot="[ds] old.zip", when="2")
    assert restored(UPGRADE, again) == ({**BACK, "depot": "[ds] old.zip"}, [])


def test_a_killed_run_may_have_left_no_driver_and_a_change_by_another_stays():
    (step,) = inverse(prepared([replace(UPGRADE, state=PLANNED)], [], Packages([], {"570.158.02": "[ds] old.zip"})))
    data = shown(step)
    changes = [{"path": "driver", "before": None, "after": OLD}, {"path": VIB[0], "before": None, "after": OLD[6:]}]
    assert [row.state for row in judge(data, changes)] == [DUE]
    assert beside(data, changes) == []
    changes[0]["before"] = "nvaie 595.1"
    assert [row.state for row in judge(data, changes)] == ["changed since by another"]


def test_a_package_that_is_gone_is_reported_and_does_not_end_the_restore_of_the_host():
    (step,) = inverse(prepared([UPGRADE], [], Packages([], {"570.158.02": "[ds] old.zip"})))
    failed = {"msg": "Cannot find the driver [ds] old.zip.", "failure": {"code": "depot_not_found"}}
    (row,) = _of_others(shown(step), failed)
    assert (row.setting, row.state) == ("driver", CANNOT)
    assert row.why.startswith("Cannot find the driver [ds] old.zip. Set restore_driver ")
    assert _of_others(shown(step), {"failure": {"code": "esxcli_failed"}}) == []
    # A later host of an image has the image first, and its driver has a row, too.
    one, two = made(("driver", OLD, NEW), VIB, IMAGE), made(("driver", OLD, NEW), host="esx-02", when="2")
    (step,) = inverse(prepared([two], [one, two], Packages([], {})))
    assert {row.setting for row in _of_others(shown(step), failed)} == {"driver", IMAGE[0]}


def test_hosts_that_return_to_an_older_branch_are_named_before_the_restore():
    named = {"570.158.02": "[ds] old.zip", "580.65.05": "[ds] new.zip"}
    steps = []
    for number, pair in enumerate([(OLD, NEW), (OLD, NEW), (f"{NEW}1", NEW), (NEW, OLD)], 1):
        one = made(("driver", *pair), host=f"esx-0{number}")
        steps += inverse(prepared([one], [], Packages([], named | {f"{NEW}1"[6:]: "[ds] same.zip"})))
    plan = {"problems": [], "cannot": [], "runs": ["r"], "steps": [shown(step) for step in steps]}
    assert len(steps) == 4
    (line,) = [line for line in report([], plan) if line.startswith("caution")]
    assert "returns from R580 to R570 on esx-01, esx-02. A guest with a driver newer than R570 has no vGPU" in line
    row = {"object": "esx-01", "stage": "hosts", "setting": "driver", "back": OLD, "left": NEW, "found": NEW}
    assert report([{**row, "state": DUE}], plan, True)[0].startswith("caution: the host driver returns")
    assert len(report([{**row, "state": CANNOT}], plan, True)) == 1


@pytest.mark.parametrize(
    "changed, alone", [(True, ["cannot: guests (guests), settings of these runs other"]), (False, [])]
)
def test_a_restore_of_the_guest_driver_names_the_other_settings_of_guests_and_asks_for_no_driver(changed, alone):
    (step,) = inverse(prepared([UPGRADE], [], Packages([], {"570.158.02": "[ds] old.zip"})))
    partly = {
        "object": "guests",
        "stage": "guests",
        "what": "settings of these runs",
        "why": "Set restore_guest_driver.",
    }
    guests = {"changed": changed, "partly": changed}
    plan = {"problems": [], "cannot": [partly][:changed], "runs": ["r"], "steps": [shown(step)], "guests": guests}
    row = {"object": "esx-01", "stage": "hosts", "setting": "driver", "back": OLD, "left": NEW, "found": NEW}
    for lines in (report([], plan, guest_driver=True), report([{**row, "state": DUE}], plan, True, True)):
        assert [line.partition(" than")[0] for line in lines[:-1]] == alone
    assert "Set restore_guest_driver" in " ".join(report([], plan))


@pytest.mark.parametrize("line", ["570.158.02", "570.158.02:", ": [ds] old.zip", '{"570.158.02": "[ds] old.zip"}'])
def test_the_answer_of_a_survey_has_one_package_on_each_line(line):
    lines = "\r\n570.158.02: [ds] old.zip\n\n580.65.05: https://depot.example.org/new.zip\n"
    packages = Packages([], lines)
    assert packages.of("", "vgpu 570.158.02") == {"depot": "[ds] old.zip"}
    assert packages.of("", "vgpu 580.65.05") == {"url": "https://depot.example.org/new.zip"}
    with pytest.raises(AnsibleFilterError, match="Write one line for each version"):
        Packages([], f"{lines}{line}")
