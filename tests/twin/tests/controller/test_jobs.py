"""Launches of job templates and workflows, without sockets: status, surveys, approvals, artifacts, notifications."""

from __future__ import annotations

import base64
import json

import pytest

from vsphere_twin.controller.jobs import Outcome

from .conftest import Client


class Lab:
    """A controller with one project, whose jobs end as a test decides."""

    def __init__(self, directory):
        self.client = Client(directory)
        (directory / "p").mkdir()
        (directory / "p" / "site.yml").write_text("- hosts: all\n")
        make = self.client.make
        self.organization = make("organizations", name="ops")
        self.project = make("projects", name="p", organization=self.organization, local_path="p")
        self.inventory = make("inventories", name="i", organization=self.organization)
        self.outcomes, self.ran, self.sent = {}, [], []
        jobs = self.jobs = self.client.service.jobs
        jobs.execute, jobs.deliver, jobs.start = self._execute, self._deliver, lambda work: work()

    def _execute(self, job):
        self.ran.append((job["name"], json.loads(job["extra_vars"])))
        return self.outcomes.get(job["name"], Outcome())

    def _deliver(self, template, event, job):
        self.sent.append((template["name"], event, job["name"], job["status"]))

    def template(self, name, **fields):
        given = {"project": self.project, "inventory": self.inventory, "playbook": "site.yml", **fields}
        return self.client.make("job_templates", name=name, **given)

    def launch(self, number, table="job_templates", **body):
        return self.client.ask("POST", f"{table}/{number}/launch/", body)

    def flow(self):
        """plan, then an approval, then site; a failure of site leads to report."""
        number = self.client.make("workflow_job_templates", name="flow", organization=self.organization)
        nodes = {}
        for name in ("plan", "approval", "site", "report"):
            of = {} if name == "approval" else {"unified_job_template": self.template(name)}
            fields = {"identifier": name, "workflow_job_template": number, **of}
            nodes[name] = self.client.make("workflow_job_template_nodes", **fields)
        path = "workflow_job_template_nodes/{}/{}/"
        text = {"name": "Approve plan", "description": "Read it.", "timeout": 0}
        assert self.client.ask("POST", path.format(nodes["approval"], "create_approval_template"), text).status == 201
        for one, link, other in (
            ("plan", "success_nodes", "approval"),
            ("approval", "success_nodes", "site"),
            ("site", "failure_nodes", "report"),
        ):
            assert self.client.ask("POST", path.format(nodes[one], link), {"id": nodes[other]}).status == 204
        return number

    def status(self, number):
        return self.client.get(f"workflow_jobs/{number}/")["status"]


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def test_a_job_passes_every_status_and_keeps_its_artifacts(lab):
    lab.outcomes["site"] = Outcome(artifacts={"aiready_site": {"check": False}})
    launched = lab.launch(lab.template("site", extra_vars="a: 1"))
    assert launched.status == 201
    job = lab.client.get(f"jobs/{launched.body['job']}/")
    assert (job["status"], job["failed"], job["launch_type"]) == ("successful", False, "manual")
    assert lab.jobs.history[job["id"]] == ["new", "pending", "waiting", "running", "successful"]
    assert job["artifacts"] == {"aiready_site": {"check": False}}
    assert lab.ran == [("site", {"a": 1})]


def test_artifacts_above_the_limit_are_lost(lab):
    lab.outcomes["site"] = Outcome(artifacts={"a": "x" * 700_000})
    assert lab.client.get(f"jobs/{lab.launch(lab.template('site')).body['job']}/")["artifacts"] == {}


def test_without_a_program_for_jobs_the_job_ends_in_error_and_says_so(lab):
    lab.jobs.execute = type(lab.jobs)(None).execute
    job = lab.client.get(f"jobs/{lab.launch(lab.template('site')).body['job']}/")
    assert job["status"] == "error"
    assert "no program that runs jobs" in job["job_explanation"]


SURVEY = {"type": "integer", "question_name": "GPUs", "variable": "gpus", "required": True, "min": 1, "max": 8}
CHOICE = {
    **SURVEY,
    "type": "multiplechoice",
    "required": False,
    "choices": ["a", "b"],
    "default": "a",
    "variable": "profile",
    "min": None,
    "max": None,
}


@pytest.mark.parametrize(
    "answers, words",
    [
        ({}, "'gpus' value missing"),
        ({"gpus": 0}, "is too small (must be at least 1)"),
        ({"gpus": 9}, "is too large (must be no more than 8)"),
        ({"gpus": "4"}, "expected to be an integer"),
        ({"gpus": True}, "expected to be an integer"),
        ({"gpus": 1, "profile": "c"}, "expected to be one of ['a', 'b']"),
    ],
)
def test_wrong_answers_of_a_survey_launch_nothing(lab, answers, words):
    number = lab.template("site", survey_enabled=True)
    spec = {"name": "", "description": "", "spec": [SURVEY, CHOICE]}
    assert lab.client.ask("POST", f"job_templates/{number}/survey_spec/", spec).status == 200
    answer = lab.launch(number, extra_vars=answers)
    assert answer.status == 400
    assert words in answer.body["variables_needed_to_start"][0]
    assert lab.ran == []


def test_answers_and_defaults_of_a_survey_are_variables_and_others_are_ignored(lab):
    number = lab.template("site", survey_enabled=True, extra_vars="gpus: 2")
    spec = {"name": "", "description": "", "spec": [SURVEY, CHOICE]}
    lab.client.ask("POST", f"job_templates/{number}/survey_spec/", spec)
    answer = lab.launch(number, extra_vars={"gpus": 4, "site": {}}, limit="esx-01")
    assert answer.body["ignored_fields"] == {"extra_vars": {"site": {}}, "limit": "esx-01"}
    assert lab.ran == [("site", {"gpus": 4, "profile": "a"})]
    # An empty text is a valid default, and an empty choice is none.
    text = {"type": "text", "question_name": "Text", "required": False}
    spec["spec"] = [{**text, "variable": "a", "default": ""}, {**text, "variable": "b"}, {**CHOICE, "default": ""}]
    lab.client.ask("POST", f"job_templates/{number}/survey_spec/", spec)
    assert lab.launch(number).status == 201
    assert lab.ran[1:] == [("site", {"gpus": 2, "a": ""})]
    spec["spec"] = [SURVEY, CHOICE]
    # A default does not answer a required question.
    spec["spec"][1] = {**CHOICE, "required": True}
    lab.client.ask("POST", f"job_templates/{number}/survey_spec/", spec)
    answer = lab.launch(number, extra_vars={"gpus": 4})
    assert answer.body == {"variables_needed_to_start": ["'profile' value missing"]}


@pytest.mark.parametrize(
    "body, field",
    [({"extra_vars": ["a"]}, "extra_vars"), ({"extra_vars": "a: ["}, "extra_vars"), ({"colour": "red"}, "colour")],
)
def test_a_launch_with_wrong_fields_is_rejected(lab, body, field):
    answer = lab.launch(lab.template("site"), **body)
    assert (answer.status, list(answer.body)) == (400, [field])


def test_a_launch_without_an_inventory_is_rejected(lab):
    number = lab.template("site", inventory=None, ask_inventory_on_launch=True)
    assert "inventory" in lab.launch(number).body
    assert lab.launch(number, inventory=lab.inventory).status == 201


def test_a_launch_without_a_credential_of_the_template_is_rejected(lab):
    number = lab.template("site", ask_credential_on_launch=True)
    kind = lab.client.get("credential_types/?name=VMware vCenter".replace(" ", "%20"))["results"][0]["id"]
    inputs = {"host": "vcenter.example.org", "username": "u", "password": "p"}
    fields = {"organization": lab.organization, "credential_type": kind, "inputs": inputs}
    own, other = (lab.client.make("credentials", name=name, **fields) for name in ("own", "other"))
    assert lab.client.ask("POST", f"job_templates/{number}/credentials/", {"id": own}).status == 204
    answer = lab.launch(number, credentials=[])
    assert answer.status == 400
    assert "Removing VMware vCenter credential at launch time" in answer.body["credentials"][0]
    assert f"lacked credential(s): own-{own}." in answer.body["credentials"][0]
    assert lab.launch(number, credentials=[99]).body == {"credentials": ['Invalid pk "99" - object does not exist.']}
    assert "Expected a list" in lab.launch(number, credentials=own).body["credentials"][0]
    job = lab.launch(number, credentials=[other]).body["job"]
    assert lab.client.service.jobs.rows[job]["credentials"] == [other]


def test_a_launch_says_what_it_needs(lab):
    number = lab.template("site", survey_enabled=True)
    lab.client.ask("POST", f"job_templates/{number}/survey_spec/", {"name": "", "description": "", "spec": [SURVEY]})
    asked = lab.client.get(f"job_templates/{number}/launch/")
    assert (asked["can_start_without_user_input"], asked["variables_needed_to_start"]) == (False, ["gpus"])
    launched = lab.launch(number, extra_vars={"gpus": 1}).body["job"]
    jobs = lab.client.get(f"job_templates/{number}/jobs/?status=successful")["results"]
    assert [one["id"] for one in jobs] == [launched]
    assert lab.client.get(f"job_templates/{number}/jobs/?status=failed")["results"] == []
    lab.launch(number, extra_vars={"gpus": 2})
    found = lab.client.get(f"job_templates/{number}/jobs/?order_by=-id&status__in=successful,failed&page_size=1")
    assert (found["count"], [one["id"] for one in found["results"]]) == (2, [2])
    assert lab.client.get(found["next"].removeprefix("/api/v2/"))["results"][0]["id"] == 1
    assert lab.client.get("jobs/?failed=False&id__lt=2")["count"] == 1


def test_a_job_of_a_project_that_is_not_synced_fails_before_it_runs(lab):
    fields = {"name": "git", "organization": lab.organization, "scm_type": "git", "allow_override": True}
    project = lab.client.make("projects", **fields, scm_url=str(lab.client.directory / "missing"))
    launched = lab.launch(lab.template("site", project=project))
    job = lab.client.get(f"jobs/{launched.body['job']}/")
    assert (job["status"], lab.ran) == ("failed", [])
    assert "The project git is not synced: failed." in job["job_explanation"]


def test_an_approved_workflow_goes_on_with_the_artifacts_of_its_plan(lab):
    lab.outcomes["plan"] = Outcome(artifacts={"aiready_plan": "/srv/results/1"})
    flow = lab.launch(lab.flow(), "workflow_job_templates").body["workflow_job"]
    assert (lab.status(flow), [name for name, _variables in lab.ran]) == ("running", ["plan"])
    (approval,) = lab.client.get("workflow_approvals/?status=pending")["results"]
    assert (approval["name"], approval["description"]) == ("Approve plan", "Read it.")
    assert lab.client.ask("POST", f"workflow_approvals/{approval['id']}/approve/").status == 204
    assert lab.ran[1] == ("site", {"aiready_plan": "/srv/results/1"})
    assert lab.status(flow) == "successful"
    nodes = {one["identifier"]: one for one in lab.client.get(f"workflow_jobs/{flow}/workflow_nodes/")["results"]}
    assert (nodes["report"]["do_not_run"], nodes["site"]["summary_fields"]["job"]["status"]) == (True, "successful")
    again = lab.client.ask("POST", f"workflow_approvals/{approval['id']}/deny/")
    assert (again.status, "already been approved" in again.body["error"]) == (400, True)


def test_a_denied_workflow_changes_nothing_and_fails(lab):
    flow = lab.launch(lab.flow(), "workflow_job_templates").body["workflow_job"]
    number = lab.client.get("workflow_approvals/")["results"][0]["id"]
    assert lab.client.ask("POST", f"workflow_approvals/{number}/deny/").status == 204
    assert ([name for name, _variables in lab.ran], lab.status(flow)) == (["plan"], "failed")


def test_a_failed_plan_is_never_offered_for_approval(lab):
    lab.outcomes["plan"] = Outcome(successful=False)
    flow = lab.launch(lab.flow(), "workflow_job_templates").body["workflow_job"]
    assert (lab.status(flow), lab.client.get("workflow_approvals/")["count"]) == ("failed", 0)


def test_a_failure_with_a_path_of_its_own_does_not_fail_the_workflow(lab):
    lab.outcomes["site"] = Outcome(successful=False)
    flow = lab.launch(lab.flow(), "workflow_job_templates").body["workflow_job"]
    lab.client.ask("POST", f"workflow_approvals/{lab.client.get('workflow_approvals/')['results'][0]['id']}/approve/")
    assert [name for name, _variables in lab.ran] == ["plan", "site", "report"]
    assert lab.status(flow) == "successful"


def login(name):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:p".encode()).decode()}


def role(lab, user, table, number, name):
    """Give a new user a role; the headers of the user."""
    member = lab.client.make("users", username=user, password="p")
    found = lab.client.get(f"{table}/{number}/")["summary_fields"]["object_roles"][name]["id"]
    assert lab.client.ask("POST", f"roles/{found}/users/", {"id": member}).status == 204
    assert [one["username"] for one in lab.client.get(f"roles/{found}/users/")["results"]] == [user]
    return login(user)


def refused(answer):
    return (answer.status, answer.body) == (403, {"detail": "You do not have permission to perform this action."})


def test_who_has_no_role_neither_launches_nor_approves_nor_changes(lab):
    lab.client.make("users", username="guest", password="p")
    number = lab.flow()
    assert refused(lab.client.ask("POST", f"workflow_job_templates/{number}/launch/", {}, headers=login("guest")))
    assert refused(lab.client.ask("PATCH", f"workflow_job_templates/{number}/", {}, headers=login("guest")))
    flow = lab.launch(number, "workflow_job_templates").body["workflow_job"]
    approval = lab.client.get("workflow_approvals/")["results"][0]["id"]
    assert refused(lab.client.ask("POST", f"workflow_approvals/{approval}/approve/", headers=login("guest")))
    assert lab.status(flow) == "running"


@pytest.mark.parametrize(
    "name, launches, approves, changes",
    [
        ("execute_role", True, False, False),
        ("approval_role", False, True, False),
        ("read_role", False, False, False),
        ("admin_role", True, True, True),
    ],
)
@pytest.mark.parametrize("on", ["workflow_job_templates", "organizations"])
def test_each_role_of_a_workflow_permits_its_own_step(lab, on, name, launches, approves, changes):
    number = lab.flow()
    headers = role(lab, "user", on, number if on == "workflow_job_templates" else lab.organization, name)
    path = f"workflow_job_templates/{number}/"
    launched = lab.client.ask("POST", f"{path}launch/", {}, headers=headers)
    assert refused(launched) != launches
    if not launches:
        lab.launch(number, "workflow_job_templates")
    approval = lab.client.get("workflow_approvals/")["results"][0]["id"]
    answered = lab.client.ask("POST", f"workflow_approvals/{approval}/approve/", headers=headers)
    assert refused(answered) != approves
    assert refused(lab.client.ask("PATCH", path, {"description": "d"}, headers=headers)) != changes


def test_an_auditor_of_the_system_reads_and_launches_nothing(lab):
    lab.client.make("users", username="auditor", password="p", is_system_auditor=True)
    number = lab.template("site")
    assert lab.client.ask("GET", f"job_templates/{number}/", headers=login("auditor")).status == 200
    assert refused(lab.client.ask("POST", f"job_templates/{number}/launch/", {}, headers=login("auditor")))


def test_a_role_that_was_taken_away_permits_nothing(lab):
    number = lab.template("site")
    headers = role(lab, "user", "job_templates", number, "execute_role")
    path = f"job_templates/{number}/"
    assert lab.client.ask("POST", f"{path}launch/", {}, headers=headers).status == 201
    found = lab.client.get(path)["summary_fields"]["object_roles"]["execute_role"]["id"]
    member = lab.client.get("users/?username=user")["results"][0]["id"]
    assert lab.client.ask("POST", f"roles/{found}/users/", {"id": member, "disassociate": True}).status == 204
    assert refused(lab.client.ask("POST", f"{path}launch/", {}, headers=headers))


def test_roles_have_ids_and_users_that_exist(lab):
    assert lab.client.ask("GET", "roles/99/users/").status == 404
    number = lab.client.get(f"organizations/{lab.organization}/")["summary_fields"]["object_roles"]["admin_role"]["id"]
    assert lab.client.ask("POST", f"roles/{number}/users/", {"id": 99}).status == 404


def test_notifications_follow_the_status_and_the_approval(lab):
    fields = {"name": "mail", "organization": lab.organization, "notification_type": "webhook"}
    settings = {"url": "https://hooks.example.org", "headers": {}}
    mail = lab.client.make("notification_templates", **fields, notification_configuration=settings)
    number = lab.flow()
    for when in ("started", "success", "error", "approvals"):
        path = f"workflow_job_templates/{number}/notification_templates_{when}/"
        assert lab.client.ask("POST", path, {"id": mail}).status == 204
    lab.launch(number, "workflow_job_templates")
    assert lab.sent == [("mail", "started", "flow", "running"), ("mail", "approvals", "Approve plan", "pending")]
    lab.client.ask("POST", f"workflow_approvals/{lab.client.get('workflow_approvals/')['results'][0]['id']}/approve/")
    assert lab.sent[2:] == [
        ("mail", "approvals", "Approve plan", "successful"),
        ("mail", "success", "flow", "successful"),
    ]


def hosts(lab, *names):
    for name in names:
        lab.client.make("hosts", name=name, inventory=lab.inventory)


def slices_of(lab, flow):
    rows = [row for row in lab.client.get("jobs/")["results"] if row.get("workflow_job") == flow]
    return [(row["job_slice_number"], row["job_slice_count"], row["status"], row["limit"]) for row in rows]


def test_a_template_with_slices_becomes_a_workflow_job_with_at_most_one_slice_for_each_host(lab):
    hosts(lab, "esx-01", "esx-02")
    number = lab.template("hosts", job_slice_count=4, limit="esxi_hosts")
    launched = lab.launch(number)
    assert (launched.status, "job" in launched.body, launched.body["type"]) == (201, False, "workflow_job")
    flow = launched.body["workflow_job"]
    assert slices_of(lab, flow) == [(1, 2, "successful", "esxi_hosts"), (2, 2, "successful", "esxi_hosts")]
    shown = lab.client.get(f"workflow_jobs/{flow}/")
    assert (shown["name"], shown["is_sliced_job"], shown["job_template"]) == ("hosts", True, number)
    assert (lab.status(flow), "playbook" in shown) == ("successful", False)
    nodes = lab.client.get(f"workflow_jobs/{flow}/workflow_nodes/")["results"]
    assert [one["summary_fields"]["job"]["job_slice_number"] for one in nodes] == [1, 2]
    assert [one["id"] for one in lab.client.get(f"job_templates/{number}/slice_workflow_jobs/")["results"]] == [flow]


def test_one_host_or_one_slice_is_a_plain_job(lab):
    hosts(lab, "esx-01")
    job = lab.client.get(f"jobs/{lab.launch(lab.template('hosts', job_slice_count=4)).body['job']}/")
    assert (job["job_slice_number"], job["job_slice_count"]) == (0, 1)


def test_a_launch_changes_the_number_of_slices_only_if_the_template_asks(lab):
    hosts(lab, "esx-01", "esx-02", "esx-03")
    fixed, asked = lab.template("fixed"), lab.template("asked", ask_job_slice_count_on_launch=True)
    assert lab.launch(fixed, job_slice_count=3).body["ignored_fields"] == {"job_slice_count": 3}
    assert len(slices_of(lab, lab.launch(asked, job_slice_count=3).body["workflow_job"])) == 3


def test_a_failed_slice_fails_the_workflow_that_has_the_template(lab):
    hosts(lab, "esx-01", "esx-02")
    lab.outcomes["hosts"] = Outcome(successful=False)
    number = lab.client.make("workflow_job_templates", name="flow", organization=lab.organization)
    template = lab.template("hosts", job_slice_count=2)
    fields = {"identifier": "hosts", "workflow_job_template": number, "unified_job_template": template}
    lab.client.make("workflow_job_template_nodes", **fields)
    flow = lab.launch(number, "workflow_job_templates").body["workflow_job"]
    (node,) = lab.client.get(f"workflow_jobs/{flow}/workflow_nodes/")["results"]
    assert node["summary_fields"]["job"]["type"] == "workflow_job"
    assert [row[2] for row in slices_of(lab, node["job"])] == ["failed", "failed"]
    assert lab.status(flow) == "failed"


def test_an_answered_approval_does_not_expire(lab):
    flow = lab.launch(lab.flow(), "workflow_job_templates").body["workflow_job"]
    number = lab.client.get("workflow_approvals/")["results"][0]["id"]
    assert lab.client.ask("POST", f"workflow_approvals/{number}/approve/").status == 204
    sent = len(lab.sent)
    lab.jobs.expire(number)
    approval = lab.client.get(f"workflow_approvals/{number}/")
    assert (approval["status"], approval["timed_out"], lab.status(flow)) == ("successful", False, "successful")
    assert len(lab.sent) == sent


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("job_slice_count", "x", "A valid integer is required."),
        ("inventory", "x", "Incorrect type. Expected pk value, received str."),
        ("credentials", [[1]], 'Invalid pk "[1]" - object does not exist.'),
    ],
)
def test_answers_of_a_launch_that_awx_rejects(lab, field, value, words):
    asks = ("job_slice_count", "inventory", "credential")
    number = lab.template("site", **{f"ask_{name}_on_launch": True for name in asks})
    answer = lab.launch(number, **{field: value})
    assert (answer.status, answer.body) == (400, {field: [words]})
