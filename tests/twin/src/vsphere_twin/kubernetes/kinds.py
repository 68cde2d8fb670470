"""The kinds that a cluster serves: core kinds of kubernetes.yml, custom resources of kubernetes.json.xz."""

from __future__ import annotations

import copy
import dataclasses
import json
import lzma
from functools import cache
from importlib import resources

import yaml

from . import object_meta, schemas, unmarshal

_PLAIN = {"string", "integer", "boolean", "number"}
# Verbs of subresources; the others are read and written.
_VERBS = {
    "log": ("get",),
    "exec": ("create", "get"),
    "eviction": ("create",),
    "binding": ("create",),
    "finalize": ("update",),
    "token": ("create",),
}
CRD_GROUP = "apiextensions.k8s.io"


@dataclasses.dataclass(frozen=True, eq=False)
class Kind:
    """One kind in one served version."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    schema: dict
    storage: str  # the version that is stored
    short: tuple = ()
    subresources: tuple = ()
    custom: bool = False
    deprecated: bool = False
    fields: tuple = ()  # of field selectors, beside name and namespace
    verbs: tuple = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
    categories: tuple = ()

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self):
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self):
        return self.kind.lower()

    @property
    def key(self):
        return (self.group, self.plural)

    def verbs_of(self, subresource):
        """The verbs of the resource or of one of its subresources."""
        return _VERBS.get(subresource, ("get", "patch", "update")) if subresource else self.verbs

    @property
    def has_status(self):
        return "status" in self.subresources


def _data(name):
    return resources.files(__package__).joinpath("..", "data", name)


@cache
def _custom_rows():
    """Rows of the CRDs, each with its schema."""
    return json.loads(lzma.decompress(_data("kubernetes.json.xz").read_bytes()))


@cache
def core():
    """The kinds of the server itself."""
    data = yaml.safe_load(_data("kubernetes.yml").read_text(encoding="utf-8"))
    parts = dict.fromkeys(data["parts"])
    mpi = next(row for row in _custom_rows() if row["kind"] == "MPIJob")["schema"]
    replicas = mpi["properties"]["spec"]["properties"]["mpiReplicaSpecs"]
    pod = replicas["additionalProperties"]["properties"]["template"]["properties"]["spec"]
    parts["pod"] = {**pod, unmarshal.GO: "v1.PodSpec"}
    parts["metadata"] = object_meta.SCHEMA
    for name, text in data["parts"].items():
        parts[name] = _expanded(text, parts)
    return tuple(_core_kind(row, parts) for row in data["kinds"])


def _core_kind(row, parts):
    properties = {name: _expanded(text, parts) for name, text in row.get("fields", {}).items()}
    required = [name.removesuffix("!") for name in properties if name.endswith("!")]
    properties = {name.removesuffix("!"): inner for name, inner in properties.items()}
    general = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    group, _slash, version = row["api"].rpartition("/")
    options = {name: tuple(row[name]) for name in ("short", "subresources", "verbs", "categories") if name in row}
    return Kind(
        group,
        version,
        row["kind"],
        row["plural"],
        row.get("namespaced", True),
        {"type": "object", "properties": {**general, **properties}, "required": required},
        version,
        fields=tuple(row.get("selectors", ())),
        **options,
    )


def _expanded(text, parts):
    """A schema of the short form: a type, $part, [items], {field: ...}; see its head."""
    if isinstance(text, list):
        return {"type": "array", "items": _expanded(text[0], parts)}
    if isinstance(text, dict):
        return _expanded_object(text, parts)
    text, _equals, given = text.partition("=")
    if text in _PLAIN:
        schema = {"type": text}
        return {**schema, "default": yaml.safe_load(given)} if given else schema
    if text.startswith("$"):
        return copy.deepcopy(parts[text[1:]])
    if text == "strings":
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if text == "bytes":
        return {"type": "object", "additionalProperties": dict(schemas.BYTES)}
    if text == "quantities":
        return {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}}
    if text == "intstr":
        return {"x-kubernetes-int-or-string": True}
    if text == "any":
        return {"x-kubernetes-preserve-unknown-fields": True}
    if text == "whole":
        return {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-map-type": "atomic"}
    raise ValueError(f"There is no type {text}.")


def _expanded_object(text, parts):
    if "_keys" in text:
        items = _expanded(text["_items"], parts)
        keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": text["_keys"]}
        return {"type": "array", "items": items, **keys}
    if "_enum" in text:
        return {
            "type": "string",
            "enum": text["_enum"],
            **({"default": text["_default"]} if "_default" in text else {}),
        }
    own = {name: inner for name, inner in text.items() if not name.startswith("_")}
    properties = {name.removesuffix("!"): _expanded(inner, parts) for name, inner in own.items()}
    required = [name.removesuffix("!") for name in text if name.endswith("!")]
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if "_atomic" in text:
        schema["x-kubernetes-map-type"] = "atomic"
    if "_open" in text:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    if "_go" in text:
        schema[unmarshal.GO] = text["_go"]
    return schema


@cache
def definitions():
    """The shipped CustomResourceDefinition objects by their names."""
    groups = {}
    for row in _custom_rows():
        groups.setdefault(f"{row['plural']}.{row['group']}", []).append(row)
    return {name: _definition(name, rows) for name, rows in sorted(groups.items())}


def _definition(name, rows):
    first = next(row for row in rows if row["storage"])
    names = {"plural": first["plural"], "singular": first["kind"].lower(), "kind": first["kind"]}
    names.update(listKind=f"{first['kind']}List", shortNames=first["short"])
    schemas = {row["version"]: row["schema"] for row in rows}
    versions = []
    for version in first["served"]:
        one = {"name": version, "served": True, "storage": version == first["version"]}
        if version in first["deprecated"]:
            one["deprecated"] = True
        # A version whose own schema is not in the data is served with the schema of the stored one.
        one["schema"] = {"openAPIV3Schema": schemas.get(version, first["schema"])}
        if first["status_subresource"]:
            one["subresources"] = {"status": {}}
        versions.append(one)
    return {
        "apiVersion": f"{CRD_GROUP}/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": first["group"],
            "names": {key: value for key, value in names.items() if value},
            "scope": first["scope"],
            "versions": versions,
            "conversion": {"strategy": "None"},
        },
    }


def of_definition(crd):
    """The kinds of a CustomResourceDefinition, one for each served version."""
    spec = crd["spec"]
    names, stored = spec["names"], next(one["name"] for one in spec["versions"] if one.get("storage"))
    found = []
    for one in spec["versions"]:
        if not one.get("served"):
            continue
        found.append(
            Kind(
                spec["group"],
                one["name"],
                names["kind"],
                names["plural"],
                spec["scope"] == "Namespaced",
                (one.get("schema") or {}).get("openAPIV3Schema", {"x-kubernetes-preserve-unknown-fields": True}),
                stored,
                short=tuple(names.get("shortNames", ())),
                subresources=tuple(one.get("subresources") or {}),
                custom=True,
                deprecated=one.get("deprecated", False),
                categories=tuple(names.get("categories", ())),
            )
        )
    return found


def version_order(version):
    """Sort versions as a server prefers them: v2, v1, v1beta2, v1beta1, v1alpha1."""
    major, _alpha, rest = version.removeprefix("v").partition("alpha")
    level = 0 if rest else 2
    if not rest:
        major, _beta, rest = major.partition("beta")
        level = 1 if rest else 2
    return (-level, -int(major), -int(rest or 0))
