"""Questions that an API server answers and does not store: who am I, may I, and a token for a service account."""

from __future__ import annotations

import base64
import datetime
import json

from . import access, refused
from .requests import Answer

_SHORTEST_S, _USUAL_S = 600, 3600
_ISSUER = "https://kubernetes.default.svc.cluster.local"


def access_review(service, request, obj):
    """SelfSubjectAccessReview: whether the roles of the user allow a request."""
    spec = obj.get("spec") or {}
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if bool(resource) == bool(other):
        text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise refused.invalid(request.kind, "", [("FieldValueInvalid", "spec.resourceAttributes", text)])
    return {**obj, "status": access.review(service.cluster, request.user, resource or {}, other)}


def subject_review(_service, request, obj):
    """SelfSubjectReview: the user of the request."""
    user = {"username": request.user.name, "groups": list(request.user.groups)}
    return {**obj, "status": {"userInfo": user}}


def token_review(service, _request, obj):
    """TokenReview: the user of a token."""
    user = service.tokens.get((obj.get("spec") or {}).get("token", ""))
    if user is None:
        return {**obj, "status": {"user": {}, "error": "invalid bearer token"}}
    found = {"username": user.name, "groups": list(user.groups)}
    return {**obj, "status": {"authenticated": True, "user": found, "audiences": [_ISSUER]}}


ANSWERS = {
    "selfsubjectaccessreviews": access_review,
    "selfsubjectreviews": subject_review,
    "tokenreviews": token_review,
}


def token(service, request, account):
    """TokenRequest: a token of a service account, which logs in until it expires."""
    obj = request.parsed()
    if not isinstance(obj, dict) or obj.get("kind", "TokenRequest") != "TokenRequest":
        raise refused.Refused(400, "the kind in the data does not match the expected kind (TokenRequest)")
    spec = {"audiences": [_ISSUER], "expirationSeconds": _USUAL_S, "boundObjectRef": None, **(obj.get("spec") or {})}
    if spec["expirationSeconds"] < _SHORTEST_S:
        text = f"Invalid value: {spec['expirationSeconds']}: may not specify a duration less than 10 minutes"
        row = ("FieldValueInvalid", "spec.expirationSeconds", text)
        raise refused.invalid_as("TokenRequest", "authentication.k8s.io", "", [row])
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=spec["expirationSeconds"])
    metadata = account["metadata"]
    name = f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}"
    claims = {"sub": name, "iss": _ISSUER, "exp": int(until.timestamp()), "jti": service.cluster.uid()}
    made = ".".join(_part(one) for one in ({"alg": "none"}, claims, {}))
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{metadata['namespace']}", access.AUTHENTICATED)
    service.tokens[made] = access.User(name, groups, until)
    status = {"token": made, "expirationTimestamp": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
    kept = {key: metadata[key] for key in ("name", "namespace")}
    answer = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": kept, "spec": spec}
    return Answer(201, {**answer, "status": status})


def _part(data):
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")
