"""What the API server serves: groups, versions and resources, in the plain and in the aggregated form."""

from __future__ import annotations

import hashlib

from . import kinds, unmarshal

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def versions(cluster):
    """/version."""
    major, minor = cluster.version.removeprefix("v").split(".")[:2]
    return {
        "major": major,
        "minor": minor,
        "gitVersion": cluster.version,
        "gitCommit": "0" * 40,
        "gitTreeState": "clean",
        "buildDate": "2025-08-13T14:21:22Z",
        "goVersion": "go1.24.5",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def api(cluster):
    """/api."""
    where = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": where}


def _by_group(cluster):
    found = {}
    for kind in cluster.kinds.values():
        found.setdefault(kind.group, set()).add(kind.version)
    return {group: sorted(names, key=kinds.version_order) for group, names in sorted(found.items())}


def groups(cluster):
    """/apis."""
    rows = [_group(group, names) for group, names in _by_group(cluster).items() if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}


def group(cluster, name):
    """/apis/GROUP, or None."""
    names = _by_group(cluster).get(name)
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, names)} if name and names else None


def _group(name, names):
    rows = [{"groupVersion": f"{name}/{version}", "version": version} for version in names]
    return {"name": name, "versions": rows, "preferredVersion": rows[0]}


def resources(cluster, group_name, version):
    """The resources of one version, or None."""
    rows = []
    for kind in sorted(cluster.kinds.values(), key=lambda one: one.plural):
        if (kind.group, kind.version) == (group_name, version):
            rows += _resources(kind)
    if not rows:
        return None
    name = f"{group_name}/{version}" if group_name else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": rows}


def _resources(kind):
    row = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    for key, values in (("shortNames", kind.short), ("categories", kind.categories)):
        if values:
            row[key] = list(values)
    row["storageVersionHash"] = hashlib.sha256(f"{kind.key}{kind.storage}".encode()).hexdigest()[:11] + "="
    return [row, *(_subresource(kind, name) for name in kind.subresources)]


def _subresource(kind, name):
    row = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind}
    if name == "scale":
        row.update(group="autoscaling", version="v1", kind="Scale")
    elif name == "eviction":
        row.update(group="policy", version="v1", kind="Eviction")
    elif name == "token":
        row.update(group="authentication.k8s.io", version="v1", kind="TokenRequest")
    return {**row, "verbs": list(kind.verbs_of(name))}


def aggregated(cluster, core):
    """The aggregated form (v2) of /api or /apis."""
    items = []
    for name, names in _by_group(cluster).items():
        if bool(name) == core:
            continue
        rows = [{"version": one, "resources": _aggregated(cluster, name, one), "freshness": "Current"} for one in names]
        items.append({"metadata": {"name": name, "creationTimestamp": None} if name else {}, "versions": rows})
    version = "apidiscovery.k8s.io/v2"
    return {"kind": "APIGroupDiscoveryList", "apiVersion": version, "metadata": {}, "items": items}


def _aggregated(cluster, group_name, version):
    rows = []
    for kind in sorted(cluster.kinds.values(), key=lambda one: one.plural):
        if (kind.group, kind.version) != (group_name, version):
            continue
        row = {
            "resource": kind.plural,
            "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "singularResource": kind.singular,
            "verbs": list(kind.verbs),
        }
        if kind.short:
            row["shortNames"] = list(kind.short)
        if kind.categories:
            row["categories"] = list(kind.categories)
        subresources = [_subresource(kind, name) for name in kind.subresources]
        if subresources:
            row["subresources"] = [
                {
                    "subresource": one["name"].partition("/")[2],
                    "responseKind": {
                        "group": one.get("group", ""),
                        "version": one.get("version", ""),
                        "kind": one["kind"],
                    },
                    "verbs": one["verbs"],
                }
                for one in subresources
            ]
        rows.append(row)
    return rows


def paths(cluster):
    """/: the paths that the server serves."""
    found = ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
    for name, names in _by_group(cluster).items():
        found += [f"/apis/{name}", *(f"/apis/{name}/{one}" for one in names)] if name else []
    return {"paths": sorted(found)}


def openapi(cluster, path):
    """/openapi/v3: the schemas, and whether the server validates fields."""
    if not path:
        names = [
            "api/v1",
            *(f"apis/{name}/{one}" for name, names in _by_group(cluster).items() if name for one in names),
        ]
        return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash=0"} for name in names}}
    if path != ["api", "v1"] and (path[0] != "apis" or len(path) != 3):
        return None
    group_name, version = ("", "v1") if path[0] == "api" else (path[1], path[2])
    found, schemas = {}, {}
    for kind in cluster.kinds.values():
        if (kind.group, kind.version) == (group_name, version):
            words = [{"name": name, "in": "query"} for name in ("fieldValidation", "dryRun", "fieldManager")]
            about = {"group": kind.group, "version": kind.version, "kind": kind.kind}
            patch = {"parameters": words, "x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": about}
            where = "/namespaces/{namespace}" if kind.namespaced else ""
            found[f"/{'/'.join(path)}{where}/{kind.plural}/{{name}}"] = {"patch": patch, "parameters": []}
            name = ".".join((*reversed((kind.group or "core.api.k8s.io").split(".")), version, kind.kind))
            schemas[name] = {**_published(kind.schema), "x-kubernetes-group-version-kind": [about]}
    info, components = {"title": "Kubernetes", "version": cluster.version}, {"schemas": schemas}
    return {"openapi": "3.0.0", "info": info, "paths": found, "components": components} if found else None


def _published(schema):
    """A schema without the names of Go types."""
    if isinstance(schema, list):
        return [_published(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _published(value) for key, value in schema.items() if key != unmarshal.GO}
