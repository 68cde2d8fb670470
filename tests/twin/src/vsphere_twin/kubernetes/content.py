"""Checks of core kinds without pods that no schema expresses: data, rights, ports and definitions."""

from __future__ import annotations

import base64
import json
import re

from . import object_meta, unmarshal

_RBAC = "rbac.authorization.k8s.io"
# Keys that a type of Secret requires.
_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_MAX_SIZE = 2**20  # of the data of a Secret or ConfigMap
_JSON_KEYS = (".dockercfg", ".dockerconfigjson")
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    f"'{_LABEL_1035}')"
)


def secret(new, old):
    kind, data, found = new.get("type"), new.get("data") or {}, []
    for key in _KEYS.get(kind, ()):
        if key not in data:
            found.append(_required(f"data[{key}]"))
        elif key in _JSON_KEYS:
            found += _of_json(key, base64.b64decode(data[key]))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        found += [_required("data[username]"), _required("data[password]")]
    account = "kubernetes.io/service-account.name"
    if kind == "kubernetes.io/service-account-token" and not (new["metadata"].get("annotations") or {}).get(account):
        found.append(_required(f"metadata.annotations[{account}]"))
    if old and kind != old.get("type"):
        found.append(_invalid("type", kind, "field is immutable"))
    size = sum(len(base64.b64decode(value)) for value in data.values())
    return found + _too_long("data", size) + object_meta.of_data(data, "data") + _immutable(new, old)


def _of_json(key, value):
    """A value that is no JSON object; the server hides it."""
    try:
        found = json.loads(value)
        text = f"json: cannot unmarshal {unmarshal.named(found)} into Go value of type map[string]interface {{}}"
        text = "" if isinstance(found, (dict, type(None))) else text
    except ValueError as error:
        at = getattr(error, "pos", 0)
        rest = value.decode(errors="replace")[at:]
        text = (
            f"invalid character {rest[0]!r} looking for beginning of value" if rest else "unexpected end of JSON input"
        )
    return [_invalid(f"data[{key}]", "<secret contents redacted>", text)] if text else []


def config_map(new, old):
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    both = sorted(data.keys() & binary.keys())
    found = [_invalid(f"data[{key}]", key, "duplicate of key present in binaryData") for key in both]
    found = object_meta.of_data(data, "data") + found + object_meta.of_data(binary, "binaryData")
    size = sum(len(value.encode()) for value in data.values())
    size += sum(len(base64.b64decode(value)) for value in binary.values())
    return found + _too_long("[]", size) + _immutable(new, old)


def _too_long(field, size):
    text = f"Too long: may not be more than {_MAX_SIZE} bytes"
    return [("FieldValueTooLong", field, text)] if size > _MAX_SIZE else []


def _immutable(new, old):
    if not (old and old.get("immutable")):
        return []
    text = "Forbidden: field is immutable when `immutable` is set"
    changed = [key for key in ("data", "binaryData", "immutable") if new.get(key) != old.get(key)]
    return [("FieldValueForbidden", key, text) for key in changed]


def role(new, _old):
    found = []
    for at, rule in enumerate(new.get("rules") or ()):
        where = f"rules[{at}]"
        if not rule.get("verbs"):
            found.append(_required(f"{where}.verbs", "verbs must contain at least one value"))
        if rule.get("nonResourceURLs"):
            continue
        for key, text in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(key):
                found.append(_required(f"{where}.{key}", f"resource rules must supply at least one {text}"))
    return found


def binding(new, old):
    reference, found = new["roleRef"], []
    kinds = ("Role", "ClusterRole") if new["kind"] == "RoleBinding" else ("ClusterRole",)
    if reference.get("kind") not in kinds:
        found.append(_unsupported("roleRef.kind", reference.get("kind"), kinds))
    if not reference.get("name"):
        found.append(_required("roleRef.name"))
    for at, subject in enumerate(new.get("subjects") or ()):
        if not subject.get("name"):
            found.append(_required(f"subjects[{at}].name"))
        kinds = ("ServiceAccount", "User", "Group")
        if subject.get("kind") not in kinds:
            found.append(_unsupported(f"subjects[{at}].kind", subject.get("kind"), kinds))
    if old and reference != old["roleRef"]:
        given = {key: reference.get(name, "") for key, name in (("Kind", "kind"), ("Name", "name"))}
        given = {"APIGroup": reference.get("apiGroup", _RBAC), **given}
        found.append(_invalid("roleRef", given, "cannot change roleRef"))
    return found


def service(new, _old):
    spec, found = new["spec"], []
    if not spec.get("ports") and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        found.append(_required("spec.ports"))
    for at, port in enumerate(spec.get("ports") or ()):
        for name in ("port", "targetPort"):
            value = port.get(name, 0)
            if isinstance(value, int) and not 0 < value < 65536:
                found.append(_invalid(f"spec.ports[{at}].{name}", value, "must be between 1 and 65535, inclusive"))
    return found


def definition(new, _old):
    spec, name = new["spec"], new["metadata"]["name"]
    names, versions, found = spec["names"], spec.get("versions"), []
    if name != f"{names.get('plural', '')}.{spec.get('group', '')}":
        found.append(_invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    if not spec.get("group"):
        found.append(_required("spec.group"))
    if not spec.get("scope"):
        found.append(_required("spec.scope"))
    elif spec["scope"] not in ("Cluster", "Namespaced"):
        found.append(_unsupported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
    for at, one in enumerate(versions or ()):
        if "openAPIV3Schema" not in one.get("schema", {}):
            found.append(_required(f"spec.versions[{at}].schema.openAPIV3Schema"))
        if not re.fullmatch(_LABEL_1035, one.get("name", "")):
            found.append(_invalid(f"spec.versions[{at}].name", one.get("name", ""), _LABEL_1035_TEXT))
    stored = sum(bool(one.get("storage")) for one in versions or ())
    if stored != 1:
        shown = versions and [_version(one) for one in versions]
        found.append(_invalid("spec.versions", shown, "must have exactly one version marked as storage version"))
    found += [
        _required(f"spec.names.{key}") for key in ("plural", "singular", "kind", "listKind") if not names.get(key)
    ]
    if not stored:
        found.append(_invalid("status.storedVersions", None, "must have at least one stored version"))
    return found


def _version(one):
    """A version as the server shows it in an error; equal schemas are not part of it."""
    shown = {key.title(): one.get(key, "" if key == "name" else False) for key in ("name", "served", "storage")}
    empty = ("DeprecationWarning", "Schema", "Subresources", "AdditionalPrinterColumns", "SelectableFields")
    return {**shown, "Deprecated": one.get("deprecated", False), **dict.fromkeys(empty)}


def _required(field, text=""):
    return "FieldValueRequired", field, f"Required value: {text}" if text else "Required value"


def _invalid(field, value, text):
    return "FieldValueInvalid", field, f"Invalid value: {json.dumps(value, separators=(',', ':'))}: {text}"


def _unsupported(field, value, supported):
    names = ", ".join(json.dumps(one) for one in supported)
    return "FieldValueNotSupported", field, f"Unsupported value: {json.dumps(value or '')}: supported values: {names}"
