"""The user of a request, and the rights of this user by RBAC."""

from __future__ import annotations

import dataclasses
import datetime
import json

from . import refused

ISSUER = "https://kubernetes.default.svc.cluster.local"
ADMINISTRATORS, AUTHENTICATED = "system:masters", "system:authenticated"
# What the role system:basic-user allows to create.
_OF_EVERYONE = (
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
)
# What the roles system:discovery and system:public-info-viewer allow to get.
_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/", "/api", "/api/*", "/apis", "/apis/*")
_PATHS += ("/openapi", "/openapi/*")


@dataclasses.dataclass(frozen=True)
class User:
    """A user with groups."""

    name: str
    groups: tuple = ()
    until: datetime.datetime | None = None  # the end of the login
    audiences: tuple = (ISSUER,)
    account: tuple = ()  # (namespace, name, uid) of the service account that a token belongs to


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


class Unknown(Exception):
    """A token that logs nobody in."""


def logged_in(cluster, tokens, token, audiences=()):
    """The user of a token and its audiences among those asked for; without any, the audience is the server."""
    user, asked = tokens.get(token), tuple(audiences) or (ISSUER,)
    if user is None:
        raise Unknown("invalid bearer token")
    shared = [one for one in asked if one in user.audiences]
    problem = _problem(cluster, user, asked, shared)
    if problem:
        raise Unknown(f"[invalid bearer token, {problem}]" if user.account else "invalid bearer token")
    return user, shared


def _problem(cluster, user, asked, shared):
    if user.until and user.until < datetime.datetime.now(datetime.timezone.utc):
        return "service account token has expired"
    if not shared:
        given, wanted = (" ".join(json.dumps(one) for one in names) for names in (user.audiences, asked))
        return f"token audiences [{given}] is invalid for the target audiences [{wanted}]"
    if not user.account:
        return ""
    namespace, name, uid = user.account
    found = cluster.get("serviceaccounts", name, namespace)
    if found is None:
        return f"serviceaccounts {json.dumps(name)} not found"
    current = found["metadata"]["uid"]
    return "" if current == uid else f"service account UID ({current}) does not match claim ({uid})"


def identified(cluster, tokens, headers, certificate):
    """The user of a request: by bearer token, then by client certificate."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        try:
            return logged_in(cluster, tokens, token.strip())[0]
        except Unknown:
            raise refused.Refused(401, "Unauthorized") from None
    if scheme:
        raise refused.Refused(401, "Unauthorized")
    if certificate:
        names = [pair for row in certificate.get("subject", ()) for pair in row]
        groups = tuple(value for key, value in names if key == "organizationName")
        name = next((value for key, value in names if key == "commonName"), "")
        return User(name, (*groups, AUTHENTICATED))
    return ANONYMOUS


def impersonated(cluster, user, headers):
    """The user that a request names in its headers, where a role allows it; otherwise the user itself."""
    name, every = headers.get("Impersonate-User"), getattr(headers, "get_all", None)
    groups = every("Impersonate-Group", []) if every else [one for one in [headers.get("Impersonate-Group")] if one]
    if not name:
        if groups:
            raise refused.internal(ValueError(f"requested {groups} without impersonating a user"))
        return user
    for group in groups:
        _check(cluster, user, "impersonate", "", "groups", group, "", "")
    parts = name.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        _check(cluster, user, "impersonate", "", "serviceaccounts", parts[3], parts[2], "")
        groups = groups or ["system:serviceaccounts", f"system:serviceaccounts:{parts[2]}"]
    else:
        _check(cluster, user, "impersonate", "", "users", name, "", "")
    found = {ANONYMOUS.name: ANONYMOUS.groups}.get(name, (AUTHENTICATED,))
    return User(name, tuple(dict.fromkeys((*groups, *found))))


def allowed(cluster, user, verb, group, resource, name="", namespace=""):
    """Whether a role that is bound to the user allows a request for a resource; a subresource is part of its name."""
    if ADMINISTRATORS in user.groups:
        return True
    if verb == "create" and (group, resource) in _OF_EVERYONE and AUTHENTICATED in user.groups:
        return True
    for rule in _rules(cluster, user, namespace):
        groups, resources, verbs = (rule.get(key) or () for key in ("apiGroups", "resources", "verbs"))
        names = rule.get("resourceNames")
        if (
            (group in groups or "*" in groups)
            and (resource in resources or "*" in resources)
            and (verb in verbs or "*" in verbs)
            and (not names or name in names)
        ):
            return True
    return False


def allowed_path(cluster, user, verb, path):
    """Whether a role that is bound to the user allows a request for a path outside the resources."""
    if ADMINISTRATORS in user.groups:
        return True
    if verb in ("get", "head") and AUTHENTICATED in user.groups and _covers(_PATHS, path):
        return True
    rules = [one for one in _rules(cluster, user, "") if {verb, "*"} & set(one.get("verbs") or ())]
    return any(_covers(one.get("nonResourceURLs") or (), path) for one in rules)


def _covers(patterns, path):
    return any(path == one or (one.endswith("*") and path.startswith(one[:-1])) for one in patterns)


def review(cluster, user, resource, other):
    """The status of a SelfSubjectAccessReview."""
    if other is not None:
        return {"allowed": allowed_path(cluster, user, other.get("verb", ""), other.get("path", ""))}
    given = [resource.get(key, "") for key in ("verb", "group", "resource", "name", "namespace")]
    if resource.get("subresource"):
        given[2] += f"/{resource['subresource']}"
    return {"allowed": allowed(cluster, user, *given)}


def rules(cluster, user, namespace):
    """The rules of a user in a namespace, with those of everyone."""
    own = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]}]
    if AUTHENTICATED in user.groups:
        groups = {group: [name for one, name in _OF_EVERYONE if one == group] for group, _name in _OF_EVERYONE}
        everyone = [{"verbs": ["create"], "apiGroups": [one], "resources": names} for one, names in groups.items()]
        everyone.append({"verbs": ["get"], "nonResourceURLs": list(_PATHS)})
    else:
        everyone = []
    return [*(own if ADMINISTRATORS in user.groups else ()), *_rules(cluster, user, namespace), *everyone]


def _rules(cluster, user, namespace):
    bindings = [(one, "") for one in cluster.list("clusterrolebindings")]
    if namespace:
        bindings += [(one, namespace) for one in cluster.list("rolebindings", namespace)]
    for binding, where in bindings:
        if not any(_is_subject(one, user) for one in binding.get("subjects") or ()):
            continue
        reference = binding["roleRef"]
        if reference["kind"] == "ClusterRole":
            role = cluster.get("clusterroles", reference["name"])
        else:
            role = cluster.get("roles", reference["name"], where)
        yield from (role or {}).get("rules") or ()


def _is_subject(subject, user):
    if subject["kind"] == "ServiceAccount":
        return user.name == f"system:serviceaccount:{subject.get('namespace', '')}:{subject['name']}"
    return subject["name"] in user.groups if subject["kind"] == "Group" else subject["name"] == user.name


def check(cluster, user, verb, kind, name, namespace, subresource=""):
    """Reject a request that no role allows, in the words of RBAC."""
    if kind.key == ("", "namespaces"):
        namespace = name  # the roles in a namespace also cover the namespace itself
    _check(cluster, user, verb, kind.group, kind.plural, name, namespace, subresource)


def _check(cluster, user, verb, group, plural, name, namespace, subresource):
    resource = f"{plural}/{subresource}" if subresource else plural
    if allowed(cluster, user, verb, group, resource, name, namespace):
        return
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    text = f'User "{user.name}" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    full = f"{plural}.{group}" if group else plural
    details = {key: value for key, value in (("name", name), ("group", group), ("kind", plural)) if value}
    shown = f"{full} {json.dumps(name)}" if name else full
    raise refused.Refused(403, f"{shown} is forbidden: {text}", details=details)


def verb_of(method, name, watched=False):
    """The verb of a request for a resource; empty for a method without one."""
    if method in ("GET", "HEAD"):
        return "get" if name else "watch" if watched else "list"
    verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete" if name else "deletecollection"}
    return verbs.get(method, "")


def split(path):
    """(group, version, namespace, rest) of a path of the API, where `rest` starts with the resource; or None."""
    if path[:1] == ["api"] and len(path) > 2:
        group, version, rest = "", path[1], path[2:]
    elif path[:1] == ["apis"] and len(path) > 3:
        group, version, rest = path[1], path[2], path[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    return group, version, namespace, rest


def no_resource(cluster, user, method, path, watched):
    """The answer to a path that is not served. The roles decide first."""
    found = split(path)
    if found is None:
        full, verb = f"/{'/'.join(path)}", method.lower()
        if not allowed_path(cluster, user, verb, full):
            raise refused.Refused(403, f'forbidden: User "{user.name}" cannot {verb} path "{full}"', details={})
    else:
        group, _version, namespace, rest = found
        watched = watched or rest[0] == "watch"
        rest = rest[1:] if rest[0] == "watch" and len(rest) > 1 else rest
        name, subresource = (*rest[1:3], "", "")[:2]
        namespace = name if rest[0] == "namespaces" else namespace
        verb = verb_of(method, name, watched)
        _check(cluster, user, verb, group, rest[0], name, namespace, subresource)
    own = {kind.group for kind in cluster.kinds.values() if not kind.custom}
    group = path[1] if path[:1] == ["apis"] and len(path) > 1 else "" if path[:1] == ["api"] else None
    return refused.no_resource() if group in own else refused.no_page()
