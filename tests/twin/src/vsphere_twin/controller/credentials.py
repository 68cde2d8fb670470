"""Credential types and credentials: what AWX 24.6.1 accepts. [sure]"""

from __future__ import annotations

import base64
import binascii
import re

from .refused import Refused

HIDDEN = "$encrypted$"
_ID = re.compile(r"^[a-zA-Z_]+[a-zA-Z0-9_]*$")
# The names in injectors. AWX repeats the expression in its answer.
_NAMES = {
    "env": _ID,
    "extra_vars": re.compile(r"^[a-zA-Z_\{\}]+[a-zA-Z0-9_\{\}]*$"),
    "file": re.compile(r"^template(\.[a-zA-Z_]+[a-zA-Z0-9_]*)?$"),
}
# The keys of a field, with the type of each. `default` depends on the type of the field.
_KEYS = {
    **dict.fromkeys(("id", "label", "type", "format", "help_text"), (str, "string")),
    **dict.fromkeys(("secret", "multiline", "ask_at_runtime"), (bool, "boolean")),
    "choices": (list, "array"),
    "default": (object, ""),
}
_ONLY_TEXT = ("choices", "multiline", "format", "secret")
# Names of the environment that a credential type must not set.
_BLOCKED = {
    *("VIRTUAL_ENV", "PATH", "PYTHONPATH", "JOB_ID", "INVENTORY_ID", "INVENTORY_SOURCE_ID", "INVENTORY_UPDATE_ID"),
    *("AD_HOC_COMMAND_ID", "REST_API_URL", "REST_API_TOKEN", "MAX_EVENT_RES", "CALLBACK_QUEUE", "CALLBACK_CONNECTION"),
    *("CACHE", "JOB_CALLBACK_DEBUG", "INVENTORY_HOSTVARS", "AWX_HOST", "PROJECT_REVISION", "SUPERVISOR_CONFIG_PATH"),
}
# The names in an expression of Jinja. AWX renders the template; the twin has no Jinja and compares names.
_EXPRESSION = re.compile(r"\{\{-?\s*([a-zA-Z_][a-zA-Z0-9_.]*)")
# A private key in its armour: the type, and the data in lines.
_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----\s*\n(.*?)-----END \1-----\s*", re.DOTALL)
# A secret with this text is a question at the launch. The API shows it.
ASK = "ASK"
_ASKED = {"password", "ssh_key_unlock", "become_password", "vault_password"}
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
                **({"format": "ssh_private_key"} if one.startswith("ssh_key_data") else {}),
                **({"ask_at_runtime": True} if kind in ("ssh", "vault") and one.rstrip("!") in _ASKED else {}),
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
    _expect("inputs", inputs.get("fields", []), ["fields"], list, "array")
    ids = {}
    for number, one in enumerate(inputs.get("fields", [])):
        where = ["fields", number]
        _expect("inputs", one, where, dict, "dict")
        _only("inputs", one, _KEYS, where)
        for key, value in one.items():
            _expect("inputs", value, [*where, key], *_KEYS[key])
        for choice, text in enumerate(one.get("choices", [])):
            _expect("inputs", text, [*where, "choices", choice], str, "string")
        for key in ("id", "label"):
            if key not in one:
                raise _wrong("inputs", f"'{key}' is a required property")
        _check_field(one, ids)
        ids[one["id"]] = one
    _expect("inputs", inputs.get("required", []), ["required"], list, "array")
    for number, name in enumerate(inputs.get("required", [])):
        _expect("inputs", name, ["required", number], str, "string")
    return ids


def _check_field(one, ids):
    name, kind = one["id"], one.setdefault("type", "string")
    if not _ID.match(name):
        raise _wrong("inputs", f"{name} is an invalid variable name")
    if name == "tower":
        raise _wrong("inputs", '"tower" is a reserved field name')
    if name in ids:
        raise _wrong("inputs", f"field IDs must be unique ({name})")
    if kind not in ("string", "boolean"):
        raise _wrong("inputs", f"'{kind}' is not one of ['string', 'boolean']")
    if "ask_at_runtime" in one:
        raise _wrong("inputs", "'ask_at_runtime' is not supported for custom credentials.")
    for key in _ONLY_TEXT:
        if key in one and kind != "string":
            raise _wrong("inputs", f"{key} not allowed for {kind} type ({name})")
    if "default" in one and not isinstance(one["default"], bool if kind == "boolean" else str):
        raise _wrong("inputs", f"{one['default']} is not a {kind}")
    if "format" in one and one["format"] not in ("ssh_private_key", "url"):
        raise _wrong("inputs", f"'{one['format']}' is not one of ['ssh_private_key', 'url']")


def _check_injectors(injectors, ids):
    _only("injectors", injectors, set(_NAMES))
    for part, given in injectors.items():
        _expect("injectors", given, [part], dict, "dict")
        for name in given:
            if not _NAMES[part].match(name):
                why = f"{name!r} does not match any of the regexes: {_NAMES[part].pattern!r}"
                raise _wrong("injectors", f"Schema validation error in relative path ['{part}'] ({why})")
    files = injectors.get("file", {})
    if "template" in files and len(files) > 1:
        raise _wrong("injectors", "Must use multi-file syntax when injecting multiple files")
    for name, text in injectors.get("env", {}).items():
        _expect("injectors", text, ["env", name], str, "string")
        if not text.isascii():
            raise _wrong("injectors", f"{text!r} does not match '^[\\x00-\\x7f]*$'")
        if name.startswith("ANSIBLE_"):
            why = "may affect Ansible configuration so its use is not allowed in credentials"
            raise _wrong("injectors", f"Environment variable {name} {why}.")
        if name in _BLOCKED:
            raise _wrong("injectors", f"Environment variable {name} is not allowed to be used in credentials.")
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
        raise _wrong("injectors", f"{value!r} is not valid under any of the given schemas")


def check_inputs(kind, inputs, saved=None):
    """The inputs as they are saved, or a refusal of those that the type does not have."""
    fields = {one["id"]: one for one in kind["inputs"].get("fields", [])}
    inputs = {name: _filled(fields.get(name, {}), value) for name, value in inputs.items()}
    unknown = sorted(set(inputs) - set(fields))
    if unknown:
        raise _wrong("inputs", _unexpected(unknown))
    for name, value in inputs.items():
        if fields[name]["type"] == "boolean" and not isinstance(value, bool):
            raise _wrong_input(name, f"{value!r} is not of type 'boolean'")
        if fields[name]["type"] == "string" and not isinstance(value, str):
            raise _wrong_input(name, f"{value!r} is not of type 'string'")
        if value == HIDDEN and saved is None and fields[name].get("secret"):
            raise Refused(400, {"inputs": [f"$encrypted$ is a reserved keyword, and cannot be used for {name}."]})
        allowed = fields[name].get("choices")
        if allowed and value not in allowed:
            raise _wrong_input(name, f"{value!r} is not one of {allowed}")
        if fields[name].get("format") == "ssh_private_key" and value not in ("", HIDDEN) and not _KEY.search(value):
            raise _wrong_input(name, f"Invalid certificate or key: {value[:100]}...")
    if saved and kind["kind"] == "vault" and inputs.get("vault_id", "") != saved.get("vault_id", ""):
        raise _wrong("inputs", "Vault IDs cannot be changed once they have been created.")
    found = {
        name: saved[name] if value == HIDDEN and saved and name in saved else value for name, value in inputs.items()
    }
    if kind.get("managed") and "ssh_key_unlock" in fields:
        _check_passphrase(found)
    # AWX saves no empty secret.
    return {name: value for name, value in found.items() if value or not fields[name].get("secret")}


def _filled(field, value):
    """AWX takes null as the default of the field."""
    if value is None and field:
        return field.get("default", False if field["type"] == "boolean" else "")
    return value


def _check_passphrase(inputs):
    key, passphrase = inputs.get("ssh_key_data", ""), inputs.get("ssh_key_unlock", "")
    if _is_encrypted(key) and not passphrase:
        raise _wrong_input("ssh_key_unlock", "must be set when SSH key is encrypted.")
    if key and passphrase and not _is_encrypted(key):
        raise _wrong_input("ssh_key_unlock", "should not be set when SSH key is not encrypted.")


def _is_encrypted(text):
    found = _KEY.search(text)
    if found is None:
        return False
    kind, lines = found.groups()
    if "ENCRYPTED" in kind or "ENCRYPTED" in lines:
        return True
    try:
        data = base64.b64decode(lines)
    except binascii.Error:
        return False
    # The magic word of OpenSSH, then the length and the name of the cipher.
    return data.startswith(b"openssh-key-v1\0") and not data[19:].startswith(b"none")


def shown(kind, inputs):
    """The inputs as the API returns them: secrets hidden."""
    secret = {one["id"]: one for one in kind["inputs"].get("fields", []) if one.get("secret")}
    return {
        name: HIDDEN if name in secret and value and not _is_asked(secret[name], value) else value
        for name, value in inputs.items()
    }


def _is_asked(field, value):
    return value == ASK and field.get("ask_at_runtime", False)


def _only(field, given, allowed, path=()):
    if not isinstance(given, dict):
        raise _wrong(field, f"{type(given).__name__} provided, expected dict")
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise _wrong(field, f"Schema validation error in relative path {list(path)} ({_unexpected(unknown)})")


def _unexpected(names):
    words = f"{', '.join(repr(one) for one in names)} {'was' if len(names) == 1 else 'were'}"
    return f"Additional properties are not allowed ({words} unexpected)"


def _expect(field, value, path, kind, label):
    if not isinstance(value, kind):
        raise _wrong(field, f"{type(value).__name__} provided in relative path {path}, expected {label}")


def _wrong(field, text):
    return Refused.of(field, text)


def _wrong_input(name, text):
    return Refused(400, {"inputs": {name: [text]}})
