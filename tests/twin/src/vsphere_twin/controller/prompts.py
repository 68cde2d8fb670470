"""Prompts of nodes and schedules: what AWX 24.6.1 accepts, compared with its API. [sure]"""

from __future__ import annotations

from . import surveys
from .refused import Refused
from .tables import tables

# A prompt of a node or schedule -> the template's permission for it.
PROMPTS = {
    name: f"ask_{name}_on_launch"
    for name in (
        "inventory",
        "limit",
        "scm_branch",
        "job_type",
        "skip_tags",
        "diff_mode",
        "verbosity",
        "forks",
        "timeout",
        "job_slice_count",
    )
} | {"job_tags": "ask_tags_on_launch", "credentials": "ask_credential_on_launch"}


def check(values, table, template, spec, complete):
    """A prompt that the template does not ask for is rejected; a survey's variables are accepted.

    The answers of a schedule must be complete. Those of a node can come from the workflow.
    """
    for name, asks in PROMPTS.items():
        if values.get(name) not in (None, "") and not template.get(asks, False):
            raise Refused.of(name, "Field is not configured to prompt on launch.")
    spec = spec if template["survey_enabled"] else {}
    given = values["extra_data"]
    asked = {one["variable"] for one in spec.get("spec", [])}
    left = ", ".join(name for name in given if name not in asked)
    if left and not template["ask_variables_on_launch"]:
        label = tables()[table].type.replace("_", " ").title()
        fix = f"Check the Prompt on Launch setting on the {label} to include Extra Variables."
        raise Refused.of("extra_data", f"Variables {left} are not allowed on launch. {fix}")
    some = [one for one in spec.get("spec", []) if complete or one["variable"] in given]
    wrong = surveys.problems({"spec": some}, given)
    if wrong:
        raise Refused(400, {"variables_needed_to_start": wrong})


def check_credential(template):
    """Reject a credential of a node or schedule whose template asks for none."""
    if template is None:
        raise Refused(400, {"msg": "Cannot assign credential when related template is null."})
    if not template.get("ask_credential_on_launch", False):
        raise Refused(400, {"msg": "Related template is not configured to accept credentials on launch."})
