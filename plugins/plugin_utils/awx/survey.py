# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Surveys of AWX: questions about keys of a site, and the site with the answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.validation import check_type_bool, check_type_int
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.specification import plain, specification

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# An answer is an extra variable, so its name is flat: site_answer_gpu__per_vm is the key site.gpu.per_vm.
PREFIX, BETWEEN = "site_answer_", "__"
SITE = "site_choice"
YES_NO = ["true", "false"]  # a survey has no boolean
_PREPARED = re.compile(r"prepared_\w+")
_MARKUP = re.compile(r"[A-Z]\(([^)]*)\)")
LARGEST = 2**31 - 1


def of_site(questions: Sequence[str | Mapping[str, Any]], sites: Sequence[str] = ()) -> list[dict[str, Any]]:
    """One question per key of the site, and one that selects a prepared site."""
    found = [_choice_of_site(sites)] if sites else []
    return found + [_question({"key": one} if isinstance(one, str) else one) for one in questions]


def survey(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The specification of a survey, which is empty without questions."""
    return {"name": "", "description": "", "spec": questions} if questions else {}


def answered(site: Any, answers: Mapping[str, Any]) -> Any:
    """The site with the answers of a survey. An empty answer keeps the value of the site."""
    if isinstance(site, str) and _PREPARED.fullmatch(site):
        raise AnsibleFilterError(
            f"Cannot use the prepared site. The variable {site} is not set. Set it in "
            f"inventory/group_vars/all/{site}.yml of the project, or select another site."
        )
    if not isinstance(site, Mapping):
        raise AnsibleFilterError(
            "Cannot put the answers of the survey into the site. site_base is not a dictionary. Set site_base to the "
            "site."
        )
    found = plain(site)
    for name, value in answers.items():
        if value is None or value == "":
            continue
        key = name[len(PREFIX) :].replace(BETWEEN, ".") if name.startswith(PREFIX) else ""
        _put(found, key, _converted(name, key, value))
    return found


def _put(site: dict[str, Any], key: str, value: object) -> None:
    *parts, last = key.split(".")
    for part in parts:
        inner = site.get(part)
        site[part] = dict(inner) if isinstance(inner, Mapping) else {}
        site = site[part]
    site[last] = value


def _converted(name: str, key: str, value: object) -> object:
    option = _option(key)
    if option is None:
        raise AnsibleFilterError(
            f"Cannot use the answer {name}. The site has no single value {key or name}. Use the prefix {PREFIX} and "
            f"a key of the site with {BETWEEN} in place of each dot, such as {PREFIX}gpu{BETWEEN}per_vm."
        )
    try:
        if option["type"] == "int":
            return check_type_int(value)
        if option["type"] == "bool":
            return check_type_bool(value)
    except (TypeError, ValueError):
        kind = "a whole number" if option["type"] == "int" else "true or false"
        raise AnsibleFilterError(
            f"Cannot use the answer {name}. site.{key} is {kind}, and the answer is {value!r}. Correct the answer."
        ) from None
    choices = option.get("choices")
    if choices and str(value) not in choices:
        raise AnsibleFilterError(
            f"Cannot use the answer {name}. {value!r} is not one of {', '.join(choices)}. Select one of them."
        )
    return value


def _option(key: str) -> Mapping[str, Any] | None:
    """The specification of a key with one value, or None."""
    option: Mapping[str, Any] = specification()["site"]
    for part in key.split("."):
        if option["type"] != "dict" or part not in option.get("options", {}):
            return None
        option = option["options"][part]
    return option if option["type"] in ("str", "path", "int", "bool") else None


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    key = str(given.get("key", ""))
    option = _option(key)
    if option is None:
        raise AnsibleFilterError(
            f"Cannot ask for site.{key} in a survey. The site has no such key, or the key is a list or a dictionary. "
            "Name a key with one value, such as gpu.profile, or prepare a site for each choice in awx_sites."
        )
    kind, choices = _kind(option)
    limits = {"min": 0, "max": LARGEST if kind == "integer" else 1024}
    least, most = (_typed(key, one, check_type_int, given.get(one, usual)) for one, usual in limits.items())
    if least > most:
        raise AnsibleFilterError(
            f"Cannot ask for site.{key} in a survey. It has min {least} above max {most}. Swap them."
        )
    question: dict[str, Any] = {
        "question_name": str(given.get("name") or f"site.{key}"),
        "question_description": _help(option),
        "variable": PREFIX + key.replace(".", BETWEEN),
        "type": kind,
        "required": _typed(key, "required", check_type_bool, given.get("required", False)),
        # Without a default, an unanswered question keeps the value of the site.
        "default": _default(key, kind, choices, given.get("default")),
        "min": least,
        "max": most,
        "new_question": False,
    }
    return dict(question, choices=choices) if choices else question


def _kind(option: Mapping[str, Any]) -> tuple[str, list[str]]:
    if option["type"] == "bool":
        return "multiplechoice", list(YES_NO)
    if option.get("choices"):
        return "multiplechoice", [str(choice) for choice in option["choices"]]
    return ("integer" if option["type"] == "int" else "text"), []


def _default(key: str, kind: str, choices: Sequence[str], given: object) -> object:
    if given is None or given == "":
        return ""
    if kind == "integer":
        return _typed(key, "default", check_type_int, given)
    text = str(given).lower() if isinstance(given, bool) else str(given)
    if choices and text not in choices:
        raise AnsibleFilterError(
            f"Cannot ask for site.{key} in a survey. Its default {text} is not one of {', '.join(choices)}. Use one of "
            "them."
        )
    return text


def _typed(key: str, name: str, convert: Callable[[object], Any], given: object) -> Any:
    """A value of awx_survey. AWX rejects a number or a boolean in quotes."""
    try:
        return convert(given)
    except (TypeError, ValueError):
        kind = "a whole number" if convert is check_type_int else "true or false"
        raise AnsibleFilterError(
            f"Cannot ask for site.{key} in a survey. Its {name} {given!r} is not {kind}. Correct it in awx_survey."
        ) from None


def _help(option: Mapping[str, Any]) -> str:
    """The description of the key without markup, and what an empty answer means."""
    texts = option["description"] if isinstance(option["description"], list) else [option["description"]]
    default = option.get("default")
    usual = f" The default of the site is {str(default).lower() if isinstance(default, bool) else default}."
    shown = usual if default not in (None, "") else ""
    return f"{_MARKUP.sub(lambda one: one[1], ' '.join(texts))}{shown} Leave it empty to keep the value of the site."


def _choice_of_site(sites: Sequence[str]) -> dict[str, Any]:
    return {
        "question_name": "Site",
        "question_description": "Prepared site. NAME is the variable prepared_NAME in inventory/group_vars/all.",
        "variable": SITE,
        "type": "multiplechoice",
        # AWX needs an answer to a required question from each launch and schedule, even if it has a default.
        "required": False,
        "default": sites[0],
        "min": 0,
        "max": 1024,
        "new_question": False,
        "choices": list(sites),
    }
