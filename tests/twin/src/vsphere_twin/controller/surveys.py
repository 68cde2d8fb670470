"""Surveys: the specification that a client saves, and the answers at a launch. [sure] AWX 24.6.1"""

from __future__ import annotations

from .refused import Refused

TYPES = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": str,
    "integer": int,
    "float": (float, int),
}
_PARTS = {"name": (str, "string"), "description": (str, "string"), "spec": (list, "list of items")}
_OF_A_QUESTION = {"type": str, "question_name": str, "variable": str, "required": bool}
HIDDEN = "$encrypted$"


def check(spec):
    """Reject a specification that AWX rejects."""
    for name, (kind, label) in _PARTS.items():
        if name not in spec:
            raise _wrong(f"Field '{name}' is missing from survey spec.")
        if not isinstance(spec[name], kind):
            raise _wrong(f"Expected {label} for field '{name}', received {type(spec[name]).__name__} type.")
    if not spec["spec"]:
        raise _wrong("'spec' doesn't contain any items.")
    seen = set()
    for number, question in enumerate(spec["spec"]):
        _check_question(number, question)
        if question["variable"] in seen:
            raise _wrong(f"'variable' '{question['variable']}' duplicated in survey question {number}.")
        seen.add(question["variable"])


def kept(spec, saved):
    """The specification with the saved defaults of passwords, which the client knows as a reserved word only."""
    if not isinstance(spec, dict):
        raise Refused.detail(400, "JSON parse error - not a JSON object")
    # AWX also accepts the word for an empty default of any type.
    defaults = {one["variable"]: (one["type"], one.get("default")) for one in saved.get("spec", [])}
    old = {name: text for name, (kind, text) in defaults.items() if text == "" or (kind == "password" and text)}
    questions = spec.get("spec")
    if not isinstance(questions, list):
        return spec
    return dict(spec, spec=[_kept(one, old) for one in questions])


def _kept(question, old):
    """Only a password gets the saved default: every other type would show it."""
    if not isinstance(question, dict) or question.get("type") != "password" or not _is_hidden(question.get("default")):
        return question
    name = question.get("variable")
    return dict(question, default=old[name]) if isinstance(name, str) and name in old else question


def _is_hidden(default):
    return isinstance(default, str) and default.startswith(HIDDEN)


def _check_question(number, question):
    if not isinstance(question, dict):
        raise _wrong(f"Survey question {number} is not a json object.")
    for name, kind in _OF_A_QUESTION.items():
        if name not in question:
            raise _wrong(f"'{name}' missing from survey question {number}")
        if not isinstance(question[name], kind):
            label = "boolean" if kind is bool else "string"
            raise _wrong(f"'{name}' in survey question {number} expected to be {label}.")
    kind, default = question["type"], question.get("default", "")
    if kind not in TYPES:
        raise _wrong(f"'{kind}' in survey question {number} is not one of '{', '.join(TYPES)}' allowed question types.")
    if default != "" and (not isinstance(default, TYPES[kind]) or isinstance(default, bool)):
        label = kind if kind in ("integer", "float") else "string"
        raise _wrong(f"Default value {default} in survey question {number} expected to be {label}.")
    for name in ("min", "max"):
        if question.get(name) is not None and not isinstance(question[name], int):
            raise _wrong(f"The {name} limit in survey question {number} expected to be integer.")
    if kind in ("multiplechoice", "multiselect"):
        _check_choices(number, question, default)
    if _is_hidden(default) and kind != "password":
        words = f"survey question {number} is type {kind}."
        raise _wrong(f"$encrypted$ is a reserved keyword for password question defaults, {words}")
    if _is_hidden(default):
        raise _wrong(f"$encrypted$ is a reserved keyword, may not be used for new default in position {number}.")


def _check_choices(number, question, default):
    kind = question["type"]
    if "choices" not in question:
        raise _wrong(f"Survey question {number} of type {kind} must specify choices.")
    defaults = [line for line in default.splitlines() if line.strip()]
    if kind == "multiplechoice" and len(defaults) > 1:
        raise _wrong("Multiple Choice (Single Select) can only have one default value.")
    if any(one not in choices(question) for one in defaults):
        raise _wrong("Default choice must be answered from the choices listed.")


def choices(question):
    """The choices of a question, as a list."""
    given = question["choices"]
    return [line for line in given.splitlines() if line.strip()] if isinstance(given, str) else given


def shown(spec):
    """The specification as the API returns it: without the defaults of passwords."""
    questions = [
        dict(one, default=HIDDEN) if one.get("type") == "password" and one.get("default") else one
        for one in spec.get("spec", [])
    ]
    return dict(spec, spec=questions) if spec else {}


def problems(spec, answers):
    """What is wrong with the answers to a survey, in AWX's words."""
    return [text for question in spec.get("spec", []) for text in _problems(question, answers)]


def _problems(question, answers):
    name, kind = question["variable"], question["type"]
    if name not in answers:
        # A default is no answer.
        if question["required"]:
            yield f"'{name}' value missing"
        return
    value, low, high = answers[name], question.get("min"), question.get("max")
    if kind in ("text", "textarea", "password"):
        if not isinstance(value, str):
            yield f"Value {value} for '{name}' expected to be a string."
        elif low is not None and len(value) < low:
            yield f"'{name}' value {value} is too small (length is {len(value)} must be at least {low})."
        elif high is not None and len(value) > high:
            yield f"'{name}' value {value} is too large (must be no more than {high})."
    elif kind in ("integer", "float"):
        if isinstance(value, bool) or not isinstance(value, TYPES[kind]):
            label = "an integer" if kind == "integer" else "a numeric type"
            yield f"Value {value} for '{name}' expected to be {label}."
        elif low is not None and value < low:
            yield f"'{name}' value {value} is too small (must be at least {low})."
        elif high is not None and value > high:
            yield f"'{name}' value {value} is too large (must be no more than {high})."
    elif kind == "multiselect" and not isinstance(value, list):
        yield f"'{name}' value is expected to be a list."
    else:
        for one in value if kind == "multiselect" else [value]:
            if one not in choices(question):
                yield f"Value {one} for '{name}' expected to be one of {choices(question)}."


def _wrong(text):
    return Refused(400, {"error": text})
