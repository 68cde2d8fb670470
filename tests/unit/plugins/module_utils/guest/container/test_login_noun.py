# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import json
import os
import pwd
import tempfile
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.login_noun import (
    RegistryLogin,
    check_params,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import LoginRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from .fake_guest import answer

PATH = "/home/me/.docker/config.json"
PLAIN = {
    "registry": "nvcr.io",
    "username": "$oauthtoken",
    "password": "nvapi-canary",
    "state": "present",
    "engine": "docker",
    "user": "",
    "config_file": PATH,
    "check": "always",
    "ca_file": "",
    "insecure": False,
    "proxy": "",
    "no_proxy": [],
}


class Asked:
    """Stands in for a registry that takes a login, or refuses it."""

    def __init__(self, refuses=False):
        self.refuses = refuses
        self.logins = []

    def __call__(self, address, **_options):
        return self

    def takes(self, login):
        self.logins.append(login)
        if self.refuses:
            raise OperatorError("Registry nvcr.io", "refuses the login", "Status 401", "Correct it", "login_refused")
        return "token"


@pytest.fixture
def files(tmp_path):
    return Files(str(tmp_path))


def ask(files, check_mode=False, asked=None, **requested):
    wanted = request(LoginRequest, {**PLAIN, **requested})
    return answer(RegistryLogin(wanted, files, ask=asked or Asked()), wanted, key="login", check=check_mode)


def said(files):
    return json.loads(files.text(PATH))


def test_login_is_written_as_engines_read_it_and_only_the_user_can_read_it(files):
    predicted = ask(files, check_mode=True)
    assert not files.exists(PATH)
    made = ask(files)
    assert predicted["login"] == made["login"]
    auth = base64.b64encode(b"$oauthtoken:nvapi-canary").decode()
    assert said(files) == {"auths": {"nvcr.io": {"auth": auth}}}
    assert files.mode(PATH) == 0o600
    assert made["login"]["checked"] == "token"
    assert not ask(files)["changed"]


def test_password_is_in_no_answer_in_no_form(files):
    first, second = ask(files), ask(files, password="other-canary")
    for reported in (first, second):
        assert "canary" not in json.dumps(reported)
        assert base64.b64encode(b"$oauthtoken:nvapi-canary").decode() not in json.dumps(reported)
    assert [change["path"] for change in second["login"]["changes"]] == ["password"]


def test_other_logins_and_settings_are_kept(files):
    others = {"auths": {"ghcr.io": {"auth": "eDp5"}}, "proxies": {"default": {}}}
    files.write(PATH, json.dumps(others), mode=0o600)
    ask(files)
    ask(files, state="absent")
    assert said(files) == others
    assert not ask(files, state="absent")["changed"]


def test_file_that_others_can_read_is_closed(files):
    ask(files)
    files.set_mode(PATH, 0o644)
    reported = ask(files)
    assert [change["path"] for change in reported["login"]["changes"]] == ["mode"]
    assert files.mode(PATH) == 0o600


def test_logging_out_where_there_is_no_file_makes_none(files):
    assert not ask(files, state="absent")["changed"]
    assert not files.exists(PATH)


def test_refused_login_is_not_written(files):
    for check_mode in (True, False):
        reported = ask(files, check_mode=check_mode, asked=Asked(refuses=True))
        assert reported["failure"]["code"] == "login_refused"
    assert not files.exists(PATH)


@pytest.mark.parametrize("check, times", [("always", 2), ("changed", 1), ("never", 0)])
def test_registry_is_asked_as_often_as_it_shall_be(files, check, times):
    asked = Asked()
    ask(files, asked=asked, check=check)
    ask(files, asked=asked, check=check)
    assert len(asked.logins) == times


@pytest.mark.parametrize(
    "text, code",
    [
        ('{"auths": ', "logins_broken"),
        ('{"auths": []}', "logins_broken"),
        ('{"credsStore": "pass"}', "credential_helper"),
        ('{"credHelpers": {"nvcr.io": "ngc"}}', "credential_helper"),
    ],
    ids=["no JSON", "no logins", "a program keeps all", "a program keeps this one"],
)
def test_file_that_cannot_be_used_is_refused_and_left(files, text, code):
    files.write(PATH, text, mode=0o600)
    assert ask(files)["failure"]["code"] == code
    assert files.text(PATH) == text


def test_login_that_another_tool_wrote_in_another_form_is_recognised(files):
    files.write(PATH, '{"auths": {"nvcr.io": {"username": "$oauthtoken", "password": "nvapi-canary"}}}', mode=0o600)
    assert not ask(files)["changed"]


def test_unknown_user_is_reported(files):
    assert ask(files, user="nobody-of-that-name")["failure"]["code"] == "user_missing"


@pytest.fixture
def open_folder():
    """A folder that every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for others")
def test_login_of_another_user_belongs_to_him_and_is_written_with_his_rights(open_folder):
    nobody = pwd.getpwnam("nobody")
    home = open_folder / "home"
    home.mkdir()
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    path = str(home / ".docker" / "config.json")
    reported = ask(Files(), user="nobody", config_file=path)
    assert reported["changed"], reported
    assert os.stat(path).st_uid == nobody.pw_uid
    assert (os.geteuid(), os.getegid()) == (0, 0)
    # Where he may not write, root does not do it for him.
    guarded = str(open_folder / "guarded.json")
    assert ask(Files(), user="nobody", config_file=guarded)["failure"]["code"] == "file_trouble"


@pytest.mark.parametrize(
    "wrong, problem",
    [
        ({"registry": "https://nvcr.io"}, "Remove https://"),
        ({"registry": "nvcr.io/nvidia"}, "Remove https:// and paths"),
        ({"registry": "nvcr.io:port"}, "not a host name"),
        ({"username": "a:b"}, "colon"),
        ({"password": ""}, "`password`: it is empty"),
        ({"config_file": ".docker/config.json"}, "not an absolute path"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_are_reported(wrong, problem):
    (reported,) = check_params({**PLAIN, **wrong})
    assert problem in reported


@pytest.mark.parametrize("registry", ["nvcr.io", "localhost:5000", "10.0.0.1:443", "[fd00::1]:5000", "r"])
def test_addresses_of_registries(registry):
    assert check_params({**PLAIN, "registry": registry}) == []


def test_request_shows_neither_the_password_nor_the_proxy():
    shown = repr(request(LoginRequest, {**PLAIN, "proxy": "http://me:canary@p.example:3128"}))
    assert "nvcr.io" in shown
    assert "canary" not in shown
