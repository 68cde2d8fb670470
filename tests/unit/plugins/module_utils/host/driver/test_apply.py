# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The change of a host driver by esxcli: its requests, and what becomes of an uploaded package."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import apply
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.source import Source
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.datastore_file import Place

from unit.plugins.module_utils.vcenter.fakes import FakeClock

from .test_plan import depot, graphics, host, nvaie

OLD, NEW = nvaie("535.54.06"), nvaie()
NAME = NEW.name
PLACE = Place("nvme", "driver.zip")
LOCAL = Source(depot(NEW), "driver.zip", PLACE, local="/tmp/driver.zip", checksum="aa")
ONLINE = Source(depot(NEW), "driver.zip", url="https://depot.example/driver.zip?x=1.vib")
INSTALL = ("software.vib.install", {"depot": ONLINE.url})
FAILED = OperatorError("Host esx-01", "it should be installed", "No.", "Look", "esxcli_failed", errors=["[NoMatch]"])
LOST = OperatorError("Host esx-01", "it should be installed", "No answer", "Look", "fate_unknown")
REFUSED = OperatorError("Host esx-01", "it should be installed", "No.", "Look", "no_permission")


def remove(*names):
    return "software.vib.remove", {"vibname": list(names)}


class Files:
    """The files of a datastore; requests that change it are kept."""

    def __init__(self, checksum=None, trouble=None):
        self.there, self.trouble, self.seen = checksum, trouble, []

    def checksum(self, place):
        assert place == LOCAL.place
        return self.there

    def upload(self, local, place, checksum):
        self.seen.append(("upload", local, place, checksum))

    def remove(self, place):
        self.seen.append(("remove", place))
        if self.trouble:
            raise self.trouble


UPLOAD, CLEAN = ("upload", "/tmp/driver.zip", PLACE, "aa"), ("remove", PLACE)


class Esxcli:
    """esxcli of a host; each answer is None or an error."""

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []

    def call(self, command, **arguments):
        self.seen.append((command, arguments))
        error = self.answers.pop(0) if self.answers else None
        if error is not None:
            raise error


@pytest.fixture
def reach(monkeypatch):
    """A host whose states are read one after the other; the last one stays."""
    found = SimpleNamespace(esxcli=Esxcli(), vcenter=SimpleNamespace(clock=FakeClock()), states=[], reads=0)

    def read_again(asked):
        assert asked is found
        found.reads += 1
        return found.states.pop(0) if len(found.states) > 1 else found.states[0]

    monkeypatch.setattr(apply.read, "read_again", read_again)
    return found


def item(now, wanted):
    made = Item("Host esx-01", {}, {})
    made.now, made.wanted = now, wanted
    return made


@pytest.mark.parametrize(
    "now, wanted, source, requests",
    [
        (host(), host(NEW), ONLINE, [INSTALL]),
        (host(OLD), host(NEW), ONLINE, [INSTALL]),
        (host(graphics()), host(NEW), ONLINE, [remove(graphics().name), INSTALL]),
        (host(OLD, graphics()), host(NEW), None, [remove(graphics().name)]),
        (host(OLD), host(), None, [remove(NAME)]),
        (host(OLD), host(), ONLINE, [remove(NAME)]),
    ],
)
def test_what_is_not_wanted_is_removed_before_the_rest_is_installed(reach, now, wanted, source, requests):
    asked = item(now, wanted)
    assert apply.by_esxcli(reach, Files(), asked, source, False) is None
    assert (reach.esxcli.seen, asked.touched) == (requests, True)


def test_a_host_in_service_is_not_changed(reach):
    asked, files = item(host(in_maintenance=False), host(NEW)), Files()
    with pytest.raises(OperatorError) as refused:
        apply.by_esxcli(reach, files, asked, LOCAL, False)
    assert (refused.value.code, asked.touched, files.seen) == ("not_in_maintenance", False, [])


@pytest.mark.parametrize(
    "there, keep, error, seen",
    [
        (None, False, None, [UPLOAD, CLEAN]),
        (None, True, None, [UPLOAD]),
        ("aa", False, None, []),
        (None, False, REFUSED, [UPLOAD, CLEAN]),
        (None, True, REFUSED, [UPLOAD]),
        ("aa", False, REFUSED, []),
    ],
)
def test_a_package_that_this_run_has_uploaded_is_removed_unless_it_is_kept(reach, there, keep, error, seen):
    files, reach.esxcli = Files(there), Esxcli(error)
    asked = item(host(), host(NEW))
    if error:
        with pytest.raises(OperatorError) as failed:
            apply.by_esxcli(reach, files, asked, LOCAL, keep)
        assert failed.value is error
    else:
        assert apply.by_esxcli(reach, files, asked, LOCAL, keep) is None
    assert files.seen == seen


@pytest.mark.parametrize("error, shown", [(REFUSED, "no_permission"), (None, "fate_unknown")])
def test_a_file_that_cannot_be_removed_matters_less_than_the_driver(reach, error, shown):
    files, reach.esxcli = Files(trouble=LOST), Esxcli(error)
    with pytest.raises(OperatorError) as failed:
        apply.by_esxcli(reach, files, item(host(), host(NEW)), LOCAL, False)
    assert failed.value.code == shown


def test_another_file_in_the_place_of_a_package_is_kept():
    files = Files("bb")
    with pytest.raises(OperatorError) as refused:
        apply.provide(files, LOCAL)
    assert (refused.value.code, files.seen) == ("other_file_there", [])
    assert [apply.provide(Files("aa"), LOCAL), apply.provide(Files(), LOCAL)] == [False, True]


@pytest.mark.parametrize(
    "answers, states, uncertain, code, requests",
    [
        ([LOST], [], LOST, None, 1),
        ([REFUSED], [], None, "no_permission", 1),
        ([FAILED], [host(OLD)], None, "esxcli_failed", 1),
        ([FAILED], [host(NEW)], None, None, 1),
        ([FAILED, None], [host()], None, None, 2),
        ([FAILED, FAILED], [host()], None, "esxcli_failed", 2),
    ],
    ids=["lost", "refused", "failed", "done by a killed run", "begun by a killed run", "failed twice"],
)
def test_a_change_that_fails_is_repeated_only_where_the_host_has_changed(
    reach, answers, states, uncertain, code, requests
):
    reach.esxcli, reach.states = Esxcli(*answers), states
    asked = item(host(OLD), host(NEW))
    if code:
        with pytest.raises(OperatorError) as failed:
            apply.by_esxcli(reach, Files(), asked, ONLINE, False)
        assert failed.value.code == code
    else:
        assert apply.by_esxcli(reach, Files(), asked, ONLINE, False) is uncertain
    assert len(reach.esxcli.seen) == requests


def test_after_a_lost_answer_nothing_else_is_requested(reach):
    reach.esxcli = Esxcli(LOST)
    assert apply.by_esxcli(reach, Files(), item(host(graphics()), host(NEW)), ONLINE, False) is LOST
    assert reach.esxcli.seen == [remove(graphics().name)]


@pytest.mark.parametrize(
    "states, uncertain, code, reads",
    [
        ([host(NEW)], None, None, 1),
        ([host(NEW)], LOST, None, 1),
        ([host(OLD)], None, "not_proved", 1),
        ([host(OLD), host(OLD), host(NEW)], LOST, None, 3),
        ([host(OLD)], LOST, "fate_unknown", 13),
    ],
)
def test_the_host_is_read_until_it_has_the_driver(reach, states, uncertain, code, reads):
    reach.states = list(states)
    asked = item(host(OLD), host(NEW))
    if code:
        with pytest.raises(OperatorError) as failed:
            apply.prove(reach, asked, uncertain)
        assert failed.value.code == code
    else:
        apply.prove(reach, asked, uncertain)
    assert (reach.reads, asked.proved.vibs) == (reads, states[-1].vibs)
    assert reach.vcenter.clock.sleeps == [5.0] * (reads - 1)
