"""The user of a request, and the rights of this user by RBAC."""

from __future__ import annotations

import dataclasses
import datetime

from . import refused

ADMINISTRATORS, AUTHENTICATED = "system:masters", "system:authenticated"
# What the role system:basic-user allows.
_OF_EVERYONE = ("selfsubjectaccessreviews", "selfsubjectreviews")


@dataclasses.dataclass(frozen=True)
class User:
    """A user with groups."""

    name: str
    groups: tuple = ()
    until: datetime.datetime | None = None  # the end of the login


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


def identified(tokens, headers, certificate):
    """The user of a request: by bearer token, then by client certificate."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        user = tokens.get(token.strip())
        if user is None or (user.until and user.until < datetime.datetime.now(datetime.timezone.utc)):
            raise refused.Refused(401, "Unauthorized")
        return user
    if scheme:
        raise refused.Refused(401, "Unauthorized")
    if certificate:
        names = [pair for row in certificate.get("subject", ()) for pair in row]
        groups = tuple(value for key, value in names if key == "organizationName")
        name = next((value for key, value in names if key == "commonName"), "")
        return User(name, (*groups, AUTHENTICATED))
    return ANONYMOUS


def allowed(cluster, user, verb, kind, name, namespace, subresource=""):
    """Whether a role that is bound to the user allows the request."""
    if ADMINISTRATORS in user.groups or (kind.plural in _OF_EVERYONE and AUTHENTICATED in user.groups):
        return True
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    return _permitted(cluster, user, verb, kind.group, resource, name, namespace)


def _permitted(cluster, user, verb, group, resource, name, namespace):
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


def review(cluster, user, resource, other):
    """The status of a SelfSubjectAccessReview."""
    if ADMINISTRATORS in user.groups:
        return {"allowed": True}
    verb = (other or resource).get("verb", "")
    if other:
        rules = [one for one in _rules(cluster, user, "") if verb in one["verbs"] or "*" in one["verbs"]]
        paths = {path for rule in rules for path in rule.get("nonResourceURLs") or ()}
        return {"allowed": bool(paths & {other.get("path"), "*"})}
    given = [resource.get(key, "") for key in ("group", "resource", "name", "namespace")]
    if resource.get("subresource"):
        given[1] += f"/{resource['subresource']}"
    return {"allowed": _permitted(cluster, user, verb, *given)}


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
    if allowed(cluster, user, verb, kind, name, namespace, subresource):
        return
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    text = f'User "{user.name}" cannot {verb} resource "{resource}" in API group "{kind.group}" {where}'
    if name:
        raise refused.forbidden(kind, name, text)
    raise unnamed(kind.group, kind.plural, text)


def unnamed(group, plural, text):
    resource = f"{plural}.{group}" if group else plural
    details = {"kind": plural, "group": group} if group else {"kind": plural}
    return refused.Refused(403, f"{resource} is forbidden: {text}", details=details)


def no_resource(user, method, path):
    """The answer to a path that is not served: the roles decide first, and no role names such a path."""
    if ADMINISTRATORS in user.groups:
        served = path[:1] in (["api"], ["apis"]) and len(path) > 3 - (path[0] == "api")
        return refused.no_resource() if served else refused.no_page()
    if path[:1] == ["apis"] and len(path) > 3:
        verb = "list" if method == "GET" else "create"
        text = f'User "{user.name}" cannot {verb} resource "{path[3]}" in API group "{path[1]}" at the cluster scope'
        return unnamed(path[1], path[3], text)
    text = f'forbidden: User "{user.name}" cannot {method.lower()} path "/{"/".join(path)}"'
    return refused.Refused(403, text, details={})
