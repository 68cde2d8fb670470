"""How a lookup of the role awx connects to the controller, and the fix for each failed connection."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.connection import connection, failure, rejected

HOST = "https://awx.example.org"
HIDDEN = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
ENVIRONMENT = {"CONTROLLER_HOST": HOST, "CONTROLLER_OAUTH_TOKEN": "secret"}


def result(**options):
    """The result of a module; Ansible returns its options with those of module_defaults and of the environment."""
    return {"invocation": {"module_args": {"controller_host": None, "controller_config_file": None, **options}}}


@pytest.mark.parametrize(
    "options, environment, reads",
    [
        ({"controller_host": HOST, "controller_oauthtoken": HIDDEN}, ENVIRONMENT, "environment"),
        ({}, ENVIRONMENT, "environment"),
        (
            {"controller_host": HOST, "controller_oauthtoken": HIDDEN},
            {"TOWER_HOST": HOST, "TOWER_OAUTH_TOKEN": "secret"},
            "environment",
        ),
        # module_defaults name another controller than the environment.
        ({"controller_host": "https://other.example.org", "controller_oauthtoken": HIDDEN}, ENVIRONMENT, "token"),
        # A credential of AWX sets all variables, the token to an empty text if it has a password.
        (
            {"controller_host": HOST, "controller_password": HIDDEN, "controller_oauthtoken": ""},
            {"CONTROLLER_HOST": HOST, "TOWER_HOST": HOST, "CONTROLLER_OAUTH_TOKEN": "", "TOWER_OAUTH_TOKEN": ""},
            "token",
        ),
        # The environment of a play, which a lookup does not get.
        ({"controller_host": HOST, "controller_oauthtoken": HIDDEN}, {}, "token"),
        # Files that the lookup reads too, such as ~/.tower_cli.cfg.
        ({}, {}, "token"),
        ({"controller_host": HOST, "controller_config_file": "a.cfg"}, {}, "token"),
    ],
)
def test_a_lookup_has_the_token_of_the_environment_or_needs_its_own(options, environment, reads):
    found = connection(result(**options), environment=environment)
    assert (found["reads"], found["why"]) == (reads, "")
    assert found["lookup"].get("host") == options.get("controller_host")


@pytest.mark.parametrize(
    "given, environment, why",
    [
        (result(controller_config_file="a.cfg"), {}, "only in the file of controller_config_file"),
        (result(controller_host="https://********.example.org"), {}, "hides the address"),
        ({}, {"CONTROLLER_HOST": HOST}, "did not return the address"),
    ],
)
def test_a_lookup_that_cannot_know_the_controller_has_the_reason(given, environment, why):
    found = connection(given, environment=environment)
    assert found["reads"] == ""
    assert why in found["why"]


def test_a_lookup_uses_the_options_of_the_modules_and_its_own_token():
    given = result(controller_host=HOST, validate_certs=False, request_timeout=30.0, controller_username="u")
    found = connection(given, {"token": "secret", "id": 7}, {})
    assert found["lookup"] == {"host": HOST, "verify_ssl": False, "request_timeout": 30.0, "oauth_token": "secret"}


@pytest.mark.parametrize("given, verified", [(None, True), (True, True), (False, False)])
def test_a_certificate_that_is_not_verified_is_known(given, verified):
    assert connection(result(validate_certs=given), environment={})["verified"] is verified


@pytest.mark.parametrize(
    "cause, fix",
    [
        ("Invalid authentication credentials for /api/v2/organizations/ (HTTP 401)", "Set CONTROLLER_OAUTH_TOKEN"),
        ("Failed to get token: HTTP Error 401: Unauthorized", "Set CONTROLLER_OAUTH_TOKEN"),
        ("Failed to get token: HTTP Error 403: Forbidden", "Use a token"),
        ("Failed to get token: <urlopen error [Errno 111] Connection refused>", "Set CONTROLLER_HOST"),
        ("There was an unknown error when trying to connect to https://awx:4010: URLError", "Set CONTROLLER_HOST"),
        # A gateway has another path, and no tokens of the controller.
        ("The requested object could not be found at /api/v2/organizations/", "/api/controller/, and CONTROLLER_OAUTH"),
        ("Failed to get token: HTTP Error 404: Not Found", "to /api/controller/, and CONTROLLER_OAUTH_TOKEN"),
        ("The host sent back a server error (/api/v2/organizations/): HTTP Error 502: Bad Gateway", "Read the log"),
        ("Unable to create organization aiready: {'name': ['Too long']}", "Read the log"),
    ],
)
def test_each_failed_connection_has_its_cause_and_fix(cause, fix):
    words = failure({"msg": f"{cause}.", **result(controller_host=HOST)}, {})
    assert words.startswith(f"the controller {HOST}. {cause}. ")
    assert fix in words


def test_a_controller_without_an_address_is_named_by_its_source():
    assert failure({"msg": "x", **result()}, {"TOWER_HOST": HOST}).startswith(f"the controller {HOST}. ")
    words = failure({"msg": "x", **result()}, {"AAP_HOSTNAME": HOST})
    assert words.startswith("the controller of the configuration of awx.awx (CONTROLLER_HOST is not set). x. ")
    assert words.endswith("awx.awx does not read AAP_HOSTNAME and AAP_TOKEN.")


@pytest.mark.parametrize(
    "cause, fix",
    [
        (
            "Unable to create job_template a: {'playbook': ['Playbook not found for project.']}",
            "Copy the playbook from",
        ),
        ("Project update failed", "A private repository needs a credential of the kind scm"),
        ("You don't have permission to POST to /api/v2/credential_types/ (HTTP 403)", "Only a system administrator"),
        ("There was a network error of some kind trying to connect to your host", "It continues with the missing"),
        ("Unable to create label a: {'name': ['Too long']}", "Correct the option of the role"),
    ],
)
def test_each_rejected_object_has_its_cause_and_fix(cause, fix):
    failed = {"failed": True, "msg": f"{cause}.", "item": {"name": "a"}}
    words = rejected({"failed": True, "msg": "One or more items failed", "results": [{"item": {}}, failed]})
    assert words.startswith(f"Cannot configure a. {cause}. ")
    assert fix in words


@pytest.mark.parametrize(
    "row",
    [
        {"credential_type": "Machine", "inputs": {"ssh_key_data": "hunter22", "password": "hunter2"}},
        {"notification_configuration": {"password": "hunter2", "headers": {"Authorization": "hunter22"}}},
    ],
)
def test_the_message_about_a_rejected_object_has_no_secret(row):
    words = rejected({"failed": True, "msg": "no hunter22 but hunter2", "item": {"name": "a", **row}})
    assert words.startswith("Cannot configure a. no ******** but ********. ")


def test_the_message_about_a_rejected_key_has_no_part_of_it():
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nc2VjcmV0"
    for field in (f"Invalid certificate or key: {key[:50]}...", f"{key} is not a key"):
        msg = f"Unable to create credential a: { ({'ssh_key_data': [field]}) }"
        words = rejected({"failed": True, "msg": msg, "item": {"credential_type": "Machine", "inputs": {"k": key}}})
        assert words.startswith("Cannot configure ")
        assert "ssh_key_data" in words
        assert "b3Blb" not in words


def test_a_password_in_the_address_of_the_controller_is_hidden():
    words = failure({"msg": "x", **result(controller_host="https://admin:hunter2@awx.example.org")}, {})
    assert words.startswith("the controller https://admin:[not shown]@awx.example.org. x. ")


def test_a_complete_message_of_the_role_stays():
    assert rejected({"msg": "Cannot configure the workflow a. It has nodes."}) == (
        "Cannot configure the workflow a. It has nodes."
    )
    assert rejected({"msg": "'x' is undefined"}).startswith("Cannot configure the objects of the controller. 'x' is")


def test_a_node_is_named_with_its_workflow():
    item = [{"name": "aiready site", "inputs": {}}, {"identifier": "plan"}]
    assert rejected({"msg": "x", "item": item}).startswith("Cannot configure aiready site plan. x. ")
