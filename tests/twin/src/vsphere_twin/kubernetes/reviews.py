"""Questions that an API server answers and does not store: who am I, may I, and a token for a service account."""

from __future__ import annotations

import base64
import datetime
import json

from . import access, refused, unmarshal
from .requests import Answer

_SHORTEST_S, _USUAL_S, _LONGEST_S = 600, 3600, 2**32
_GROUP = "authentication.k8s.io"
_TEXT = {"type": "string"}
_TOKEN_REQUEST = {
    "type": "object",
    "properties": {
        "metadata": {"type": "object", unmarshal.GO: "v1.ObjectMeta"},
        "spec": {
            "type": "object",
            "properties": {
                "audiences": {"type": "array", "items": _TEXT},
                "expirationSeconds": {"type": "integer", unmarshal.GO: "int64"},
                "boundObjectRef": {
                    "type": "object",
                    unmarshal.GO: "v1.BoundObjectReference",
                    "properties": dict.fromkeys(("kind", "apiVersion", "name", "uid"), _TEXT),
                },
            },
        },
    },
}


def access_review(service, request, obj):
    """SelfSubjectAccessReview: whether the roles of the user allow a request."""
    spec = obj.get("spec") or {}
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    row = None
    if resource is None and other is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        row = ("FieldValueInvalid", "spec.resourceAttributes", f"Invalid value: null: {text}")
    elif resource is not None and other is not None:
        shown = json.dumps({"Path": other.get("path", ""), "Verb": other.get("verb", "")}, separators=(",", ":"))
        text = f"Invalid value: {shown}: cannot be specified in combination with resourceAttributes"
        row = ("FieldValueInvalid", "spec.nonResourceAttributes", text)
    if row:
        raise refused.invalid_as("", request.kind.group, "", [row])  # the server leaves the kind out
    return {**obj, "status": access.review(service.cluster, request.user, resource, other)}


def rules_review(service, request, obj):
    """SelfSubjectRulesReview: the rules of the user in a namespace."""
    namespace = (obj.get("spec") or {}).get("namespace")
    if not namespace:
        raise refused.Refused(400, "no namespace on request")
    found = access.rules(service.cluster, request.user, namespace)
    status = {
        "resourceRules": [one for one in found if one.get("resources")],
        "nonResourceRules": [one for one in found if one.get("nonResourceURLs")],
        "incomplete": False,
    }
    return {**obj, "status": status}


def subject_review(_service, request, obj):
    """SelfSubjectReview: the user of the request."""
    return {**obj, "status": {"userInfo": _shown(request.user)}}


def token_review(service, _request, obj):
    """TokenReview: the user of a token."""
    spec = obj.get("spec") or {}
    if not spec.get("token"):
        raise refused.Refused(400, "token is required for TokenReview in authentication")
    try:
        user, audiences = access.logged_in(service.cluster, service.tokens, spec["token"], spec.get("audiences") or ())
    except access.Unknown as error:
        return {**obj, "status": {"user": {}, "error": str(error)}}
    return {**obj, "status": {"authenticated": True, "user": _shown(user), "audiences": audiences}}


def _shown(user):
    uid = {"uid": user.account[2]} if user.account else {}
    return {"username": user.name, **uid, "groups": list(user.groups)}


# By the key of the kind: a custom resource may have the same plural.
ANSWERS = {
    ("authorization.k8s.io", "selfsubjectaccessreviews"): access_review,
    ("authorization.k8s.io", "selfsubjectrulesreviews"): rules_review,
    (_GROUP, "selfsubjectreviews"): subject_review,
    (_GROUP, "tokenreviews"): token_review,
}


def token(service, request, account):
    """TokenRequest: a token of a service account, which logs in until it expires."""
    spec = _requested(request)
    seconds = spec["expirationSeconds"]
    if not _SHORTEST_S <= seconds <= _LONGEST_S:
        text = "less than 10 minutes" if seconds < _SHORTEST_S else "larger than 2^32 seconds"
        text = f"Invalid value: {seconds}: may not specify a duration {text}"
        row = ("FieldValueInvalid", "spec.expirationSeconds", text)
        raise refused.invalid_as("TokenRequest", _GROUP, "", [row])
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    metadata = account["metadata"]
    namespace, audiences = metadata["namespace"], spec["audiences"]
    name = f"system:serviceaccount:{namespace}:{metadata['name']}"
    claims = {"aud": audiences, "exp": int(until.timestamp()), "iss": access.ISSUER, "jti": service.cluster.uid()}
    made = ".".join(_part(one) for one in ({"alg": "none"}, {**claims, "sub": name}, {}))
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", access.AUTHENTICATED)
    if not request.dry_run:
        owner = (namespace, metadata["name"], metadata["uid"])
        service.tokens[made] = access.User(name, groups, until, tuple(audiences), owner)
    status = {"token": made, "expirationTimestamp": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
    kept = {key: metadata[key] for key in ("name", "namespace")}
    answer = {"kind": "TokenRequest", "apiVersion": f"{_GROUP}/v1", "metadata": kept, "spec": spec}
    return Answer(201, {**answer, "status": status})


def _requested(request):
    """The spec of a request for a token. Clients written in Go send null for what they leave out."""
    obj = request.parsed()
    unmarshal.header(obj, request.raw, "TokenRequest")
    obj = obj or {}
    if (obj.get("kind") or "TokenRequest") != "TokenRequest":
        raise refused.Refused(400, "the kind in the data does not match the expected kind (TokenRequest)")
    text = unmarshal.problem(_TOKEN_REQUEST, obj, "TokenRequest")
    if text:
        raise refused.Refused(400, f'TokenRequest in version "v1" cannot be handled as a TokenRequest: {text}')
    given = {key: value for key, value in (obj.get("spec") or {}).items() if value is not None}
    audiences = given.get("audiences") or [access.ISSUER]
    return {"expirationSeconds": _USUAL_S, "boundObjectRef": None, **given, "audiences": audiences}


def _part(data):
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")
