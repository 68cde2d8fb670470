"""Files of a configuration repository: the lists of the role awx, in which variables take the place of secrets."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import BUILT_IN
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.files import files
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import objects

SECRETS = {
    "aiready_vcenter_password": "hunter2",
    "aiready_bmc_password": "hunter3",
    "aiready_licence_token_token": "hunter4",
    "aiready_machine_ssh_key_data": "-----BEGIN KEY-----\nhunter5",
    "aiready_machine_become_password": "hunter6",
    "aiready_vault_vault_password": "hunter7",
    "aiready_notification_mail_password": "hunter8",
    "aiready_notification_hook_authorization": "Bearer hunter9",
    "aiready_notification_hook_url": "https://hooks.example.org/services/hunter12",
    "aiready_notification_duty_token": "hunter13",
    "aiready_notification_duty_service_key": "hunter14",
    "aiready_notification_chat_mattermost_url": "https://chat.example.org/hooks/hunter10",
    "aiready_scm_url": "https://ops:hunter11@git.example.org/a.git",
}
MAIL = {"host": "smtp.example.org", "port": 25, "username": "ops", "sender": "o@example.org", "use_tls": True}
MAIL["recipients"] = ["a@example.org"]
OPTIONS = {
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
    "awx_project": {"scm_url": SECRETS["aiready_scm_url"]},
    "awx_credentials": [
        {"kind": "vcenter", "inputs": {"host": "vc", "username": "u", "password": "hunter2"}},
        {"kind": "bmc", "inputs": {"username": "u", "password": "hunter3"}},
        {"kind": "licence", "inputs": {"token": "hunter4"}},
        {
            "kind": "machine",
            "inputs": {
                "username": "ubuntu",
                "ssh_key_data": SECRETS["aiready_machine_ssh_key_data"],
                "become_method": "sudo",
                "become_password": "hunter6",
                "password": "",
            },
        },
        {"kind": "vault", "inputs": {"vault_id": "ops", "vault_password": "hunter7"}},
    ],
    "awx_survey": ["gpu.profile"],
    "awx_notifications": [
        {"name": "mail", "type": "email", "configuration": {**MAIL, "password": "hunter8"}},
        {
            "name": "hook",
            "type": "webhook",
            "configuration": {
                "url": SECRETS["aiready_notification_hook_url"],
                "headers": {"Authorization": "Bearer hunter9", "X-Site": "a"},
            },
        },
        {
            "name": "duty",
            "type": "pagerduty",
            "configuration": {"token": "hunter13", "service_key": "hunter14", "subdomain": "s", "client_name": "c"},
        },
        {
            "name": "chat",
            "type": "mattermost",
            "configuration": {"mattermost_url": SECRETS["aiready_notification_chat_mattermost_url"]},
        },
    ],
    "awx_schedules": [
        {"name": "n", "template": "drift", "rrule": "DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1"}
    ],
}


class Loader(yaml.SafeLoader):
    """Reads a file as Ansible does: a text with the tag !unsafe is never a template."""


class Unsafe(str):
    pass


Loader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def evaluated(value):
    """The value with the secrets of the vault. Any other template would fail."""
    if isinstance(value, dict):
        return {evaluated(key): evaluated(one) for key, one in value.items()}
    if isinstance(value, list):
        return [evaluated(one) for one in value]
    if isinstance(value, str) and not isinstance(value, Unsafe) and "{{" in value:
        return SECRETS[re.fullmatch(r"\{\{ (\w+) \}\}", value)[1]]
    return str(value) if isinstance(value, str) else value


@pytest.mark.parametrize("suffix, end", [("aiready", "_aiready"), ("aiready_dev", "_aiready_dev"), ("", "")])
def test_the_files_have_the_lists_of_the_role_and_no_secret(suffix, end):
    made = files(OPTIONS, suffix)
    assert set(made["secrets"]) == set(SECRETS)
    assert "hunter" not in "".join(made["files"].values())
    found = {}
    for content in made["files"].values():
        found.update(evaluated(Loader(content).get_single_data()))
    for flow in found[f"controller_workflows{end}"]:
        for node in flow["simplified_workflow_nodes"]:
            # Of another organization, a job template may have the same name.
            assert node.pop("lookup_organization", None) == ("aiready" if "unified_job_template" in node else None)
    assert found == {f"{name}{end}": rows for name, rows in objects(OPTIONS).items()}


def test_the_files_have_the_names_of_the_template_repository():
    made = files(OPTIONS)["files"]
    assert {"aap_organizations_aiready.yml", "controller_job_templates_aiready.yml"} <= set(made)
    assert {"controller_workflow_job_templates_aiready.yml", "controller_notification_templates_aiready.yml"} <= set(
        made
    )
    assert len(made) == len(objects(OPTIONS))


@pytest.mark.parametrize("kind", BUILT_IN)
def test_an_unknown_field_is_a_secret(kind):
    # Of a newer controller.
    options = {**OPTIONS, "awx_credentials": [{"kind": kind, "inputs": {"username": "u", "new": "hunter12"}}]}
    assert "hunter12" not in "".join(files(options)["files"].values())


# The second one could be a port and a path.
@pytest.mark.parametrize("login", ["hunter15", "ops:1/hunter15"])
def test_a_token_as_the_login_of_an_address_is_a_secret(login):
    options = {**OPTIONS, "awx_project": {"scm_url": f"https://{login}@git.example.org/a.git"}}
    assert "hunter15" not in "".join(files(options)["files"].values())


def test_two_secrets_do_not_share_a_variable():
    given = [{"kind": "bmc", "name": "a b", "inputs": {"username": "u", "password": "hunter2"}}]
    given += [{"kind": "registry", "name": "a-b", "inputs": {"address": "x", "password": "hunter2"}}]
    assert "aiready_a_b_password" in files({**OPTIONS, "awx_credentials": given})["secrets"]
    given[1]["inputs"]["password"] = "hunter3"
    with pytest.raises(AnsibleFilterError, match="need the variable aiready_a_b_password, ") as problem:
        files({**OPTIONS, "awx_credentials": given})
    assert "hunter" not in str(problem.value)


@pytest.mark.parametrize("suffix", ["Dev", "a-b", "../x", "_a"])
def test_a_suffix_that_ends_no_variable_is_rejected(suffix):
    with pytest.raises(AnsibleFilterError, match="cannot be the end of a variable"):
        files(OPTIONS, suffix)
