"""The metadata of objects: names, labels, annotations, finalizers and owners, in the words of an API server."""

from __future__ import annotations

import json
import re

from . import unmarshal

_TEXT, _WHOLE = {"type": "string"}, {"type": "integer", unmarshal.GO: "int64"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_UID = {"type": "string", unmarshal.GO: "types.UID"}
_FLAG = {"type": "boolean"}
# The types of metadata, with the list types of server-side apply.
SCHEMA = {
    "type": "object",
    unmarshal.GO: "v1.ObjectMeta",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TEXT),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _WHOLE),
        **dict.fromkeys(("labels", "annotations"), _TEXTS),
        "uid": _UID,
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": {
                "type": "object",
                unmarshal.GO: "v1.OwnerReference",
                "x-kubernetes-map-type": "atomic",
                "properties": {
                    **dict.fromkeys(("apiVersion", "kind", "name"), _TEXT),
                    **dict.fromkeys(("controller", "blockOwnerDeletion"), _FLAG),
                    "uid": {**_UID, "default": ""},
                },
            },
        },
        "managedFields": {
            "type": "array",
            "x-kubernetes-list-type": "atomic",
            "items": {
                "type": "object",
                unmarshal.GO: "v1.ManagedFieldsEntry",
                "properties": {
                    **dict.fromkeys(("manager", "operation", "apiVersion", "time", "fieldsType", "subresource"), _TEXT),
                    "fieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
        },
    },
}
_NAMES = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_USED = f"{_WORDS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAMES}')"
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_NAMES})?')"
)
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    rf"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_NOTES_MAX = 2**18  # bytes of all annotations
_PART_MAX, _NAME_MAX = 63, 253
# Kinds whose names are not subdomains.
_LABEL_KINDS = (("", "namespaces"), ("", "services"))
_PATH_GROUP = "rbac.authorization.k8s.io"


def problems(kind, metadata):
    """(reason, field, text) of each violation."""
    found = [_row("metadata.name", metadata["name"], text) for text in name_problems(kind, metadata["name"])]
    for key, value in sorted((metadata.get("labels") or {}).items()):
        found += [_row("metadata.labels", key, text) for text in _of_key(key)]
        found += [_row("metadata.labels", value, text) for text in _of_value(value)]
    for key in sorted(metadata.get("annotations") or {}):
        found += [_row("metadata.annotations", key, text) for text in _of_key(key.lower())]
    size = sum(len(one.encode()) for row in (metadata.get("annotations") or {}).items() for one in row)
    if size > _NOTES_MAX:
        text = f"Too long: may not be more than {_NOTES_MAX} bytes"
        found.append(("FieldValueTooLong", "metadata.annotations", text))
    found += _of_owners(metadata.get("ownerReferences") or ())
    for at, name in enumerate(metadata.get("finalizers") or ()):
        # Cluster API has finalizers without a path: custom resources may.
        found += _of_finalizer(
            name, "metadata.finalizers" if kind.custom else f"metadata.finalizers[{at}]", kind.custom
        )
    return found


def _of_owners(owners):
    found, controllers = [], [one for one in owners if one.get("controller")]
    for owner in owners:
        version = owner.get("apiVersion") or ""
        if not version.rpartition("/")[2] or version.count("/") > 1:
            found.append(_row("metadata.ownerReferences.apiVersion", version, "version must not be empty"))
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                found.append(_row(f"metadata.ownerReferences.{name}", "", "must not be empty"))
        if (version, owner.get("kind")) == ("v1", "Event"):
            text = "/v1, Kind=Event is disallowed from being an owner"
            found.append(_row("metadata.ownerReferences", _owner(owner), text))
    for other in controllers[1:]:
        names = " and ".join(f"{one.get('kind', '')}/{one.get('name', '')}" for one in (controllers[0], other))
        text = f'Only one reference can have Controller set to true. Found "true" in references for {names}'
        found.append(_row("metadata.ownerReferences", [_owner(one) for one in owners], text))
    return found


def _owner(owner):
    names = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {name: owner[name] for name in names if name in owner}


def changes(new, old):
    """What an update may not change."""
    if new.get("uid") not in (None, old["uid"]):
        yield "FieldValueInvalid", "metadata.uid", f"Invalid value: {json.dumps(new['uid'])}: field is immutable"
    more = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if old.get("deletionTimestamp") and more:
        names = ", ".join(json.dumps(one) for one in more)
        text = "no new finalizers can be added if the object is being deleted, found new finalizers "
        yield "FieldValueForbidden", "metadata.finalizers", f"Forbidden: {text}[]string{{{names}}}"


def name_problems(kind, name):
    """What is wrong with a name."""
    if kind.group == _PATH_GROUP:
        if name in (".", ".."):
            return [f"may not be '{name}'"]
        wrong = next((one for one in ("/", "%") if one in name), "")
        return [f"may not contain '{wrong}'"] if wrong else []
    if kind.key in _LABEL_KINDS:
        return _of_label(name, "bytes" if kind.plural == "namespaces" else "characters")
    return _of_subdomain(name)


def _of_label(text, unit):
    found = [f"must be no more than {_PART_MAX} {unit}"] if len(text) > _PART_MAX else []
    if re.fullmatch(_LABEL, text):
        return found
    return [*found, "must not contain dots" if re.fullmatch(_SUBDOMAIN, text) else _LABEL_TEXT]


def _of_subdomain(text):
    found = [f"must be no more than {_NAME_MAX} characters"] if len(text) > _NAME_MAX else []
    return found if re.fullmatch(_SUBDOMAIN, text) else [*found, _SUBDOMAIN_TEXT]


def _of_key(key):
    prefix, slash, name = key.rpartition("/")
    if key.count("/") > 1:
        return [f"a valid label key {_USED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    found = []
    if slash:
        found = [f"prefix part {text}" for text in (_of_subdomain(prefix) if prefix else ["must be non-empty"])]
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > _PART_MAX:
        found.append(f"name part must be no more than {_PART_MAX} bytes")
    return found if re.fullmatch(_NAMES, name) else [*found, f"name part {_USED}"]


def _of_value(value):
    found = [f"must be no more than {_PART_MAX} bytes"] if len(value) > _PART_MAX else []
    return found if re.fullmatch(f"({_NAMES})?", value) else [*found, _VALUE_TEXT]


def _of_finalizer(name, field, custom):
    found = [_row(field, name, text) for text in _of_key(name)]
    if not custom and "/" not in name and name not in ("foregroundDeletion", "kubernetes", "orphan"):
        text = "name is neither a standard finalizer name nor is it fully qualified"
        found.append(_row(field, name, text))
    return found


def of_data(data, field):
    """What is wrong with the keys of a ConfigMap or a Secret."""
    found = []
    for key in sorted(data or {}):
        if len(key) > _NAME_MAX:
            found.append(_row(f"{field}[{key}]", key, f"must be no more than {_NAME_MAX} characters"))
        if not re.fullmatch("[-._a-zA-Z0-9]+", key):
            found.append(_row(f"{field}[{key}]", key, _KEY_TEXT))
        elif key in (".", ".."):
            found.append(_row(f"{field}[{key}]", key, f"must not be '{key}'"))
        elif key.startswith(".."):
            found.append(_row(f"{field}[{key}]", key, "must not start with '..'"))
    return found


def _row(field, value, text):
    shown = json.dumps(value, separators=(",", ":")) if isinstance(value, (dict, list)) else json.dumps(value)
    return "FieldValueInvalid", field, f"Invalid value: {shown}: {text}"
