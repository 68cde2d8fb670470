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
    ],
)
def test_a_list_request_that_awx_rejects(client, query, status, words):
    answer = client.ask("GET", f"organizations/?{query}")
    assert (answer.status, answer.body) == (status, {"detail": words})


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
