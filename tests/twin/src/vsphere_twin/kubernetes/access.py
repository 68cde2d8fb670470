"""The user of a request, and the rights of this user by RBAC."""

from __future__ import annotations

import dataclasses

from . import refused

ADMINISTRATORS = "system:masters"


@dataclasses.dataclass(frozen=True)
class User:
    """A user with groups."""

    name: str
    groups: tuple = ()


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


def identified(tokens, headers, certificate):
    """The user of a request: by bearer token, then by client certificate."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        user = tokens.get(token.strip())
        if user is None:
            raise refused.Refused(401, "Unauthorized")
        return user
    if scheme:
        raise refused.Refused(401, "Unauthorized")
    if certificate:
        names = [pair for row in certificate.get("subject", ()) for pair in row]
        groups = tuple(value for key, value in names if key == "organizationName")
        name = next((value for key, value in names if key == "commonName"), "")
        return User(name, (*groups, "system:authenticated"))
    return ANONYMOUS


def allowed(cluster, user, verb, kind, name, namespace, subresource=""):
    """Whether a role that is bound to the user allows the request."""
    if ADMINISTRATORS in user.groups:
        return True
    for rule in _rules(cluster, user, namespace):
        resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
        groups, resources, verbs = (rule.get(key) or () for key in ("apiGroups", "resources", "verbs"))
        names = rule.get("resourceNames")
        if (
            (kind.group in groups or "*" in groups)
            and (resource in resources or "*" in resources)
            and (verb in verbs or "*" in verbs)
            and (not names or name in names)
        ):
            return True
    return False


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
    if allowed(cluster, user, verb, kind, name, namespace, subresource):
        return
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    text = f'User "{user.name}" cannot {verb} resource "{resource}" in API group "{kind.group}" {where}'
    if name:
        raise refused.forbidden(kind, name, text)
    raise refused.Refused(
        403, f"{kind.resource} is forbidden: {text}", details={"kind": kind.plural, "group": kind.group}
    )
