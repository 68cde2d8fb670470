# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The objects of AWX for this collection, as lists by kind in the names of infra.aap_configuration. Pure."""

from __future__ import annotations

import functools
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load
from ansible.module_utils.errors import UnsupportedError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx import checks, launch, messages, notifications
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.credential_types import (
    BUILT_IN,
    ELSEWHERE,
    OF_PLANS,
    TYPES,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.survey import of_site, survey
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = dict[str, Any]


@dataclass(frozen=True)
class Template:
    """A job template: its playbook is a file of the project with this name."""

    name: str
    description: str
    playbook: str = ""
    check: bool = False
    asks: bool = False  # whether the survey belongs to it
    variables: tuple[tuple[str, str], ...] = ()
    prompts: bool = False  # whether a launch may set every variable
    sliced: str = ""  # the group that its plays are limited to, if it can run in slices

    @property
    def file(self) -> str:
        return f"{self.playbook or self.name}.yml"


# Every playbook that a user runs. A test compares the list with the playbooks of the collection and of the project.
TEMPLATES = (
    Template("check", "Check the site file without any connection", asks=True),
    Template("preflight", "Check vCenter, hosts, switches and guests before a run. Changes nothing", asks=True),
    Template("plan", "Plan all stages in check mode, and keep the plan", "site", check=True, asks=True),
    Template("site", "Run all stages", asks=True),
    Template(
        "setup", "Run all stages up to the training", "site", asks=True, variables=(("site_stop_after", "training"),)
    ),
    Template("hosts", "Configure the ESXi hosts", asks=True, sliced="esxi_hosts"),
    Template("fabric", "Configure the switches", asks=True),
    Template("machines", "Prepare the training VMs", asks=True),
    Template("guests", "Prepare the guests", asks=True),
    Template("runtime", "Prepare the container engines", asks=True),
    Template("training", "Run the training", asks=True),
    Template("validate", "Run the validation, and write the report", asks=True),
    Template("kubernetes", "Configure the Kubernetes cluster, and run the training in pods"),
    Template("fabric_check", "Compare the RoCE settings of switches, hosts and guests. Changes nothing"),
    Template("fleet_start", "Start the VMs of the site", "fleet", variables=(("site_fleet", "start"),)),
    Template("fleet_stop", "Stop the VMs of the site", "fleet", variables=(("site_fleet", "stop"),)),
    Template("capture", "Capture the site, anonymised. Changes nothing"),
    Template("drift", "Compare the site with its current state. Changes nothing"),
    Template("health", "Compare the health of hosts and guests with the last check"),
    Template("upgrade_plan", "Plan the upgrade of the GPU drivers. Changes nothing", "upgrade", check=True),
    Template("upgrade", "Upgrade the GPU drivers of hosts and guests in waves"),
    Template("restore_plan", "List what restore would set back. Changes nothing", "restore", check=True),
    Template("restore", "Set back what earlier runs changed"),
    Template("restore_guests", "Set back what earlier runs changed in the guests"),
    Template("next_steps", "Report what to do after a failed step of a workflow", prompts=True),
)


# Each failure path of a workflow ends in it.
NEXT_STEPS = "next_steps"


@dataclass(frozen=True)
class Workflow:
    """Job templates in their order. A person approves before the first one that changes something."""

    suffix: str
    description: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    asks: bool = False

    @property
    def templates(self) -> tuple[str, ...]:
        return (*self.before, *self.after, NEXT_STEPS)

    @property
    def plan(self) -> str:
        return self.before[-1]


WORKFLOWS = (
    Workflow(
        "site with approval",
        "Preflight, plan, approval, all stages, validation",
        ("preflight", "plan"),
        ("setup", "validate"),
        asks=True,
    ),
    Workflow("restore with approval", "Plan of restore, approval, restore", ("restore_plan",), ("restore",)),
)

WHEN = ("started", "success", "error", "approvals")
APPROVAL = "approval"


def objects(options: Mapping[str, Any]) -> dict[str, list[Row]]:
    """{list: objects} of the options of the role awx."""
    answer = ArgumentSpecValidator(_specification()).validate(plain(options))
    wrong = [f"Unknown option: {one}" if isinstance(one, UnsupportedError) else f"{one}." for one in answer.errors]
    wrong = wrong or checks.problems(answer.validated_parameters)
    if wrong:
        raise AnsibleFilterError(f"Cannot create the objects of AWX. {' '.join(wrong)}")
    return _Objects({name[len("awx_") :]: value for name, value in answer.validated_parameters.items()}).all()


@functools.lru_cache(maxsize=None)
def _specification() -> dict[str, Any]:
    """Options of the role awx. An empty dictionary of a user gets the defaults of its keys."""
    path = pathlib.Path(__file__).parents[3] / "roles" / "awx" / "meta" / "argument_specs.yml"
    return yaml_load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]


class _Objects:
    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._organization = options["organization"]
        self._credentials = [self._credential(one) for one in options["credentials"]]
        self._questions = of_site(options["survey"], options["sites"])

    def all(self) -> dict[str, list[Row]]:
        options = self._options
        used = {one["kind"] for one in options["credentials"]}
        slices = self._slices()
        return {
            # Others may use it too, so an existing one is not changed.
            "aap_organizations": [
                {"name": self._organization, "description": "AI-ready vSphere clusters", "state": "exists"}
            ],
            "controller_labels": [self._owned({"name": one}) for one in options["labels"]],
            "controller_instance_groups": [dict(one) for one in options["instance_groups"]],
            "controller_credential_types": [kind for name, kind in TYPES.items() if name in used],
            "controller_credentials": self._credentials,
            "controller_execution_environments": [self._environment()],
            "controller_notifications": [self._notification(one) for one in options["notifications"]],
            "controller_projects": [self._project()],
            "controller_inventories": [self._owned({"name": options["inventory"]["name"]})],
            "controller_inventory_sources": list(self._sources()),
            "controller_templates": [self._template(one, slices.get(one.name, 1)) for one in self._templates()],
            "controller_workflows": [self._workflow(one) for one in WORKFLOWS if options["workflow"]["enabled"]],
            "controller_schedules": [self._schedule(one) for one in options["schedules"]],
        }

    def _owned(self, row: Row) -> Row:
        return {**row, "organization": self._organization}

    def _credential(self, given: Mapping[str, Any]) -> Row:
        kind = given["kind"]
        name = TYPES[kind]["name"] if kind in TYPES else BUILT_IN[kind]
        row = {
            "name": given.get("name") or (name if kind in TYPES else f"aiready {kind}"),
            "credential_type": name,
            "inputs": given.get("inputs") or {},
            "update_secrets": self._options["update_secrets"],
        }
        return self._owned(row)

    def _attached(self, template: Template, is_plan: bool) -> list[str]:
        """Names of the credentials of a template. AWX accepts one of each type, and one vault of each ID."""
        found: dict[tuple[str, str], str] = {}
        for given, row in zip(self._options["credentials"], self._credentials):
            if given["kind"] in ELSEWHERE or (given["kind"] == OF_PLANS and not is_plan):
                continue
            # It connects to nothing, but may read a file of the project that a vault encrypts.
            if template.name == NEXT_STEPS and given["kind"] != "vault":
                continue
            key = (row["credential_type"], str(row["inputs"].get("vault_id", "")))
            if key in found and given["kind"] == "vault":
                # "Cannot assign multiple Vault credentials." [sure] AWX 24.6.1
                raise AnsibleFilterError(
                    f"Cannot attach the credentials {found[key]} and {row['name']} to one job template. AWX accepts "
                    "one vault of each ID. Set a vault_id of its own in the inputs of each vault in awx_credentials."
                )
            if key in found:
                raise AnsibleFilterError(
                    f"Cannot attach the credentials {found[key]} and {row['name']} to one job template. AWX accepts "
                    f"one credential of the type {row['credential_type']}. Remove one of them from awx_credentials, or "
                    "put their values into a vault."
                )
            found[key] = row["name"]
        return sorted(found.values())

    def _named(self, kind: str) -> str | None:
        return next(
            (
                row["name"]
                for given, row in zip(self._options["credentials"], self._credentials)
                if given["kind"] == kind
            ),
            None,
        )

    def _environment(self) -> Row:
        given = self._options["execution_environment"]
        row = {
            "name": given["name"],
            "image": given["image"],
            "pull": given["pull"],
            "credential": self._named("image_registry"),
        }
        return self._owned({key: value for key, value in row.items() if value is not None})

    def _notification(self, given: Mapping[str, Any]) -> Row:
        row = {
            "name": given["name"],
            "notification_type": given["type"],
            "notification_configuration": notifications.configuration(given["type"], given["configuration"]),
            "messages": messages.whole(given.get("messages")) or messages.of_type(given["type"]),
        }
        return self._owned({key: value for key, value in row.items() if value is not None})

    def _project(self) -> Row:
        given = self._options["project"]
        row = {
            "name": given["name"],
            "scm_type": given["scm_type"],
            "scm_url": given.get("scm_url"),
            "scm_branch": given.get("scm_branch"),
            "local_path": given.get("local_path"),
            "scm_update_on_launch": given["update_on_launch"] if given["scm_type"] != "manual" else None,
            "credential": self._named("scm"),
            "default_environment": self._options["execution_environment"]["name"],
            "wait": True,
        }
        return self._owned({key: value for key, value in row.items() if value is not None})

    def _sources(self) -> Iterator[Row]:
        given, project, vcenter = self._options["inventory"], self._options["project"]["name"], self._named("vcenter")
        if given["vcenter_files"] and not vcenter:
            raise AnsibleFilterError(
                "Cannot read hosts from vCenter. awx_credentials has no credential of the kind vcenter. Add one, or "
                "remove awx_inventory.vcenter_files."
            )
        for path in dict.fromkeys((*given["files"], *given["vcenter_files"])):
            of_vcenter = path in given["vcenter_files"]
            login = {"credential": vcenter} if of_vcenter else {}
            yield self._owned(
                {
                    **login,
                    "name": f"{given['name']} {path}",
                    "inventory": given["name"],
                    "source": "scm",
                    "source_project": project,
                    "source_path": path,
                    # AWX uses that of the project for jobs only. [sure] AWX 24.6.1
                    "execution_environment": self._options["execution_environment"]["name"],
                    "overwrite": True,
                    # Sources that name the same host would replace each other's variables, such as bmc_address.
                    "overwrite_vars": not of_vcenter,
                    "update_on_launch": True,
                }
            )

    def _templates(self) -> list[Template]:
        names = self._options["templates"]
        known = {one.name: one for one in TEMPLATES}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise AnsibleFilterError(
                f"Cannot create the job templates {', '.join(unknown)}. The collection has no such playbook. Name some "
                f"of {', '.join(known)} in awx_templates."
            )
        return [known[name] for name in names] if names else list(TEMPLATES)

    def _slices(self) -> dict[str, int]:
        """{template: number of slices}. A slice has a part of the hosts, and runs all plays on localhost."""
        given: Mapping[str, int] = self._options["slices"]
        possible = [one.name for one in TEMPLATES if one.sliced]
        created = [one.name for one in self._templates()]
        for name, number in given.items():
            if name not in possible:
                raise AnsibleFilterError(
                    f"Cannot run the job template {name} in slices. Its plays need all hosts and switches, or change "
                    f"vCenter from localhost. Name only {', '.join(possible)} in awx_slices, and raise awx_forks."
                )
            if name not in created:
                raise AnsibleFilterError(
                    f"Cannot run the job template {name} in slices. awx_templates lacks it. Add it, or remove it from "
                    "awx_slices."
                )
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise AnsibleFilterError(
                    f"Cannot run the job template {name} in {number} slices. The number of slices must be an integer "
                    "of at least 1. Correct awx_slices."
                )
        return dict(given)

    def title(self, name: str) -> str:
        return f"{self._options['prefix']} {name.replace('_', ' ')}"

    def _survey(self, of_site: bool, template: str) -> Row:
        """The questions about the site, and those about variables of the playbook of a job template."""
        return survey([*(self._questions if of_site else []), *launch.questions(template)])

    def _notified(self, is_plan: bool = False) -> Row:
        """{notification_templates_EVENT: names} of a template or a workflow."""
        return {
            f"notification_templates_{when}": [
                one["name"]
                for one in self._options["notifications"]
                # The message about an approval cannot have the summary of the plan, and that about its job has it.
                if when in one["events"] or (is_plan and when == "success" and "approvals" in one["events"])
            ]
            for when in WHEN
        }

    def _template(self, template: Template, slices: int) -> Row:
        asked = self._survey(template.asks, template.name)
        is_plan = template.name in {one.plan for one in WORKFLOWS}
        row = {
            "name": self.title(template.name),
            "description": template.description,
            "job_type": "check" if template.check else "run",
            "diff_mode": template.check,
            "inventory": self._options["inventory"]["name"],
            "project": self._options["project"]["name"],
            "playbook": template.file,
            "execution_environment": self._options["execution_environment"]["name"],
            "credentials": self._attached(template, is_plan),
            "labels": list(self._options["labels"]),
            "instance_groups": [one["name"] for one in self._options["instance_groups"]],
            "forks": self._options["forks"],
            "job_slice_count": slices,
            # Without it, the implicit localhost of a slice would take part, which has no variables of the inventory.
            "limit": template.sliced if slices > 1 else "",
            "extra_vars": dict(template.variables),
            "ask_limit_on_launch": True,
            "ask_variables_on_launch": template.prompts,
            "survey_enabled": bool(asked),
            "survey_spec": asked,
            # Two runs on the same site would change the same objects.
            "allow_simultaneous": False,
        }
        notified = {key: value for key, value in self._notified(is_plan).items() if not key.endswith("approvals")}
        return self._owned({**row, **notified})

    def _workflow(self, workflow: Workflow) -> Row:
        missing = set(workflow.templates) - {one.name for one in self._templates()}
        if missing:
            raise AnsibleFilterError(
                f"Cannot create the workflow {self.title(workflow.suffix)}. awx_templates lacks "
                f"{', '.join(sorted(missing))}. Add them, or set awx_workflow.enabled to false."
            )
        # The jobs of a workflow get the answers of its own survey only.
        asked = self._survey(workflow.asks, "" if workflow.asks else workflow.plan)
        row = {
            "name": self.title(workflow.suffix),
            "description": workflow.description,
            "inventory": self._options["inventory"]["name"],
            "labels": list(self._options["labels"]),
            "survey_enabled": bool(asked),
            "survey_spec": asked,
            "allow_simultaneous": False,
            "simplified_workflow_nodes": self._nodes(workflow),
        }
        return self._owned({**row, **self._notified()})

    def _nodes(self, workflow: Workflow) -> list[Row]:
        """One node after the other, with the approval between the two parts, and a node for the failure of each."""
        plan = self.title(workflow.plan)
        approval = {
            "name": f"Approve {plan}",
            "description": f"Read the output of the job {plan} before you approve. The next job changes what it lists.",
            "timeout": self._options["workflow"]["approval_timeout_s"],
        }
        if self._named(OF_PLANS):
            # The plan writes the description. A text from here would replace it.
            del approval["description"]
        order = [*workflow.before, APPROVAL, *workflow.after]
        nodes: list[Row] = []
        for name, following in zip(order, [*order[1:], None]):
            failed = f"{name}_failed"
            node: Row = {"identifier": name, "success_nodes": [following] if following else []}
            node["failure_nodes"] = [failed]
            node.update({"approval_node": approval} if name == APPROVAL else {"unified_job_template": self.title(name)})
            variables = {"next_steps_after": name, "next_steps_prefix": self._options["prefix"]}
            after: Row = {"identifier": failed, "unified_job_template": self.title(NEXT_STEPS), "extra_data": variables}
            nodes += [node, {**after, "success_nodes": [], "failure_nodes": []}]
        return nodes

    def _schedule(self, given: Mapping[str, Any]) -> Row:
        if given["template"] not in {one.name for one in self._templates()}:
            raise AnsibleFilterError(
                f"Cannot create the schedule {given['name']}. Its template {given['template']} is not one of "
                "awx_templates. Correct it."
            )
        template = next(one for one in self._templates() if one.name == given["template"])
        asked = self._survey(template.asks, template.name)
        required = [one["question_name"] for one in asked.get("spec", []) if one["required"]]
        if required:
            # "variables_needed_to_start": "'...' value missing" [sure] AWX 24.6.1
            raise AnsibleFilterError(
                f"Cannot create the schedule {given['name']}. Its template asks {', '.join(required)}, and AWX rejects "
                "a schedule without the answer to a required question. Remove required from it in awx_survey."
            )
        return {
            "name": given["name"],
            "unified_job_template": self.title(given["template"]),
            "organization": self._organization,
            "rrule": given["rrule"],
            "enabled": given["enabled"],
        }
