# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The licence of a guest from the look to the proof, on a guest in a folder."""

from __future__ import annotations

import json
import os

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import gridd, params, token
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.noun import Licence

from unit.plugins.module_utils.guest.a_guest import SMI, Clock, Guest
from unit.plugins.module_utils.guest.driver.test_noun import Ended, Module

from .test_gridd import TEMPLATE, made_token

SECRET = made_token(iat=1_700_000_000, exp=2_000_000_000, jti="canary")
FILE = f"{gridd.TOKENS}/{token.NAME}"
LICENSED = "Licensed (Expiry: 2026-11-23 10:41:16 GMT)"


class Service(Guest):
    """A guest whose licence service gives out a licence after a while, when its files are right."""

    def __init__(self, root, clock):
        super().__init__(root)
        self.clock = clock
        self.active = "active"
        self.began = clock.wall() - 500
        self.needs_s = 7
        self.gives_back = True
        self.journal = ""
        self.load("550.54.15")
        self.built("550.54.15")
        self.put(gridd.TEMPLATE, TEMPLATE)
        self.unrestricted()

    def unrestricted(self):
        if self.gives_back:
            self.licence = "Unlicensed (Unrestricted)"

    def _systemctl(self, argv):
        if argv[1] == "restart":
            self.began, self.active = self.clock.wall(), "active"
            self.unrestricted()
            return 0, ""
        if argv[1] == "show" and self.active is None:
            return 0, "LoadState=not-found\nActiveState=inactive\n"
        since = int((self.clock.monotonic() - (self.clock.wall() - self.began)) * 1e6)
        return 0, f"LoadState=loaded\nActiveState={self.active}\nActiveEnterTimestampMonotonic={since}\n"

    def _journalctl(self, argv):
        return 0, self.journal

    def _timedatectl(self, argv):
        return 0, "no\n"

    def _nvidia_smi(self, argv):
        tokens = [self.files.text(f"{gridd.TOKENS}/{name}") for name in self.files.names(gridd.TOKENS)]
        fine = SECRET in [text.strip() for text in tokens] and self.needs_s is not None
        if fine and self.active == "active" and self.clock.wall() >= self.began + self.needs_s:
            self.licence = LICENSED
        return super()._nvidia_smi(argv)


@pytest.fixture
def clock():
    return Clock(wall=1_780_000_000.0)


@pytest.fixture
def guest(tmp_path, clock):
    return Service(tmp_path, clock)


def call(guest, check=False, reach=(), **given):
    """The answer of the module on this guest; reach: servers that take connections."""
    checked = ArgumentSpecValidator(params.ARGUMENTS).validate(given)
    assert checked.error_messages == []
    assert params.check_params(checked.validated_parameters) == []
    noun = Licence(guest, guest.files, guest.clock, lambda host, port: (host, port) in reach)
    _settle(guest)
    item = Item("train-01", params.request_of(checked.validated_parameters), {"name": "train-01"})
    with pytest.raises(Ended) as ended:
        runner.run(Module(check), noun, [item], "licence", True)
    answer = ended.value.args[0]
    assert "canary" not in json.dumps(answer)
    assert SECRET not in json.dumps(answer)
    return answer["licence"]


def _settle(guest):
    """Files of the folder are as old as the guest's time, and not as the computer's."""
    for path in [
        path for path in guest.root.rglob("*") if path.is_file() and path.stat().st_mtime > guest.clock.wall()
    ]:
        os.utime(path, (guest.began - 1, guest.began - 1))


def paths(answer):
    return [change["path"] for change in answer["changes"]]


def test_a_guest_gets_its_licence_after_a_while(guest):
    answer = call(guest, token=SECRET)
    assert answer["msg"] == ""
    assert paths(answer) == ["settings.FeatureType", f"token.{token.NAME}"]
    assert guest.files.text(gridd.FILE) == TEMPLATE.replace("#FeatureType=0\n", "#FeatureType=0\nFeatureType=1\n")
    assert guest.files.text(FILE) == SECRET + "\n"
    assert guest.files.mode(FILE) == 0o744
    assert len(guest.did("systemctl", "restart")) == 1
    after = answer["after"]
    assert (after["status"], after["expiry"]) == ("Licensed", "2026-11-23T10:41:16Z")


def test_check_mode_shows_the_name_of_the_token_and_writes_nothing(guest):
    answer = call(guest, check=True, token=SECRET)
    assert paths(answer) == ["settings.FeatureType", f"token.{token.NAME}"]
    assert answer["after"]["status"] == "Licensed"
    assert not guest.files.exists(gridd.FILE)
    assert not guest.did("systemctl", "restart")


def test_a_second_run_restarts_nothing(guest):
    call(guest, token=SECRET)
    guest.ran.clear()
    answer = call(guest, token=SECRET)
    assert (answer["changed"], answer["msg"], answer["after"]["status"]) == (False, "", "Licensed")
    assert not guest.did("systemctl", "restart")


def test_a_guest_that_has_just_started_is_waited_for_without_a_restart(guest):
    call(guest, token=SECRET)
    guest.began = guest.clock.wall()
    guest.unrestricted()
    guest.ran.clear()
    answer = call(guest, token=SECRET)
    assert (answer["changed"], answer["msg"], answer["after"]["status"]) == (False, "", "Licensed")
    assert not guest.did("systemctl", "restart")


def test_the_token_that_is_there_is_used_under_its_own_name(guest):
    guest.put(f"{gridd.TOKENS}/client_configuration_token_01-01-2026.tok", SECRET)
    answer = call(guest)
    assert answer["msg"] == ""
    assert answer["after"]["tokens"] == [{"name": "client_configuration_token_01-01-2026.tok", "mode": "0744"}]
    assert call(guest, token=SECRET)["changed"] is False


def test_a_file_that_the_service_cannot_read_gets_its_mode(guest):
    call(guest, token=SECRET)
    os.chmod(guest.files.at(FILE), 0o600)
    answer = call(guest, token=SECRET)
    assert paths(answer) == [f"token.{token.NAME}.mode"]
    assert guest.files.mode(FILE) == 0o744


def test_files_that_are_newer_than_the_service_are_made_to_count(guest, clock):
    call(guest, token=SECRET)
    clock.spent += 100
    os.utime(guest.files.at(gridd.FILE), (clock.wall() - 10, clock.wall() - 10))
    answer = call(guest, token=SECRET)
    assert paths(answer) == ["service"]
    assert len(guest.did("systemctl", "restart")) == 2


def test_a_file_from_the_future_is_no_reason_to_restart_again_and_again(guest, clock):
    call(guest, token=SECRET)
    os.utime(guest.files.at(gridd.FILE), (clock.wall() + 9999, clock.wall() + 9999))
    assert Licence(guest, guest.files, clock)._current(guest.began, [gridd.FILE]) is True


def test_a_service_that_does_not_run_is_started(guest):
    call(guest, token=SECRET)
    guest.active = "failed"
    answer = call(guest, token=SECRET)
    assert answer["changes"] == [{"path": "service", "before": "failed", "after": "active", "needs": None}]
    assert answer["msg"] == ""


def test_another_token_beside_it_is_named_or_removed(guest):
    other = f"{gridd.TOKENS}/old.tok"
    guest.put(other, "another")
    refused = call(guest, token=SECRET)
    assert refused["failure"]["code"] == "other_tokens"
    assert "the service uses one of them: old.tok" in refused["msg"]
    answer = call(guest, token=SECRET, other_tokens="remove")
    assert answer["msg"] == ""
    assert guest.files.names(gridd.TOKENS) == [token.NAME]


def test_absent_gives_the_licence_back(guest):
    call(guest, token=SECRET)
    answer = call(guest, state="absent")
    assert answer["msg"] == ""
    assert answer["after"]["status"] == "Unlicensed (Unrestricted)"
    assert guest.files.names(gridd.TOKENS) == []
    assert gridd.parse(guest.files.text(gridd.FILE))["FeatureType"] == "0"
    assert call(guest, state="absent")["changed"] is False


def test_a_licence_that_the_service_keeps_is_an_error(guest):
    call(guest, token=SECRET)
    guest.gives_back = False
    answer = call(guest, state="absent", wait_s=30)
    assert (answer["failure"]["code"], answer["changed"]) == ("still_licensed", True)
    assert f"{LICENSED.split(' (')[0]} after 3" in answer["msg"]


def test_a_gpu_that_reports_no_licence_takes_none(guest):
    found = SMI.partition("    vGPU Software")[0].format(version="550.54.15")
    guest._nvidia_smi = lambda argv: (0, found)
    assert call(guest, token=SECRET)["failure"]["code"] == "not_licensable"
    assert call(guest, token=SECRET, proof="none")["msg"] == ""


def test_a_template_without_a_gpu_is_set_up_without_waiting(guest, clock):
    guest.gpu = False
    assert call(guest, token=SECRET)["failure"]["code"] == "no_gpu"
    spent = clock.spent
    assert call(guest, token=SECRET, proof="none")["msg"] == ""
    assert clock.spent == spent
    assert call(guest, token=SECRET, proof="none")["changed"] is False


def refuse(guest, code, **given):
    answer = call(guest, **given)
    assert answer["failure"]["code"] == code, answer["msg"]
    return answer["msg"]


def test_a_guest_without_the_driver_is_refused(guest):
    guest.active = None
    assert "a part of the guest driver" in refuse(guest, "no_licence_service", token=SECRET)


def test_no_token_anywhere_is_refused_before_anything_is_written(guest):
    assert "token folder of the guest is empty" in refuse(guest, "no_token")
    refuse(guest, "no_token", token_file="/var/tmp/none.tok")
    guest.put("/var/tmp/page.tok", "<html>")
    assert "web page" in refuse(guest, "no_token", token_file="/var/tmp/page.tok")
    assert not guest.files.exists(gridd.FILE)


def test_several_tokens_and_none_given_is_refused(guest):
    guest.put(f"{gridd.TOKENS}/a.tok", "one")
    guest.put(f"{gridd.TOKENS}/b.tok", "two")
    assert "a.tok, b.tok" in refuse(guest, "other_tokens")


@pytest.mark.parametrize(
    "claims, code", [({"iat": 1_900_000_000}, "clock_wrong"), ({"exp": 1_600_000_000}, "token_expired")]
)
def test_a_token_of_another_time_is_refused_at_once(guest, claims, code):
    refuse(guest, code, token=made_token(**claims))
    assert not guest.files.exists(gridd.FILE)


@pytest.mark.parametrize(
    "journal, code, words",
    [
        ("NLS initialized\nInvalid feature type requested\n", "feature_type", "no licence for this feature type"),
        ("NLS initialized\nFailed server communication\n", "server_unreachable", "Open the ports 443 and 80"),
        (
            "Couldn't resolve host\nNLS initialized\nSystem clock was turned back\n",
            "clock_wrong",
            "clocks of the guest and the licence server differ",
        ),
        (
            "NLS initialized\nFailed to parse client configuration token, invalid\n",
            "token_refused",
            "cannot use the token",
        ),
        ("NLS initialized\nFailed to update local trusted store\n", "certificate", "do not trust each other"),
        (
            "NLS initialized\nSomething quite new\n",
            "not_licensed",
            "The last log lines of the service: Something quite new",
        ),
        ("Configuration parameter ( ServerAddress  ) not set\nNLS initialized\n", "not_licensed", "no known cause"),
    ],
)
def test_a_guest_without_a_licence_says_why(guest, clock, journal, code, words):
    guest.needs_s = None
    guest.journal = journal
    answer = call(guest, token=SECRET, wait_s=30)
    assert answer["failure"]["code"] == code, answer["msg"]
    assert words in answer["msg"]
    assert "has no licence after 30 s" in answer["msg"]
    assert "The clock of the guest is not synchronised" in answer["msg"]
    assert answer["changed"] is True
    again = call(guest, token=SECRET, wait_s=30)
    assert (again["failure"]["code"], again["changed"]) == (code, False)


def test_a_server_of_the_token_that_does_not_answer_is_named(guest):
    guest.needs_s = None
    nodes = {"node_url_list": [{"url": "dls.example.com"}, {"url": "10.0.0.5:8443"}]}
    text = made_token(jti="canary", service_instance_configuration=nodes)
    answer = call(guest, token=text, wait_s=5, reach={("10.0.0.5", 8443)})
    assert answer["failure"]["code"] == "server_unreachable"
    assert answer["failure"]["unreachable"] == ["dls.example.com"]
    assert "dls.example.com does not answer" in answer["msg"]


def test_a_token_in_the_journal_is_not_repeated(guest):
    guest.needs_s = None
    guest.journal = f"NLS initialized\nrefused {SECRET}\n"
    assert "refused (the token)" in call(guest, token=SECRET, wait_s=5)["msg"]


def test_a_disk_that_is_full_is_an_error_and_the_next_run_goes_on(guest, monkeypatch):
    def full(*_args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert "Free space" in refuse(guest, "disk_full", token=SECRET)
    assert call(guest, token=SECRET)["msg"] == ""
