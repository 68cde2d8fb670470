"""What AWX 24.6.1 rejects or changes: each answer was compared with the one of its own API to the same request."""

from __future__ import annotations

import base64
import json

import pytest

ARMOUR = "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n"


def key(cipher):
    """The first bytes of a private key of OpenSSH."""
    data = b"openssh-key-v1\0" + len(cipher).to_bytes(4, "big") + cipher
    return ARMOUR.format(base64.b64encode(data).decode())


PLAIN, LOCKED = key(b"none"), key(b"aes256-ctr")


@pytest.fixture
def organization(client):
    return client.make("organizations", name="ops")


def kind(client, name):
    return client.get(f"credential_types/?name={name}")["results"][0]["id"]


def credential(client, organization, type_name, name="c", **inputs):
    fields = {"name": name, "organization": organization, "credential_type": kind(client, type_name)}
    return client.ask("POST", "credentials/", {**fields, "inputs": inputs})


@pytest.mark.parametrize(
    "inputs, answer",
    [
        ({"ssh_key_data": "garbage"}, {"ssh_key_data": ["Invalid certificate or key: garbage..."]}),
        ({"ssh_key_data": LOCKED}, {"ssh_key_unlock": ["must be set when SSH key is encrypted."]}),
        (
            {"ssh_key_data": PLAIN, "ssh_key_unlock": "p"},
            {"ssh_key_unlock": ["should not be set when SSH key is not encrypted."]},
        ),
        ({"username": 5}, {"username": ["5 is not of type 'string'"]}),
    ],
)
def test_a_machine_credential_with_a_wrong_key_is_rejected(client, organization, inputs, answer):
    found = credential(client, organization, "Machine", **inputs)
    assert (found.status, found.body) == (400, {"inputs": answer})


def test_keys_and_questions_of_a_machine_credential_are_saved(client, organization):
    for number, inputs in enumerate(
        (
            {"ssh_key_data": PLAIN},
            {"ssh_key_data": LOCKED, "ssh_key_unlock": "p"},
            {"ssh_key_data": LOCKED, "ssh_key_unlock": "ASK"},
            {"username": None, "password": ""},
        )
    ):
        assert credential(client, organization, "Machine", f"c{number}", **inputs).status == 201
    shown = {row["name"]: row["inputs"] for row in client.get("credentials/")["results"]}
    assert shown["c2"] == {"ssh_key_data": "$encrypted$", "ssh_key_unlock": "ASK"}
    assert shown["c3"] == {"username": ""}


def test_the_name_of_a_vault_stays(client, organization):
    made = credential(client, organization, "Vault", vault_password="p", vault_id="a").body["id"]
    answer = client.ask("PATCH", f"credentials/{made}/", {"inputs": {"vault_password": "$encrypted$", "vault_id": "b"}})
    assert answer.body == {"inputs": ["Vault IDs cannot be changed once they have been created."]}


@pytest.mark.parametrize(
    "field, words",
    [
        ({"choices": ["a", 3]}, "int provided in relative path ['fields', 0, 'choices', 1], expected string"),
        ({"multiline": "x"}, "str provided in relative path ['fields', 0, 'multiline'], expected boolean"),
        ({"help_text": 3}, "int provided in relative path ['fields', 0, 'help_text'], expected string"),
        ({"ask_at_runtime": True}, "'ask_at_runtime' is not supported for custom credentials."),
    ],
)
def test_fields_of_a_credential_type_that_awx_rejects(client, field, words):
    inputs = {"fields": [{"id": "a", "label": "A", **field}]}
    assert client.refused("credential_types", name="t", kind="cloud", inputs=inputs) == {"inputs": [words]}


@pytest.mark.parametrize(
    "fields, answer",
    [
        ({"credential": "Machine"}, {"credential": ["Credential kind must be 'scm'."]}),
        (
            {"scm_type": "archive", "scm_branch": "b"},
            {"scm_branch": ["SCM branch cannot be used with archive projects."]},
        ),
    ],
)
def test_projects_that_awx_rejects(client, organization, fields, answer):
    if "credential" in fields:
        fields = {"credential": credential(client, organization, fields["credential"]).body["id"]}
    given = {"name": "p", "organization": organization, "scm_type": "git", "scm_url": "https://h/x", **fields}
    assert client.refused("projects", **given) == answer


def test_a_manual_project_needs_no_update(client, organization):
    (client.directory / "own").mkdir()
    made = client.make("projects", name="p", organization=organization, local_path="own")
    assert client.get(f"projects/{made}/")["status"] == "ok"
    assert client.ask("POST", f"projects/{made}/update/", {}).status == 405
    assert (client.directory / "own").is_dir()
    words = "This path is already being used by another manual project."
    for path in ("/etc", "../x"):
        refused = client.refused("projects", name="q", organization=organization, local_path=path)
        assert refused == {"local_path": [words]}


def test_links_that_awx_rejects(client, organization):
    (client.directory / "own").mkdir()
    (client.directory / "own" / "site.yml").write_text("- hosts: all\n")
    project = client.make("projects", name="p", organization=organization, local_path="own")
    inventory = client.make("inventories", name="i", organization=organization)
    template = client.make("job_templates", name="t", project=project, inventory=inventory, playbook="site.yml")
    ids = {
        name: credential(client, organization, "Vault", name, vault_password="p", **given).body["id"]
        for name, given in {
            "d": {},
            "c": {},
            "b": {"vault_id": "x"},
            "a": {"vault_id": "y"},
            "e": {"vault_id": "x"},
        }.items()
    }
    link = f"job_templates/{template}/credentials/"
    answers = {name: client.ask("POST", link, {"id": number}) for name, number in ids.items()}
    assert [answers[name].status for name in "dba"] == [204, 204, 204]
    assert answers["c"].body == {"error": "Cannot assign multiple Vault credentials."}
    assert answers["e"].body == {"error": "Cannot assign multiple Vault (id=x) credentials."}
    assert [row["name"] for row in client.get(link)["results"]] == ["a", "b", "d"]
    label, link = client.make("labels", name="l", organization=organization), f"job_templates/{template}/labels/"
    for body in ({"id": label}, {"id": label, "disassociate": True}):
        assert client.ask("POST", link, body).status == 204
    assert client.ask("GET", f"labels/{label}/").status == 404
    answer = client.ask("POST", f"organizations/{organization}/galaxy_credentials/", {"id": ids["a"]})
    assert answer.body == {"msg": "Credential must be a Galaxy credential, not Vault."}


def test_answers_to_questions_about_passwords_are_hidden_in_jobs(client, organization):
    (client.directory / "own").mkdir()
    (client.directory / "own" / "site.yml").write_text("- hosts: all\n")
    project = client.make("projects", name="p", organization=organization, local_path="own")
    inventory = client.make("inventories", name="i", organization=organization)
    fields = {"name": "t", "project": project, "inventory": inventory, "playbook": "site.yml", "survey_enabled": True}
    template = client.make("job_templates", **fields)
    question = {"question_name": "Q", "required": False}
    questions = [{**question, "type": "password", "variable": "word"}, {**question, "type": "text", "variable": "text"}]
    spec = {"name": "", "description": "", "spec": questions}
    assert client.ask("POST", f"job_templates/{template}/survey_spec/", spec).status == 200
    seen = []
    client.service.jobs.start = seen.append
    launched = client.ask("POST", f"job_templates/{template}/launch/", {"extra_vars": {"word": "secret", "text": "t"}})
    shown = {"word": "$encrypted$", "text": "t"}
    for body in (launched.body, client.get(f"jobs/{launched.body['id']}/")):
        assert json.loads(body["extra_vars"]) == shown
        assert "secret" not in json.dumps(body)
    assert json.loads(client.service.jobs.rows[launched.body["id"]]["extra_vars"])["word"] == "secret"
    answer = client.ask("DELETE", f"job_templates/{template}/")
    active = [{"id": launched.body["id"], "type": "job"}]
    assert (answer.status, answer.body["active_jobs"]) == (409, active)
    answer = client.ask("POST", f"job_templates/{template}/launch/", {"limit": None})
    assert (answer.status, answer.body) == (400, {"limit": ["This field may not be null."]})


def test_an_execution_environment_keeps_its_organization(client, organization):
    made = client.make("execution_environments", name="e", image="x", organization=organization)
    other = client.make("organizations", name="other")
    answer = client.ask("PATCH", f"execution_environments/{made}/", {"organization": other})
    assert answer.body == {"organization": ["Cannot change the organization of an execution environment"]}


def test_a_token_is_deleted_once(client):
    token = client.ask("POST", "tokens/", {"scope": "read", "description": "d"}).body
    assert token["description"] == "d"
    assert client.ask("DELETE", f"tokens/{token['id']}/").status == 204
    answer = client.ask("DELETE", f"tokens/{token['id']}/")
    assert (answer.status, answer.body) == (404, {"detail": "No OAuth2AccessToken matches the given query."})
    answer = client.refused("tokens", scope="admin")
    assert answer == {"scope": ["Must be a simple space-separated string with allowed scopes ['read', 'write']."]}


def test_an_image_fits_its_column(client):
    fields = {"name": "e", "image": "a" * 1025}
    words = "Ensure this field has no more than 1024 characters."
    assert client.refused("execution_environments", **fields) == {"image": [words]}


def test_all_unknown_inputs_of_a_credential_are_named(client, organization):
    fields = {"name": "c", "organization": organization, "credential_type": kind(client, "Machine")}
    words = "Additional properties are not allowed ('colour', 'pasword' were unexpected)"
    assert client.refused("credentials", **fields, inputs={"pasword": "x", "colour": "y"}) == {"inputs": [words]}


NO_START = "Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ"
NAIVE = "DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ."
NO_ZONE = "rrule parsing failed validation: A valid TZID must be provided (e.g., America/New_York)"


@pytest.mark.parametrize(
    "rule, words",
    [
        ("RRULE:FREQ=DAILY;INTERVAL=1", [NO_START, NO_ZONE]),
        ("DTSTART:20260101T020000 RRULE:FREQ=DAILY;INTERVAL=1", [NAIVE, NO_ZONE]),
        ("DTSTART:20260101T020000Z EXRULE:FREQ=DAILY;INTERVAL=1", ["One or more rule required in rrule."]),
    ],
)
def test_a_schedule_has_all_reasons_of_awx(client, organization, rule, words):
    project = client.make("projects", name="p", organization=organization, scm_type="git", scm_url="/none")
    assert client.refused("schedules", name="s", unified_job_template=project, rrule=rule) == {"rrule": words}


def test_an_integer_fits_its_column(client):
    words = "Ensure this value is less than or equal to 2147483647."
    assert client.refused("organizations", name="x", max_hosts=99_999_999_999) == {"max_hosts": [words]}


@pytest.mark.parametrize(
    "fields, answer",
    [
        ({}, {"source": ['"" is not a valid choice.']}),
        ({"source": "constructed"}, {"error": ["constructed not a valid source for inventory"]}),
        ({"source": "vmware"}, {"credential": ["Credential is required for a cloud source."]}),
        (
            {"source": "vmware", "credential": "Machine"},
            {
                "credential": [
                    "Cloud-based inventory sources (such as vmware) require credentials for the matching cloud service."
                ]
            },
        ),
        (
            {"source": "vmware", "credential": "VMware vCenter", "source_path": "x"},
            {"detail": ["Cannot set source_path if not SCM type."]},
        ),
        (
            {"source": "scm", "credential": "Vault"},
            {"credential": ["Credentials of type insights and vault are disallowed for scm inventory sources."]},
        ),
        ({"source": "scm", "scm_branch": "b"}, {"scm_branch": ["Project does not allow overriding branch."]}),
    ],
)
def test_inventory_sources_that_awx_rejects(client, organization, fields, answer):
    inventory = client.make("inventories", name="i", organization=organization)
    if "credential" in fields:
        fields = {**fields, "credential": credential(client, organization, fields["credential"]).body["id"]}
    if fields.get("source") == "scm":
        git = {"scm_type": "git", "scm_url": str(client.directory / "missing")}
        fields = {**fields, "source_project": client.make("projects", name="p", organization=organization, **git)}
    assert client.refused("inventory_sources", name="s", inventory=inventory, **fields) == answer


def test_a_group_is_not_below_itself(client, organization):
    inventory = client.make("inventories", name="i", organization=organization)
    first, second = (client.make("groups", name=name, inventory=inventory) for name in "ab")
    assert client.ask("POST", f"groups/{first}/children/", {"id": second}).status == 204
    for group, child in ((second, first), (first, first)):
        answer = client.ask("POST", f"groups/{group}/children/", {"id": child})
        assert answer.body == {"error": "Cyclical Group association."}


@pytest.mark.parametrize(
    "text, words",
    [
        ("[1]", "or YAML (error: Input type `list` is not a dictionary)."),
        ("text", "Cannot parse as JSON (error: Expecting value: line 1 column 1 (char 0))"),
        ("day: 2026-01-01", "Variables not compatible with JSON standard"),
    ],
)
def test_variables_that_awx_rejects(client, organization, text, words):
    refused = client.refused("inventories", name="i", organization=organization, variables=text)
    assert words in refused["variables"][0]


def test_a_token_never_gets_the_id_of_another_one(client):
    first, second = (client.ask("POST", "tokens/", {"scope": "write"}).body for _time in range(2))
    client.ask("DELETE", f"tokens/{first['id']}/")
    assert client.ask("POST", "tokens/", {"scope": "write"}).body["id"] not in (first["id"], second["id"])
