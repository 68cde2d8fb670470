"""Lists of objects: filters, search, order and pages, compared with the API of AWX 24.6.1."""

from __future__ import annotations

import pytest

from .conftest import Client

NAMES = ("ops", "Ops-east", "lab")


@pytest.fixture
def client(tmp_path):
    made = Client(tmp_path)
    for number, name in enumerate(NAMES):
        made.make("organizations", name=name, max_hosts=number, description="of the test" if number else "")
    return made


@pytest.mark.parametrize(
    "query, names",
    [
        ("", ["Ops-east", "lab", "ops"]),
        ("name__icontains=OPS", ["Ops-east", "ops"]),
        ("name__contains=ops", ["ops"]),
        ("name__startswith=Ops", ["Ops-east"]),
        ("name__iendswith=EAST", ["Ops-east"]),
        ("name__iexact=LAB", ["lab"]),
        ("name__in=lab,ops", ["lab", "ops"]),
        ("name__regex=^[a-z]*$", ["lab", "ops"]),
        ("not__name=lab", ["Ops-east", "ops"]),
        ("or__name=lab&or__name=ops", ["lab", "ops"]),
        ("max_hosts__gt=0", ["Ops-east", "lab"]),
        ("max_hosts__lte=1&order_by=-max_hosts", ["Ops-east", "ops"]),
        ("description__isnull=true", []),
        ("default_environment__isnull=true&name=lab", ["lab"]),
        ("search=EAST", ["Ops-east"]),
        ("search=test&order_by=-id", ["lab", "Ops-east"]),
        ("order_by=-name", ["ops", "lab", "Ops-east"]),
        ("page_size=0&name=lab", ["lab"]),
        ("page_size=x&name=lab", ["lab"]),
        ("page_size=%C2%B2&name=lab", ["lab"]),
        ("search=test%20lab", ["lab"]),
        ("search=lab,%22of%20the%22", ["lab"]),
        ("search=lab%20ops", []),
        ("max_hosts__in=0,2", ["lab", "ops"]),
        ("max_hosts__contains=2", ["lab"]),
        ("default_environment=null&name__iregex=^O", ["Ops-east", "ops"]),
        ("created__gt=2000-01-01&created__lt=2999-01-01T00:00:00Z&name=lab", ["lab"]),
    ],
)
def test_a_list_has_the_objects_that_awx_finds(client, query, names):
    assert [one["name"] for one in client.get(f"organizations/?{query}")["results"]] == names


@pytest.mark.parametrize(
    "query, status, words",
    [
        ("colour=1", 400, "Organization has no field named 'colour'"),
        ("order_by=colour", 400, "Organization has no field named 'colour'"),
        ("name__colour=1", 400, "No related model for field colour."),
        ("id=x", 400, '["\u201cx\u201d value must be an integer."]'),
        ("max_hosts__gt=x", 400, '["\u201cx\u201d value must be an integer."]'),
        ("page=x", 404, "Invalid page."),
        ("page=0", 404, "Invalid page."),
        ("page=9", 404, "Invalid page."),
        ("page=%C2%B2", 404, "Invalid page."),
        ("name__regex=(", 400, "missing ), unterminated subpattern at position 0"),
        ("id__gt=--5", 400, '["\u201c--5\u201d value must be an integer."]'),
        ("id__in=", 400, "cannot provide empty value for __in"),
        ("id__in=1,x", 400, '["\u201cx\u201d value must be an integer."]'),
        ("max_hosts__iexact=1", 400, "max_hosts is not a text field and cannot be filtered by case-insensitive search"),
        ("description__isnull=maybe", 400, 'Unable to convert "maybe" to boolean'),
        ("default_environment__gt=abc", 400, "Invalid default_environment id: abc"),
        ("default_environment__gt=null", 400, "Cannot use None as a query value"),
        ("default_environment__colour=1", 400, "ExecutionEnvironment has no field named 'colour'"),
        ("default_environment__image__colour=1", 400, "No related model for field colour."),
        ("default_environment__contains=1", 400, "Related Field got invalid lookup: contains"),
    ],
)
def test_a_list_request_that_awx_rejects(client, query, status, words):
    answer = client.ask("GET", f"organizations/?{query}")
    assert (answer.status, answer.body) == (status, {"detail": words})


@pytest.mark.parametrize(
    "path, status, words",
    [
        ("users/?is_superuser=maybe", 400, 'Unable to convert "maybe" to boolean'),
        ("users/?is_superuser__gt=x", 400, 'Unable to convert "x" to boolean'),
        ("users/?password__startswith=p", 403, "Filtering on password is not allowed."),
        ("users/?order_by=password", 403, "Filtering on password is not allowed."),
        ("credentials/?inputs__icontains=p", 403, "Filtering on field inputs is not allowed."),
        ("job_templates/?extra_vars__contains=p", 403, "Filtering on extra_vars is not allowed."),
        (
            "notification_templates/?notification_configuration=p",
            403,
            "Filtering on notification_configuration is ",
        ),
        ("jobs/?nofield=1", 400, "Job has no field named 'nofield'"),
        ("workflow_approvals/?order_by=nofield", 400, "WorkflowApproval has no field named 'nofield'"),
        ("jobs/?started__gt=now", 400, '["\u201cnow\u201d value has an invalid format.'),
    ],
)
def test_filters_of_other_tables_that_awx_rejects(client, path, status, words):
    answer = client.ask("GET", path)
    assert (answer.status, answer.body["detail"][: len(words)]) == (status, words)


def test_a_list_is_filtered_by_fields_of_references(client):
    number = client.get("organizations/?name=ops")["results"][0]["id"]
    for name, of in (("first", number), ("second", number + 1)):
        inventory = client.make("inventories", name=name, organization=of)
        client.make("hosts", name=f"host of {name}", inventory=inventory)

    def names(path):
        return [one["name"] for one in client.get(path)["results"]]

    assert names("inventories/?organization__name=ops") == ["first"]
    assert names("inventories/?not__organization__name__startswith=op") == ["second"]
    assert names("hosts/?inventory__organization__name=ops") == ["host of first"]
    assert names("organizations/?default_environment__name=none") == []
    answer = client.ask("GET", "hosts/?inventory__variables__organization=1")
    assert (answer.status, answer.body) == (400, {"detail": "No related model for field organization."})


def test_a_boolean_and_an_object_can_be_compared(client):
    client.make("users", username="guest", password="p")
    assert [one["username"] for one in client.get("users/?is_superuser__lt=T")["results"]] == ["guest"]
    assert client.get("credential_types/?inputs__gt=%7B&inputs__contains=host")["count"] > 0


def test_what_cannot_be_changed_or_deleted(client):
    number = client.get("organizations/?name=ops")["results"][0]["id"]
    assert client.ask("PUT", f"organizations/{number}/", {"description": "x"}).body == {
        "name": ["This field is required."]
    }
    assert client.ask("PUT", f"organizations/{number}/", {"name": "other"}).status == 200
    missing = client.ask("GET", "workflow_job_templates/999/")
    assert (missing.status, missing.body["detail"]) == (404, "No WorkflowJobTemplate matches the given query.")
    label = client.make("labels", name="l", organization=number)
    assert client.ask("DELETE", f"labels/{label}/").status == 405
    group = f"instance_groups/{client.get('instance_groups/?name=default')['results'][0]['id']}/"
    assert client.ask("DELETE", group).status == 403
    words = "default instance group name may not be changed."
    assert client.ask("PATCH", group, {"name": "other"}).body == {"name": [words]}


def test_tokens_are_listed_without_their_text(client):
    made = [client.ask("POST", "tokens/", {"scope": "read", "description": text}).body for text in "ab"]
    listed = client.ask("GET", "tokens/?description=a&created__lt=2100-01-01T00:00:00Z").body
    assert [(one["id"], one["token"]) for one in listed["results"]] == [(made[0]["id"], "************")]
    assert client.ask("GET", "tokens/?created__lt=2020-01-01T00:00:00Z").body["count"] == 0
    assert client.ask("GET", "tokens/?name=a").status == 400
