# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import gridd, params, token

TEMPLATE = """# Description: Set Feature to be enabled
# Data type: integer
#FeatureType=0

# Description: Set license borrow period in minutes
#LicenseInterval=1440
EnableUI=TRUE
"""


@pytest.mark.parametrize(
    "text, settings, made",
    [
        pytest.param("", {"FeatureType": "1"}, "FeatureType=1\n", id="nothing there"),
        pytest.param("FeatureType=1\n", {"FeatureType": "1"}, "FeatureType=1\n", id="right already"),
        pytest.param("FeatureType = 1\n", {"FeatureType": "1"}, "FeatureType = 1\n", id="right in another form"),
        pytest.param(
            "FeatureType=0 \nEnableUI=TRUE\n", {"FeatureType": "1"}, "FeatureType=1\nEnableUI=TRUE\n", id="in its place"
        ),
        pytest.param(
            "FeatureType=1\nFeatureType=2\n", {"FeatureType": "1"}, "FeatureType=1\n", id="twice, the last counts"
        ),
        pytest.param("A=1\nFeatureType=1\nB=2", {"FeatureType": None}, "A=1\nB=2\n", id="taken out"),
        pytest.param("FeatureType=1\n", {"FeatureType": None}, "", id="the only one taken out"),
        pytest.param(
            TEMPLATE,
            {"FeatureType": "1"},
            TEMPLATE.replace("#FeatureType=0\n", "#FeatureType=0\nFeatureType=1\n"),
            id="below its explanation in the template",
        ),
        pytest.param(TEMPLATE, {"Unknown": "x"}, TEMPLATE + "Unknown=x\n", id="unknown to the template"),
        pytest.param(TEMPLATE, {"FeatureType": None}, TEMPLATE, id="a comment is no setting"),
    ],
)
def test_only_the_lines_that_are_asked_for_change(text, settings, made):
    assert gridd.with_settings(text, settings) == made
    assert gridd.with_settings(made, settings) == made, "a second time changes nothing"


def test_settings_are_read_as_the_service_reads_them():
    text = '#ServerAddress=a\n ServerAddress = "10.0.0.1" \nFeatureType=0\nFeatureType=4\nbroken line\n'
    assert gridd.parse(text) == {"ServerAddress": "10.0.0.1", "FeatureType": "4"}
    assert gridd.parse(None) == {}


def made_token(**claims):
    packed = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "x"}, claims)
    ]
    return ".".join([*packed, "c2lnbmF0dXJl"])


NODES = {"node_url_list": [{"idx": 0, "url": "dls.example.com"}, {"url": "https://10.0.0.5:8443/x"}, {"url": 7}, "no"]}


@pytest.mark.parametrize(
    "text, found",
    [
        (made_token(iat=100, nbf=110, exp=200), token.Token(100, 110, 200)),
        (made_token(service_instance_configuration=NODES), token.Token(servers=("dls.example.com", "10.0.0.5:8443"))),
        (made_token(exp="soon", iat=True, service_instance_configuration=[1]), token.Token()),
        ("no.token.atall", token.Token()),
        ("opaque", token.Token()),
        ("", token.Token()),
    ],
)
def test_a_token_reports_its_times_and_servers_or_nothing(text, found):
    assert token.read(text) == found


@pytest.mark.parametrize(
    "now, code",
    [(1000, None), (39, "clock_wrong"), (99, None), (2001, "token_expired"), (2000, None)],
)
def test_a_token_is_valid_in_its_time(now, code):
    wrong = token.wrong_time(token.Token(made=100, begins=100, ends=2000), now)
    assert (wrong and wrong[0]) == code
    assert token.wrong_time(token.Token(), now) is None


@pytest.mark.parametrize("text", ["", " \n", "<!DOCTYPE html>", "<html>", "-----BEGIN CERTIFICATE-----"])
def test_what_cannot_be_a_token_is_reported(text):
    assert token.problem(text)


def test_two_tokens_are_reported_apart_by_a_mark_that_reports_nothing_of_them():
    assert token.fingerprint("abc\n") == token.fingerprint("abc")
    assert token.fingerprint("abc") != token.fingerprint("abd")
    assert "abc" not in token.fingerprint("abc")


def given(**more):
    return {**{name: option.get("default") for name, option in params.ARGUMENTS.items()}, **more}


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"token": ""}, "`token` is not a token: it is empty."),
        ({"token": "<html>"}, "it is a web page"),
        ({"token_name": "a/b.tok"}, "without a folder"),
        ({"token_name": "token.txt"}, "ends in .tok"),
        ({"token_name": "../x.tok"}, "without a folder"),
        ({"wait_s": -1}, "is negative"),
        ({"settings": {"FeatureType": 1}}, "Use the option `feature_type`"),
        ({"settings": {"ServerAddress": "10.0.0.1"}}, "NVIDIA has withdrawn"),
        ({"settings": {"A B": 1}}, "not a valid name of a setting"),
        ({"settings": {"LicenseInterval": [1]}}, "not a single line"),
        ({"settings": {"LicenseInterval": "1\nFeatureType=2"}}, "not a single line"),
    ],
)
def test_options_that_make_no_sense_are_reported_and_the_token_is_not(wrong, words):
    problems = params.check_params(given(**wrong))
    assert any(words in problem for problem in problems)


@pytest.mark.parametrize(
    "more, settings",
    [
        ({}, {"FeatureType": "1"}),
        ({"feature_type": "compute"}, {"FeatureType": "4"}),
        ({"feature_type": "rtx_vws", "settings": {"EnableUI": False}}, {"FeatureType": "2", "EnableUI": "FALSE"}),
        (
            {"settings": {"LicenseInterval": 60, "ServerAddress": None}},
            {"FeatureType": "1", "LicenseInterval": "60", "ServerAddress": None},
        ),
        ({"state": "absent"}, {"FeatureType": "0"}),
    ],
)
def test_words_become_the_numbers_of_the_manual(more, settings):
    assert params.check_params(given(**more)) == []
    assert params.requested_settings(given(**more)) == settings


def test_request_does_not_show_the_token():
    shown = repr(params.request_of(given(token="canary", wait_s=7)))
    assert "wait_s=7" in shown
    assert "canary" not in shown
