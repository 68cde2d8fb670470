"""Launched jobs: their status, surveys, workflows with approvals, artifacts and notifications. [sure] where not marked

A callable runs the job, so that tests decide its result, and a rehearsal can call ansible-playbook.
"""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, field

from . import surveys
from .objects import APPROVALS, LINKS_OF_NODES, NODES, moment
from .prompts import PROMPTS
from .refused import Refused
from .tables import LAUNCHED, tables, variables_of

LOG = logging.getLogger(__name__)
TEMPLATES, WORKFLOWS = "job_templates", "workflow_job_templates"
# The address of a launched template -> the type of the object. Both have one sequence of IDs.
TYPES = {table: one.type for table, one in LAUNCHED.items()}
OF = {TEMPLATES: "jobs", WORKFLOWS: "workflow_jobs"}
ENDED = ("successful", "failed", "error", "canceled")
# Most bytes of the artifacts of a job: AWX drops the data of a larger event.
MOST = 700_000


@dataclass
class Outcome:
    """What the callable answers for a job."""

    successful: bool = True
    artifacts: dict = field(default_factory=dict)
    output: str = ""


def no_runner(_job):
    raise NotImplementedError("The twin has no program that runs jobs. Set Service.jobs.execute.")


def in_background(work):
    threading.Thread(target=work, daemon=True, name="twin-controller-jobs").start()


class Jobs:
    """All launched jobs of a controller. execute(job) -> Outcome; deliver(template, event, job) takes notifications."""

    def __init__(self, objects, execute=no_runner, deliver=None, start=in_background):
        self.objects, self.execute, self.start = objects, execute, start
        self.deliver = deliver or (lambda template, event, job: None)
        self.hosts = self._own_hosts  # ID of an inventory -> its hosts; a program that imports inventories replaces it
        self.rows = {}
        self.nodes = {}  # ID of a workflow job -> {ID of a node: its job's ID, or None if its path was not followed}
        self.history = {}  # ID -> every status in order
        self._one = threading.RLock()  # one job at a time

    def row(self, table, number):
        found = self.rows.get(number)
        if found is None or found["type"] != TYPES[table]:
            raise Refused.detail(404, "Not found.")
        return found

    def listed(self, table):
        return [row for row in self.rows.values() if row["type"] == TYPES[table]]

    def active(self, number):
        """The jobs of a template that have not ended."""
        return [
            one for one in self.rows.values() if one["unified_job_template"] == number and one["status"] not in ENDED
        ]

    def launch(self, table, number, body):
        """Launch a template; the job and the fields that were ignored."""
        template = self.objects.row(table, number)
        empty = [name for name, value in body.items() if value is None]
        if empty:
            raise Refused(400, {name: ["This field may not be null."] for name in empty})
        given = {key: value for key, value in body.items() if value != ""}
        answers, ignored = self._answers(table, template, given.pop("extra_vars", {}))
        limits = {}
        for name, value in given.items():
            if name not in PROMPTS:
                raise Refused(400, {name: [f"The twin is stricter than AWX here: a launch has no field {name}."]})
            if not template.get(PROMPTS[name], False):
                ignored[name] = value
            elif name == "credentials":
                limits[name] = value
            else:
                limits[name] = tables()[TEMPLATES].fields[name].read(value, self.objects.exists)
        if table == TEMPLATES:
            self._check_needs(template, limits)
        variables = {**variables_of("extra_vars", template["extra_vars"]), **answers}
        hidden = self._passwords(table, template)
        job = self._new_sliced(table, template, variables, "manual", limits, survey_passwords=hidden)
        self.start(lambda: self._run(job, template))
        return job, ignored

    def _passwords(self, table, template):
        """The variables that the API returns hidden: answers to questions of the type password."""
        spec = self.objects.surveys.get((table, template["id"]), {}) if template["survey_enabled"] else {}
        return [one["variable"] for one in spec.get("spec", []) if one["type"] == "password"]

    def asked(self, table, number):
        """What a launch of the template needs and accepts."""
        template = self.objects.row(table, number)
        spec = self.objects.surveys.get((table, number), {}) if template["survey_enabled"] else {}
        needed = [text.split("'")[1] for text in surveys.problems(spec, {})]
        return {
            "can_start_without_user_input": not needed,
            "variables_needed_to_start": needed,
            "survey_enabled": bool(spec),
            **{name: value for name, value in template.items() if name.startswith("ask_")},
        }

    def _answers(self, table, template, given):
        given = variables_of("extra_vars", given) if isinstance(given, str) else given
        if not isinstance(given, dict):
            raise Refused.of("extra_vars", f"Input type `{type(given).__name__}` is not a dictionary")
        spec = self.objects.surveys.get((table, template["id"]), {}) if template["survey_enabled"] else {}
        wrong = surveys.problems(spec, given)
        if wrong:
            raise Refused(400, {"variables_needed_to_start": wrong})
        asked = {one["variable"] for one in spec.get("spec", [])}
        taken = {name: value for name, value in given.items() if name in asked or template["ask_variables_on_launch"]}
        left = {name: value for name, value in given.items() if name not in taken}
        return {**self._defaults(table, template), **taken}, ({"extra_vars": left} if left else {})

    def _defaults(self, table, template):
        """The defaults of the survey that are valid answers, also empty texts."""
        spec = self.objects.surveys.get((table, template["id"]), {}) if template["survey_enabled"] else {}
        asked = [one for one in spec.get("spec", []) if one.get("default") is not None]
        found = {one["variable"]: one["default"] for one in asked}
        return {one["variable"]: one["default"] for one in asked if not surveys.problems({"spec": [one]}, found)}

    def _check_needs(self, template, limits):
        if template["project"] is None:
            raise Refused.of("project", "Job Template 'project' is missing or undefined.")
        if template["inventory"] is None and "inventory" not in limits:
            raise Refused.of("inventory", "Job Template 'inventory' is missing or undefined.")
        if "credentials" in limits:
            self._check_credentials(template, limits["credentials"])

    def _check_credentials(self, template, given):
        """A launch replaces credentials of the template, and removes none."""
        if not isinstance(given, list):
            raise Refused.of("credentials", f'Expected a list of items but got type "{type(given).__name__}".')
        for number in given:
            if not isinstance(number, int) or not self.objects.exists("credentials", number):
                raise Refused.of("credentials", f'Invalid pk "{number}" - object does not exist.')
        own = self.objects.linked(TEMPLATES, template["id"], "credentials")[1]
        lost = [self.objects.row("credentials", one) for one in own if one not in given]
        kinds = {self.objects.row("credentials", one)["credential_type"] for one in given}
        names = ", ".join(f"{row['name']}-{row['id']}" for row in lost)
        types = [self.objects.row("credential_types", row["credential_type"]) for row in lost]
        words = [
            f"Removing {kind['name']} credential at launch time without replacement is not supported. "
            f"Provided list lacked credential(s): {names}."
            for kind in types
            if kind["id"] not in kinds
        ]
        if words:
            raise Refused(400, {"credentials": words})

    def _new(self, table, template, variables, how, **more):
        number = len(self.rows) + 1
        copied = ("job_type", "playbook", "limit", "inventory") if table == "jobs" else ("limit", "inventory")
        row = {
            "id": number,
            "type": TYPES[table],
            "url": f"/api/v2/{table}/{number}/",
            "name": template["name"],
            "unified_job_template": template["id"],
            "launch_type": how,
            "status": "new",
            "failed": False,
            "created": moment(),
            "started": None,
            "finished": None,
            "elapsed": 0.0,
            "job_explanation": "",
            "extra_vars": json.dumps(variables),
            "artifacts": {},
            **{name: template[name] for name in copied if name in template},
            **({"job_slice_number": 0, "job_slice_count": 1} if table == "jobs" else {}),
            **more,
        }
        self.rows[number], self.history[number] = row, ["new"]
        self._set(row, "pending")
        return row

    # Slices

    def _own_hosts(self, inventory):
        return [row["name"] for _table, row in self.objects.rows("hosts") if row["inventory"] == inventory]

    def _new_sliced(self, table, template, variables, how, limits, **more):
        """A job, or the workflow job of its slices: at most one slice for each host."""
        count = limits.get("job_slice_count") or template.get("job_slice_count", 1)
        if table == TEMPLATES and count > 1:
            count = min(count, len(self.hosts(limits.get("inventory", template["inventory"]))))
        if table != TEMPLATES or count <= 1:
            return self._new(OF[table], template, variables, how, **limits, **more)
        sliced = {**limits, **more, "job_slice_count": count, "is_sliced_job": True, "job_template": template["id"]}
        return self._new("workflow_jobs", template, variables, how, **sliced)

    def _run_slices(self, job, template):
        """AWX runs the slices at the same time, and the twin one after the other."""
        self.nodes[job["id"]] = done = {}
        self._set(job, "waiting")
        self._set(job, "running")
        count, variables = job["job_slice_count"], json.loads(job["extra_vars"])
        limits = {name: job[name] for name in (*PROMPTS, "credentials", "survey_passwords") if name in job}
        for number in range(1, count + 1):
            of = {**limits, "workflow_job": job["id"], "job_slice_number": number, "job_slice_count": count}
            row = self._new("jobs", template, variables, "workflow", **of)
            done[number] = row["id"]
            self._run_job(row, template)
        self._set(job, "failed" if any(self.rows[one]["failed"] for one in done.values()) else "successful")

    def _set(self, job, status, explanation=""):
        self.history[job["id"]].append(status)
        if status == "running":
            job["started"] = moment()
        if status in ENDED:
            job.update(finished=moment(), failed=status != "successful", job_explanation=explanation)
        job["status"] = status

    def _run(self, job, template):
        with self._one:
            if job.get("is_sliced_job"):
                self._run_slices(job, template)
            elif job["type"] == "workflow_job":
                self._begin(job, template)
            else:
                self._run_job(job, template)

    def _run_job(self, job, template):
        self._set(job, "waiting")
        project = self.objects.row("projects", template["project"])
        if project["scm_type"] and project["status"] != "successful":
            # [unsure: the words of AWX]
            self._set(job, "failed", f"The project {project['name']} is not synced: {project['status']}.")
            self._notify(TEMPLATES, template, "error", job)
            return
        self._set(job, "running")
        self._notify(TEMPLATES, template, "started", job)
        try:
            outcome = self.execute(dict(job))
        except Exception as problem:
            LOG.exception("The job %s ends in error.", job["id"])
            self._set(job, "error", str(problem))
        else:
            text = json.dumps(outcome.artifacts)
            job["artifacts"] = json.loads(text) if len(text) <= MOST else {}
            job["result_stdout"] = outcome.output
            self._set(job, "successful" if outcome.successful else "failed")
        self._notify(TEMPLATES, template, "error" if job["failed"] else "success", job)

    def _notify(self, table, template, event, job):
        of = [(table, template["id"])]
        if template.get("organization"):
            of.append(("organizations", template["organization"]))
        ids = [one for key in of for one in self.objects.linked(*key, f"notification_templates_{event}")[1]]
        for number in dict.fromkeys(ids):
            self.deliver(dict(self.objects.row("notification_templates", number)), event, dict(job))

    # Workflows

    def _begin(self, job, template):
        self.nodes[job["id"]] = {}
        self._set(job, "waiting")
        self._set(job, "running")
        self._notify(WORKFLOWS, template, "started", job)
        self._advance(job, template)

    def _of(self, template):
        return [row for _table, row in self.objects.rows(NODES) if row["workflow_job_template"] == template["id"]]

    def _parents(self, nodes, number):
        """[(ID of a parent, name of the link)]."""
        return [
            (node["id"], name)
            for node in nodes
            for name in LINKS_OF_NODES
            if number in self.objects.linked(NODES, node["id"], name)[1]
        ]

    def _status(self, done, number):
        return self.rows[done[number]]["status"] if done[number] else None

    def _follows(self, done, parent, name):
        status = self._status(done, parent)
        if status is None:
            return False
        return name == "always_nodes" or (status == "successful") == (name == "success_nodes")

    def _advance(self, job, template):
        """Start every node whose parents ended, until nothing changes or an approval waits."""
        nodes, done = self._of(template), self.nodes[job["id"]]
        moved = True
        while moved:
            moved = False
            for node in nodes:
                parents = self._parents(nodes, node["id"])
                if node["id"] in done or not all(self._ended(done, one) for one, _name in parents):
                    continue
                moved = True
                follows = [self._follows(done, *one) for one in parents]
                due = not parents or (all(follows) if node["all_parents_must_converge"] else any(follows))
                if due:
                    self._start_node(job, template, node, nodes, done)
                else:
                    done[node["id"]] = None
        if job["status"] == "running" and all(self._ended(done, node["id"]) for node in nodes):
            unhandled = [node for node in nodes if self._failed(done, node["id"])]
            self._set(job, "failed" if unhandled else "successful")
            self._notify(WORKFLOWS, template, "error" if unhandled else "success", job)

    def _ended(self, done, number):
        return number in done and self._status(done, number) in (None, *ENDED)

    def _failed(self, done, number):
        """A failed node without a path for its failure fails the workflow."""
        if self._status(done, number) in (None, "successful"):
            return False
        return not any(self.objects.linked(NODES, number, name)[1] for name in ("failure_nodes", "always_nodes"))

    def _start_node(self, job, template, node, nodes, done):
        table, of = self.objects.unified(node["unified_job_template"]) if node["unified_job_template"] else (None, None)
        if table == APPROVALS:
            row = self._new("workflow_approvals", of, {}, "workflow", timeout=of["timeout"], workflow_job=job["id"])
            row.update(description=of["description"], started=moment(), timed_out=False)
            done[node["id"]] = row["id"]
            self._notify(WORKFLOWS, template, "approvals", row)
            return
        if table != TEMPLATES:
            self._set(job, "failed", f"The node {node['identifier']} has no job template.")
            return
        # Artifacts of earlier nodes are variables, and those of the workflow have precedence.
        passed = {}
        for number in self._before(nodes, node["id"]):
            if done.get(number):
                passed.update(self.rows[done[number]]["artifacts"])
        own = variables_of("extra_vars", of["extra_vars"])
        own |= self._defaults(TEMPLATES, of)
        variables = {**own, **node["extra_data"], **passed, **json.loads(job["extra_vars"])}
        slices = {"job_slice_count": node["job_slice_count"]} if node["job_slice_count"] else {}
        hidden = [*job["survey_passwords"], *self._passwords(table, of)]
        more = {"workflow_job": job["id"], "survey_passwords": hidden}
        row = self._new_sliced(table, of, variables, "workflow", slices, **more)
        done[node["id"]] = row["id"]
        self._run(row, of)

    def _before(self, nodes, number):
        """All ancestors of a node, the nearest last."""
        found = []
        for parent, _name in self._parents(nodes, number):
            found += [one for one in (*self._before(nodes, parent), parent) if one not in found]
        return found

    def answer(self, number, approved, user):
        """Approve or deny; the workflow continues on the matching path."""
        row = self.row("workflow_approvals", number)
        if row["status"] != "pending":
            raise Refused(400, {"error": "This workflow step has already been approved or denied."})
        row["approved_or_denied_by"] = user["id"]
        self._set(row, "successful" if approved else "failed")
        self._after(row)

    def expire(self, number):
        """End an approval as AWX does after its timeout: it fails, and nobody denied it. An answered one stays."""
        row = self.row("workflow_approvals", number)
        if row["status"] != "pending":
            return
        row["timed_out"] = True
        why = f"The approval node {row['name']} ({number}) has expired after {row['timeout']} seconds."
        self._set(row, "failed", why)
        self._after(row)

    def _after(self, row):
        job = self.rows[row["workflow_job"]]
        template = self.objects.row(WORKFLOWS, job["unified_job_template"])
        self._notify(WORKFLOWS, template, "approvals", row)
        self.start(lambda: self._go_on(job, template))

    def _go_on(self, job, template):
        with self._one:
            self._advance(job, template)

    def shown_nodes(self, number, name=None):
        """The nodes of a workflow job, each with its job; only those whose job has this name."""
        job = self.row("workflow_jobs", number)
        done = self.nodes.get(number, {})
        if job.get("is_sliced_job"):
            nodes = [{"id": one, "identifier": f"slice-{one}"} for one in done]
        else:
            nodes = self._of(self.objects.row(WORKFLOWS, job["unified_job_template"]))
        of = {node["id"]: self.rows[done[node["id"]]] for node in nodes if done.get(node["id"])}
        return [
            {
                "id": node["id"],
                "type": "workflow_job_node",
                "related": {"job": of[node["id"]]["url"]} if node["id"] in of else {},
                "identifier": node["identifier"],
                "workflow_job": job["id"],
                "job": done.get(node["id"]),
                "do_not_run": node["id"] in done and done[node["id"]] is None,
                "summary_fields": {"job": dict(of[node["id"]])} if node["id"] in of else {},
            }
            for node in nodes
            if name is None or (node["id"] in of and of[node["id"]]["name"] == name)
        ]
