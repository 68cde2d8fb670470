"""Credential types and credentials: what AWX 24.6.1 accepts. [sure]"""

from __future__ import annotations

import re

from .refused import Refused

HIDDEN = "$encrypted$"
_ID = re.compile(r"[a-zA-Z_]+[a-zA-Z0-9_]*\Z")
_EXTRA_VAR = re.compile(r"[a-zA-Z_{}]+[a-zA-Z0-9_{}]*\Z")
_FILE = re.compile(r"template(\.[a-zA-Z_]+[a-zA-Z0-9_]*)?\Z")
_KEYS = {"id", "label", "type", "format", "choices", "secret", "multiline", "ask_at_runtime", "help_text", "default"}
_ONLY_TEXT = ("choices", "multiline", "format", "secret")
# Names of the environment that a credential type must not set.
_BLOCKED = {
    *("VIRTUAL_ENV", "PATH", "PYTHONPATH", "JOB_ID", "INVENTORY_ID", "INVENTORY_SOURCE_ID", "INVENTORY_UPDATE_ID"),
    *("AD_HOC_COMMAND_ID", "REST_API_URL", "REST_API_TOKEN", "MAX_EVENT_RES", "CALLBACK_QUEUE", "CALLBACK_CONNECTION"),
    *("CACHE", "JOB_CALLBACK_DEBUG", "INVENTORY_HOSTVARS", "AWX_HOST", "PROJECT_REVISION", "SUPERVISOR_CONFIG_PATH"),
}
# The names in an expression of Jinja. AWX renders the template; the twin has no Jinja and compares names.
_EXPRESSION = re.compile(r"\{\{-?\s*([a-zA-Z_][a-zA-Z0-9_.]*)")
# Types that every controller has, as far as clients use them here: (name, kind, namespace, fields, required).
_MACHINE = ("username", "password!", "ssh_key_data!", "ssh_public_key_data", "ssh_key_unlock!", "become_method")
_GALAXY = "Ansible Galaxy/Automation Hub API Token"
MANAGED = (
    ("Machine", "ssh", "ssh", (*_MACHINE, "become_username", "become_password!"), ()),
    ("Source Control", "scm", "scm", ("username", "password!", "ssh_key_data!", "ssh_key_unlock!"), ()),
    ("Vault", "vault", "vault", ("vault_password!", "vault_id"), ("vault_password",)),
    ("VMware vCenter", "cloud", "vmware", ("host", "username", "password!"), ("host", "username", "password")),
    ("Container Registry", "registry", "registry", ("host", "username", "password!", "verify_ssl?"), ("host",)),
    (_GALAXY, "galaxy", "galaxy_api_token", ("url", "auth_url", "token!"), ("url",)),
)


def managed():
    """The rows of these types."""
    for name, kind, namespace, fields, required in MANAGED:
        inputs = [
            {
                "id": one.rstrip("!?"),
                "label": one.rstrip("!?").replace("_", " ").capitalize(),
                "type": "boolean" if one.endswith("?") else "string",
                **({"secret": True} if one.endswith("!") else {}),
            }
            for one in fields
        ]
        yield {
            "name": name,
            "kind": kind,
            "namespace": namespace,
            "managed": True,
            "description": "",
            "inputs": {"fields": inputs, "required": list(required)} if required else {"fields": inputs},
            "injectors": {},
        }


def check_type(values):
    """Reject the inputs and injectors that AWX rejects."""
    ids = _check_inputs(values["inputs"])
    _check_injectors(values["injectors"], ids)


def _check_inputs(inputs):
    _only("inputs", inputs, {"fields", "required"})
    ids = {}
    for number, one in enumerate(inputs.get("fields", [])):
        if not isinstance(one, dict):
            raise _wrong(
                "inputs", f"{type(one).__name__} provided in relative path ['fields', {number}], expected dict"
            )
        _only("inputs", one, _KEYS, ["fields", number])
        for key in ("id", "label"):
            if key not in one:
                raise _wrong("inputs", f"'{key}' is a required property")
        name, kind = one["id"], one.setdefault("type", "string")
        if not _ID.match(str(name)):
            raise _wrong("inputs", f"{name} is an invalid variable name")
        if name == "tower":
            raise _wrong("inputs", '"tower" is a reserved field name')
        if name in ids:
            raise _wrong("inputs", f"field IDs must be unique ({name})")
        if kind not in ("string", "boolean"):
            raise _wrong("inputs", f"'{kind}' is not one of ['string', 'boolean']")
        for key in _ONLY_TEXT:
            if key in one and kind != "string":
                raise _wrong("inputs", f"{key} not allowed for {kind} type ({name})")
        if "default" in one and not isinstance(one["default"], bool if kind == "boolean" else str):
            raise _wrong("inputs", f"{one['default']} is not a {kind}")
        if not isinstance(one["label"], str):
            where = f"in relative path ['fields', {number}, 'label']"
            raise _wrong("inputs", f"{type(one['label']).__name__} provided {where}, expected string")
        if not isinstance(one.get("choices", []), list):
            where = f"in relative path ['fields', {number}, 'choices']"
            raise _wrong("inputs", f"{type(one['choices']).__name__} provided {where}, expected array")
        if "format" in one and one["format"] not in ("ssh_private_key", "url"):
            raise _wrong("inputs", f"'{one['format']}' is not one of ['ssh_private_key', 'url']")
        ids[name] = one
    required = inputs.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise _wrong("inputs", "required is not a list of strings")
    return ids


def _check_injectors(injectors, ids):
    _only("injectors", injectors, {"file", "env", "extra_vars"})
    for name, given in injectors.items():
        if not isinstance(given, dict):
            raise _wrong("injectors", f"{type(given).__name__} provided in relative path ['{name}'], expected dict")
    files = injectors.get("file", {})
    for name in files:
        if not _FILE.match(name):
            raise _wrong("injectors", f"'{name}' does not match any of the regexes: '{_FILE.pattern}'")
    if "template" in files and len(files) > 1:
        raise _wrong("injectors", "Must use multi-file syntax when injecting multiple files")
    for name, text in injectors.get("env", {}).items():
        if not _ID.match(name):
            raise _wrong("injectors", f"'{name}' does not match any of the regexes")
        if not isinstance(text, str) or not text.isascii():
            raise _wrong("injectors", f"{text!r} is not of type 'string'")
        if name.startswith("ANSIBLE_"):
            why = "may affect Ansible configuration so its use is not allowed in credentials"
            raise _wrong("injectors", f"Environment variable {name} {why}.")
        if name in _BLOCKED:
            raise _wrong("injectors", f"Environment variable {name} is not allowed to be used in credentials.")
    for name in injectors.get("extra_vars", {}):
        if not _EXTRA_VAR.match(name):
            raise _wrong("injectors", f"'{name}' does not match any of the regexes: '{_EXTRA_VAR.pattern}'")
    known = _Namespace(ids, files)
    for part, entries in injectors.items():
        for name, value in entries.items():
            for text in _texts(value):
                known.check(part, name, text)


class _Namespace:
    """The names that an injector's template may use."""

    def __init__(self, ids, files):
        self._known = {*ids, *(f"tower.filename.{name.partition('.')[2]}" for name in files if "." in name)}
        if "template" in files:
            self._known.add("tower.filename")

    def check(self, part, name, text):
        if text.count("{{") != text.count("}}"):
            raise _wrong("injectors", f"Syntax error rendering template for {name} inside of {part}")
        for used in _EXPRESSION.findall(text):
            if used not in self._known:
                raise _wrong("injectors", f"{name} uses an undefined field ('{used}' is undefined)")


def _texts(value):
    """Every template in an injector: texts, lists and dictionaries of them; numbers and booleans are refused."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    else:
        raise _wrong("injectors", f"{value!r} is not of type 'string'")


def check_inputs(kind, inputs, saved=None):
    """Reject the inputs of a credential that its type does not have."""
    fields = {one["id"]: one for one in kind["inputs"].get("fields", [])}
    for name, value in inputs.items():
        if name not in fields:
            raise _wrong("inputs", f"Additional properties are not allowed ('{name}' was unexpected)")
        if fields[name]["type"] == "boolean" and not isinstance(value, bool):
            raise Refused(400, {"inputs": {name: [f"{value!r} is not of type 'boolean'"]}})
        if fields[name]["type"] == "string" and not isinstance(value, str):
            raise Refused(400, {"inputs": {name: [f"{type(value).__name__} provided, expected string"]}})
        if value == HIDDEN and saved is None and fields[name].get("secret"):
            raise Refused(400, {"inputs": [f"$encrypted$ is a reserved keyword, and cannot be used for {name}."]})
        allowed = fields[name].get("choices")
        if allowed and value not in allowed:
            raise Refused(400, {"inputs": {name: [f"{value!r} is not one of {allowed}"]}})
    return {
        name: saved[name] if value == HIDDEN and saved and name in saved else value for name, value in inputs.items()
    }


def shown(kind, inputs):
    """The inputs as the API returns them: secrets hidden."""
    secret = {one["id"] for one in kind["inputs"].get("fields", []) if one.get("secret")}
    return {name: HIDDEN if name in secret and value else value for name, value in inputs.items()}


def _only(field, given, allowed, path=()):
    if not isinstance(given, dict):
        raise _wrong(field, f"{type(given).__name__} provided, expected dict")
    unknown = sorted(set(given) - allowed)
    if unknown:
        where = f" in relative path {list(path)}" if path else ""
        words = ", ".join(repr(one) for one in unknown)
        why = f"Additional properties are not allowed ({words} was unexpected)"
        raise _wrong(field, f"Schema validation error{where} ({why})")


def _wrong(field, text):
    return Refused.of(field, text)
