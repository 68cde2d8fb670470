"""The controller's API, without sockets: logins, fields, references, links and what each kind of object rejects."""

from __future__ import annotations

import base64

import pytest

from vsphere_twin.controller.tables import tables


@pytest.fixture
def project(client):
    folder = client.directory / "aiready"
    for name, text in {
        "site.yml": "- ansible.builtin.import_playbook: aiready.vsphere.site\n",
        "tasks/more.yml": "- hosts: all\n",
        "notes.yml": "a: 1\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    organization = client.make("organizations", name="ops")
    return client.make("projects", name="aiready", organization=organization, local_path="aiready")


def template(client, project, **fields):
    inventory = client.make("inventories", name="all", organization=client.get("organizations/")["results"][0]["id"])
    given = {"name": "site", "project": project, "inventory": inventory, "playbook": "site.yml", **fields}
    return client.ask("POST", "job_templates/", given)


def test_a_request_without_a_login_is_rejected(client):
    assert client.ask("GET", "projects/", headers={}).status == 401
    assert client.ask("GET", "projects/", headers={"Authorization": "Bearer unknown"}).status == 401


def test_a_token_is_a_login_until_it_is_deleted(client):
    made = client.ask("POST", "tokens/", {"scope": "write"}).body
    bearer = {"Authorization": f"Bearer {made['token']}"}
    assert client.ask("GET", "me/", headers=bearer).body["results"][0]["username"] == "admin"
    assert client.ask("DELETE", f"tokens/{made['id']}/").status == 204
    assert client.ask("GET", "me/", headers=bearer).status == 401


def test_a_token_with_the_scope_read_changes_nothing(client):
    token = client.ask("POST", "tokens/", {"scope": "read"}).body["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert client.ask("GET", "organizations/", headers=bearer).status == 200
    assert client.ask("POST", "organizations/", {"name": "ops"}, headers=bearer).status == 403
    assert client.ask("POST", "tokens/", {"scope": "write"}, headers=bearer).status == 403
    assert client.ask("POST", "tokens/", {"scope": "admin"}).status == 400


def test_every_table_lists_its_objects_and_rejects_an_unknown_filter(client):
    for table in set(tables()) - {"workflow_approval_templates"}:
        assert client.get(f"{table}/")["count"] >= 0
        assert client.ask("GET", f"{table}/?colour=red").status == 400
    assert client.ask("GET", "colours/").status == 404


def test_a_missing_field_an_unknown_one_and_a_wrong_type_are_reported_together(client):
    refused = client.refused("organizations", max_hosts="many", colour="red")
    assert refused["name"] == ["This field is required."]
    assert refused["max_hosts"] == ["A valid integer is required."]
    assert "has no field colour" in refused["colour"][0]


def test_a_reference_to_an_object_that_does_not_exist_is_rejected(client):
    assert client.refused("labels", name="a", organization=7) == {
        "organization": ['Invalid pk "7" - object does not exist.']
    }


def test_two_objects_of_one_name_are_rejected(client):
    client.make("organizations", name="ops")
    assert client.refused("organizations", name="ops") == {"name": ["Organization with this Name already exists."]}


def test_a_deleted_organization_takes_its_labels_along(client):
    organization = client.make("organizations", name="ops")
    client.make("labels", name="a", organization=organization)
    assert client.ask("DELETE", f"organizations/{organization}/").status == 204
    assert client.get("labels/")["count"] == 0


def test_a_list_has_pages(client):
    for number in range(3):
        client.make("organizations", name=f"o{number}")
    first = client.get("organizations/?page_size=2")
    assert (first["count"], len(first["results"])) == (3, 2)
    assert len(client.get(first["next"].removeprefix("/api/v2/"))["results"]) == 1


@pytest.mark.parametrize(
    "injectors, words",
    [
        ({"env": {"ANSIBLE_HOST_KEY_CHECKING": "False"}}, "may affect Ansible configuration"),
        ({"env": {"PYTHONPATH": "x"}}, "is not allowed to be used in credentials"),
        ({"env": {"A": "{{ other }}"}}, "'other' is undefined"),
        ({"extra_vars": {"a.b": "x"}}, "does not match any of the regexes"),
        ({"extra_vars": {"a": True}}, "is not valid under any of the given schemas"),
        ({"extra_vars": {"a": "{{ word"}}, "Syntax error"),
        ({"file": {"template": "x", "template.b": "y"}}, "multi-file syntax"),
        ({"colour": {}}, "Additional properties are not allowed"),
    ],
)
def test_injectors_that_awx_rejects(client, injectors, words):
    inputs = {"fields": [{"id": "word", "label": "Word"}]}
    refused = client.refused("credential_types", name="own", kind="cloud", inputs=inputs, injectors=injectors)
    assert words in refused["injectors"][0]


@pytest.mark.parametrize(
    "field, words",
    [
        ({"id": "tower", "label": "T"}, "reserved field name"),
        ({"id": "a", "label": "A", "type": "boolean", "secret": True}, "secret not allowed for boolean type"),
        ({"id": "a b", "label": "A"}, "is an invalid variable name"),
        ({"id": "a"}, "'label' is a required property"),
        ({"id": "a", "label": "A", "dependencies": {}}, "Additional properties are not allowed"),
    ],
)
def test_inputs_that_awx_rejects(client, field, words):
    refused = client.refused("credential_types", name="own", kind="cloud", inputs={"fields": [field]})
    assert words in refused["inputs"][0]


def test_a_custom_type_has_one_of_two_kinds(client):
    assert client.refused("credential_types", name="own", kind="ssh") == {"kind": ['"ssh" is not a valid choice.']}


def test_secrets_are_hidden_and_stay_if_the_hidden_word_comes_back(client):
    organization = client.make("organizations", name="ops")
    kind = client.get("credential_types/?name=Machine")["results"][0]["id"]
    fields = {"name": "key", "organization": organization, "credential_type": kind}
    made = client.make("credentials", **fields, inputs={"username": "root", "password": "p"})
    assert client.get(f"credentials/{made}/")["inputs"] == {"username": "root", "password": "$encrypted$"}
    client.ask("PATCH", f"credentials/{made}/", {"inputs": {"username": "other", "password": "$encrypted$"}})
    assert client.service.objects.row("credentials", made)["inputs"] == {"username": "other", "password": "p"}
    assert client.refused("credentials", **{**fields, "name": "b"}, inputs={"colour": "red"}).keys() == {"inputs"}
    without = {key: value for key, value in fields.items() if key != "organization"}
    assert "organization" in client.refused("credentials", **without, inputs={})["detail"][0]


def test_a_template_names_a_playbook_of_its_project(client, project):
    assert template(client, project).status == 201
    for playbook, words in {
        "": "Must select playbook for project.",
        "aiready.vsphere.site": "Playbook not found for project.",
        "tasks/more.yml": "Playbook not found for project.",
        "notes.yml": "Playbook not found for project.",
    }.items():
        one = {"name": "other", "project": project, "inventory": 1, "playbook": playbook}
        assert client.refused("job_templates", **one) == {"playbook": [words]}


def test_a_template_without_an_inventory_asks_for_one(client, project):
    one = {"name": "site", "project": project, "playbook": "site.yml"}
    assert "ask to prompt" in client.refused("job_templates", **one)["inventory"][0]
    assert client.make("job_templates", **one, ask_inventory_on_launch=True)


def test_a_template_has_one_credential_of_each_type(client, project):
    number = template(client, project).body["id"]
    kind = client.get("credential_types/?name=Machine")["results"][0]["id"]
    first, second = (
        client.make("credentials", name=name, organization=1, credential_type=kind, inputs={}) for name in ("a", "b")
    )
    link = f"job_templates/{number}/credentials/"
    assert client.ask("POST", link, {"id": first}).status == 204
    assert client.ask("POST", link, {"id": second}).body == {"error": "Cannot assign multiple Machine credentials."}
    assert client.ask("POST", link, {"id": first, "disassociate": True}).status == 204
    assert client.ask("POST", link, {"id": second}).status == 204
    assert [row["name"] for row in client.get(link)["results"]] == ["b"]


@pytest.mark.parametrize(
    "question, words",
    [
        ({"type": "boolean"}, "is not one of"),
        ({"required": "yes"}, "expected to be boolean"),
        ({"type": "integer", "default": "3"}, "expected to be integer"),
        ({"type": "multiplechoice"}, "must specify choices"),
        ({"type": "multiplechoice", "choices": ["a"], "default": "b"}, "must be answered from the choices"),
        ({"min": "1"}, "expected to be integer"),
    ],
)
def test_surveys_that_awx_rejects(client, project, question, words):
    number = template(client, project).body["id"]
    good = {"type": "text", "question_name": "Q", "variable": "q", "required": False}
    spec = {"name": "", "description": "", "spec": [{**good, **question}]}
    answer = client.ask("POST", f"job_templates/{number}/survey_spec/", spec)
    assert answer.status == 400
    assert words in answer.body["error"]


def nodes(client, *names):
    workflow = client.make("workflow_job_templates", name="flow", organization=1)
    return [
        client.make("workflow_job_template_nodes", identifier=name, workflow_job_template=workflow) for name in names
    ]


def test_nodes_form_no_cycle(client, project):
    first, second, third = nodes(client, "a", "b", "c")
    for one, other in ((first, second), (second, third)):
        assert client.ask("POST", f"workflow_job_template_nodes/{one}/success_nodes/", {"id": other}).status == 204
    answer = client.ask("POST", f"workflow_job_template_nodes/{third}/always_nodes/", {"id": first})
    assert answer.body == {"Error": "Cycle detected."}
    answer = client.ask("POST", f"workflow_job_template_nodes/{first}/failure_nodes/", {"id": second})
    assert answer.body == {"Error": "Relationship not allowed."}


def test_an_approval_belongs_to_its_node(client, project):
    (node,) = nodes(client, "approval")
    made = client.ask("POST", f"workflow_job_template_nodes/{node}/create_approval_template/", {"name": "OK?"})
    assert made.status == 201
    related = client.get(f"workflow_job_template_nodes/{node}/")["related"]["unified_job_template"]
    assert client.get(related.removeprefix("/api/v2/"))["name"] == "OK?"


def test_a_node_prompts_only_for_what_its_template_asks(client, project):
    number = template(client, project).body["id"]
    workflow = client.make("workflow_job_templates", name="flow", organization=1)
    one = {"identifier": "a", "workflow_job_template": workflow, "unified_job_template": number}
    assert client.refused("workflow_job_template_nodes", **one, limit="esx-01").keys() == {"limit"}
    assert client.refused("workflow_job_template_nodes", **one, extra_data={"a": 1}).keys() == {"extra_data"}


@pytest.mark.parametrize(
    "rule, words",
    [
        ("RRULE:FREQ=DAILY;INTERVAL=1", "Valid DTSTART required"),
        ("DTSTART:20260101T020000Z", "One or more rule required"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY", "INTERVAL required"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=SECONDLY;INTERVAL=1", "SECONDLY is not supported"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=OFTEN;INTERVAL=1", "failed validation"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1000", "COUNT > 999"),
        ("DTSTART;TZID=Europe/Nowhere:20260101T020000 RRULE:FREQ=DAILY;INTERVAL=1", "A valid TZID must be provided"),
        ("DTSTART:20261301T020000Z RRULE:FREQ=DAILY;INTERVAL=1", "failed validation"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=x", "failed validation: invalid 'INTERVAL': X"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=0", "INTERVAL=0 has no next run"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=x", "failed validation: invalid 'COUNT': X"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,XX", "failed validation: invalid 'BYDAY'"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1,2", "failed validation: invalid 'INTERVAL': 1,2"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,", "failed validation: invalid 'BYDAY'"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=x", "failed validation: invalid 'UNTIL': X"),
        ("DTSTART:20260101T020000Z RRULE:FREQ=DAILY;INTERVAL=1;COLOUR=red", "unknown parameter 'COLOUR'"),
    ],
)
def test_schedules_that_awx_rejects(client, project, rule, words):
    number = template(client, project).body["id"]
    refused = client.refused("schedules", name="nightly", unified_job_template=number, rrule=rule)
    assert words in refused["rrule"][0]


def test_a_deleted_project_takes_its_sources_along_and_the_playbooks_of_its_templates(client, project):
    organization = client.get("organizations/")["results"][0]["id"]
    inventory = client.make("inventories", name="hosts", organization=organization)
    git = client.make(
        "projects", name="git", organization=organization, scm_type="git", scm_url=str(client.directory / "no")
    )
    client.make(
        "inventory_sources", name="s", inventory=inventory, source="scm", source_project=git, source_path="a.yml"
    )
    number = template(client, project).body["id"]
    for one in (project, git):
        assert client.ask("DELETE", f"projects/{one}/").status == 204
    left = client.get(f"job_templates/{number}/")
    assert (left["project"], left["playbook"], left["organization"]) == (None, "", organization)
    assert client.get("inventory_sources/")["count"] == 0


def test_schedules_that_awx_accepts(client, project):
    number = template(client, project).body["id"]
    for rule in (
        "DTSTART:20260101T020000Z RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU;BYHOUR=1,2;COUNT=5",
        "DTSTART;TZID=Europe/Berlin:20260101T020000 RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=-1SU;UNTIL=20270101T000000Z",
    ):
        client.make("schedules", name=rule, unified_job_template=number, rrule=rule)


def test_a_project_of_a_missing_repository_has_failed(client):
    organization = client.make("organizations", name="ops")
    fields = {"name": "git", "organization": organization, "scm_type": "git"}
    assert client.refused("projects", **fields) == {"scm_url": ["SCM URL is required."]}
    made = client.make("projects", **fields, scm_url=str(client.directory / "missing"))
    assert client.get(f"project_updates/{made}/")["status"] == "failed"


def test_who_is_no_administrator_changes_nothing(client):
    client.make("users", username="guest", password="p")
    guest = {"Authorization": "Basic " + base64.b64encode(b"guest:p").decode()}
    assert client.ask("GET", "organizations/", headers=guest).status == 200
    assert client.ask("POST", "organizations/", {"name": "x"}, headers=guest).status == 403


# Compared with the API of AWX 24.6.1, with the same requests. A column of (table, fields, answer) each.
NO_LESS = "Ensure this value is greater than or equal to 0."
TYPE = {"kind": "cloud", "inputs": {"fields": [{"id": "host", "label": "H"}]}}


@pytest.mark.parametrize(
    "table, fields, answer",
    [
        ("organizations", {"name": None}, {"name": ["This field cannot be blank."]}),
        ("organizations", {"max_hosts": -1}, {"max_hosts": [NO_LESS]}),
        ("organizations", {"max_hosts": None}, {"max_hosts": ["This field may not be null."]}),
        ("instance_groups", {"max_forks": -1}, {"max_forks": [NO_LESS]}),
        (
            "instance_groups",
            {"policy_instance_percentage": 101},
            {"policy_instance_percentage": ["Ensure this value is less than or equal to 100."]},
        ),
        (
            "execution_environments",
            {"image": "https://x y"},
            {"image": ["The container image name https://x y is not valid"]},
        ),
        (
            "credential_types",
            {**TYPE, "injectors": {"env": []}},
            {"injectors": ["list provided in relative path ['env'], expected dict"]},
        ),
        (
            "credential_types",
            {**TYPE, "inputs": {"fields": [{"id": "host", "label": 5}]}},
            {"inputs": ["int provided in relative path ['fields', 0, 'label'], expected string"]},
        ),
        (
            "credential_types",
            {**TYPE, "inputs": {"fields": [{"id": "host", "label": "H", "choices": "a"}]}},
            {"inputs": ["str provided in relative path ['fields', 0, 'choices'], expected array"]},
        ),
    ],
)
def test_values_that_awx_rejects(client, table, fields, answer):
    assert client.refused(table, **{"name": "x", **fields}) == answer


def test_a_second_object_of_a_name_has_the_words_of_awx(client, project):
    assert template(client, project).status == 201
    inventory = client.get("inventories/")["results"][0]["id"]
    again = {"name": "site", "project": project, "inventory": inventory, "playbook": "site.yml"}
    words = "JobTemplate with this (name, organization) combination already exists."
    assert client.refused("job_templates", **again) == {"__all__": [words]}
    client.make("credential_types", name="t", **TYPE)
    words = "Credential type with this Name and Kind already exists."
    assert client.refused("credential_types", name="t", **TYPE) == {"__all__": [words]}


@pytest.mark.parametrize(
    "fields, answer",
    [
        ({"local_path": "aiready"}, {"local_path": ["This path is already being used by another manual project."]}),
        ({"local_path": "nothing"}, {"local_path": ["This path is already being used by another manual project."]}),
        (
            {"local_path": "more", "scm_update_on_launch": True},
            {"scm_update_on_launch": ["Update options must be set to false for manual projects."]},
        ),
    ],
)
def test_manual_projects_that_awx_rejects(client, project, fields, answer):
    (client.directory / "more").mkdir()
    assert client.refused("projects", name="second", **fields) == answer


def test_awx_reads_no_inventory_from_a_manual_project(client, project):
    inventory = client.make("inventories", name="all", organization=client.get("organizations/")["results"][0]["id"])
    source = {"name": "s", "inventory": inventory, "source": "scm", "source_project": project}
    words = "Cannot use manual project for SCM-based inventory."
    assert client.refused("inventory_sources", **source) == {"source_project": [words]}


def test_inventories_and_groups_that_awx_rejects(client):
    organization = client.make("organizations", name="ops")
    words = "Smart inventories must specify host_filter"
    assert client.refused("inventories", name="s", organization=organization, kind="smart") == {"host_filter": [words]}
    inventory = client.make("inventories", name="i", organization=organization)
    assert client.ask("PATCH", f"inventories/{inventory}/", {"kind": "smart"}).status == 405
    assert client.refused("groups", name="all", inventory=inventory) == {"name": ["Invalid group name."]}
    assert client.refused("hosts", name="h", inventory=inventory, variables={"a": 1}) == {
        "variables": ["Not a valid string."]
    }


@pytest.mark.parametrize(
    "body, words",
    [
        ({"id": 999}, {"detail": "Credential matching query does not exist."}),
        ({"id": 999, "disassociate": True}, {"detail": "Credential matching query does not exist."}),
        ({"id": "x"}, {"msg": '"id" field must be an integer.'}),
        ({"disassociate": True}, {"msg": '"id" is required to disassociate'}),
    ],
)
def test_links_that_awx_rejects(client, project, body, words):
    made = template(client, project).body["id"]
    answer = client.ask("POST", f"job_templates/{made}/credentials/", body)
    assert (answer.status, answer.body) == (400, words)


def test_the_default_of_a_password_stays_if_the_hidden_word_comes_back(client, project):
    made = template(client, project).body["id"]
    question = {"type": "password", "question_name": "Q", "variable": "q", "required": False}
    spec = {"name": "", "description": "", "spec": [{**question, "default": "$encrypted$"}]}
    answer = client.ask("POST", f"job_templates/{made}/survey_spec/", spec)
    assert answer.body["error"].startswith("$encrypted$ is a reserved keyword")
    first = {**spec, "spec": [{**question, "default": "secret-of-a-test"}]}
    assert client.ask("POST", f"job_templates/{made}/survey_spec/", first).status == 200
    assert client.ask("POST", f"job_templates/{made}/survey_spec/", spec).status == 200
    assert client.service.objects.surveys["job_templates", made]["spec"][0]["default"] == "secret-of-a-test"
    assert client.get(f"job_templates/{made}/survey_spec/")["spec"][0]["default"] == "$encrypted$"


def test_the_saved_default_of_a_password_never_becomes_one_of_a_shown_type(client, project):
    made = template(client, project).body["id"]
    question = {"question_name": "Q", "variable": "q", "required": False, "default": "secret-of-a-test"}
    spec = {"name": "", "description": "", "spec": [{**question, "type": "password"}]}
    path = f"job_templates/{made}/survey_spec/"
    assert client.ask("POST", path, spec).status == 200
    shown = {**spec, "spec": [{**question, "type": "text", "default": "$encrypted$"}]}
    answer = client.ask("POST", path, shown)
    words = "$encrypted$ is a reserved keyword for password question defaults, survey question 0 is type text."
    assert (answer.status, answer.body) == (400, {"error": words})
    for variable in ("other", ["q"]):
        other = {**spec, "spec": [{**question, "type": "password", "variable": variable, "default": "$encrypted$"}]}
        assert client.ask("POST", path, other).status == 400
    assert client.service.objects.surveys["job_templates", made] == spec


def test_bodies_that_are_no_objects_are_rejected(client, project):
    made = template(client, project).body["id"]
    organization = client.get("organizations/")["results"][0]
    role = organization["summary_fields"]["object_roles"]["admin_role"]["id"]
    links = (f"organizations/{organization['id']}/galaxy_credentials/", f"roles/{role}/users/")
    for path in (*links, "organizations/", f"job_templates/{made}/launch/"):
        answer = client.ask("POST", path, [1])
        assert (answer.status, answer.body) == (400, {"detail": "JSON parse error - not a JSON object"})


@pytest.mark.parametrize("value", ["--5", "\u00b2", "-", ""])
def test_a_text_that_is_no_integer_is_rejected(client, value):
    assert client.refused("organizations", name="x", max_hosts=value) == {"max_hosts": ["A valid integer is required."]}
    assert client.ask("DELETE", f"tokens/{value}/").status == 405


def test_a_reference_that_is_no_integer_is_rejected(client):
    words = "Incorrect type. Expected pk value, received str."
    assert client.refused("teams", name="x", organization="\u00b2") == {"organization": [words]}
