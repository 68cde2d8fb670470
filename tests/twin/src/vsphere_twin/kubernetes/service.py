"""The requests of an API server: paths, verbs, bodies and answers."""

from __future__ import annotations

import copy
import json
import logging
import time
import urllib.parse

import yaml

from ..https import basic_credentials
from . import (
    access,
    bodies,
    discovery,
    fields,
    lists,
    options,
    patches,
    refused,
    reviews,
    selectors,
    subresources,
    tables,
    unmarshal,
)
from .conversion import convert
from .refused import Refused
from .requests import Answer, Request

ADMIN_TOKEN = "twin-admin-token"
_PATCHES = (patches.JSON, patches.MERGE, patches.STRATEGIC, patches.APPLY)
_BOOKMARK_S = 60
_CHECKS = (["ping"], ["log"], ["etcd"])
_IMMORTAL = ("default", "kube-public", "kube-system")  # namespaces
_MAX_BODY = 3 * 2**20  # bytes
_TYPES = ("application/json", "application/yaml")  # of answers
LOG = logging.getLogger(__name__)


class Service:
    """One API server."""

    def __init__(self, cluster, tick=lambda: False):
        self.cluster = cluster
        self.tick = tick  # one step of the operators; returns whether anything changed
        self.tokens = {ADMIN_TOKEN: access.User("admin", (access.ADMINISTRATORS, "system:authenticated"))}
        self.refusals = []  # called with (method, path) before a request; they raise Refused
        self.closed = False
        self.logins = None  # {user: password} of a Supervisor

    def handle(self, method, target, headers, body=b"", certificate=None):
        """Answer one request."""
        parts = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        path = [urllib.parse.unquote(one) for one in parts.path.split("/") if one]
        try:
            for refuse in self.refusals:
                refuse(method, parts.path)
            if path == ["wcp", "login"] and self.logins is not None:
                return self._login(method, headers)
            with self.cluster.lock:
                user = access.identified(self.cluster, self.tokens, headers, certificate)
                user = access.impersonated(self.cluster, user, headers)
                self.tick()
                return self._answer(method, path, query, headers, body, user)
        except Refused as error:
            return _refused(error)
        except Exception as error:  # a client must get an answer
            LOG.exception("%s %s failed.", method, target)
            return _refused(refused.internal(error))

    def _answer(self, method, path, query, headers, body, user):
        general = self._general(method, path, query, headers)
        if general is not None:
            return general
        if len(body) > _MAX_BODY:
            raise Refused(413, f"Request entity too large: limit is {_MAX_BODY}")
        request = self._request(method, path, query, headers, body, user)
        answer = self._of_resource(request)
        if isinstance(answer.body, dict) and method in ("GET", "HEAD"):
            answer.body = tables.shown(headers, query, answer.body)
        if request.kind.deprecated:
            text = f"{request.kind.api_version} {request.kind.kind} is deprecated"
            newer = request.kind.group and request.kind.storage != request.kind.version
            text += f"; use {request.kind.group}/{request.kind.storage} {request.kind.kind}" if newer else ""
            request.warnings.append(text)
        if headers.get("Accept", "").partition(",")[0].strip() == _TYPES[1] and isinstance(answer.body, dict):
            answer.body, answer.content_type = yaml.safe_dump(answer.body).encode(), _TYPES[1]
        if request.warnings:
            answer.headers["Warning"] = ", ".join(f"299 - {json.dumps(text)}" for text in request.warnings)
        return answer

    def _login(self, method, headers):
        """The login of a Supervisor: a token for a user of vCenter."""
        if method != "POST":
            raise refused.no_method()
        user, password = basic_credentials(headers)
        if user not in self.logins or self.logins[user] != password:
            raise Refused(401, "Unauthorized")
        token = f"twin-token-{user}"
        self.tokens[token] = access.User(f"sso:{user}", (access.ADMINISTRATORS, "system:authenticated"))
        return Answer(200, {"session_id": token})

    def _general(self, method, path, query, headers):
        """Health, version and discovery; None for a resource."""
        cluster = self.cluster
        if path[:1] in (["healthz"], ["livez"], ["readyz"]) and (len(path) == 1 or path[1:] in _CHECKS):
            text = "ok"
            if "verbose" in query and len(path) == 1:
                text = "".join(f"[+]{one} ok\n" for (one,) in _CHECKS) + f"{path[0]} check passed\n"
            return Answer(200, text.encode(), content_type="text/plain; charset=utf-8")
        if path in (["api"], ["apis"]) and discovery.AGGREGATED in headers.get("Accept", "").replace(" ", ""):
            found = discovery.aggregated(cluster, path == ["api"])
            return Answer(200, found, content_type=discovery.AGGREGATED)
        answers = {
            (): lambda: discovery.paths(cluster),
            ("version",): lambda: discovery.versions(cluster),
            ("api",): lambda: discovery.api(cluster),
            ("apis",): lambda: discovery.groups(cluster),
            ("api", "v1"): lambda: discovery.resources(cluster, "", "v1"),
        }
        found = None
        if tuple(path) in answers:
            found = answers[tuple(path)]()
        elif path[:1] == ["apis"] and len(path) == 2:
            found = discovery.group(cluster, path[1])
        elif path[:1] == ["apis"] and len(path) == 3:
            found = discovery.resources(cluster, path[1], path[2])
        elif path == ["openapi", "v2"]:
            found = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": cluster.version}, "paths": {}}
        elif path[:2] == ["openapi", "v3"]:
            found = discovery.openapi(cluster, path[2:])
        if found is None:
            return None
        if method not in ("GET", "HEAD"):
            raise refused.no_method()
        return Answer(200, found)

    def _request(self, method, path, query, headers, body, user):
        watched = "watch" in query and query["watch"].casefold() not in ("false", "0")
        found = access.split(path)
        if found is None:
            raise access.no_resource(self.cluster, user, method, path, watched)
        group, version, namespace, rest = found
        kind = self.cluster.kinds.get((group, version, rest[0]))
        if kind is None or (namespace and not kind.namespaced) or len(rest) > 3:
            raise access.no_resource(self.cluster, user, method, path, watched)
        name, subresource = (*rest[1:], "", "")[:2]
        if subresource and subresource not in kind.subresources:
            raise refused.no_resource()
        if name and kind.namespaced and not namespace:
            raise refused.no_resource()
        return Request(method, kind, namespace, name, subresource, query, headers, body, user)

    def _of_resource(self, request):
        verb = access.verb_of(request.method, request.name, request.flag("watch"))
        if not verb:
            raise refused.no_method()
        accepted = [one.partition(";")[0].strip() for one in request.headers.get("Accept", "").split(",")]
        if any(accepted) and not {"*/*", "application/*", *_TYPES} & set(accepted):
            text = f"only the following media types are accepted: {', '.join(_TYPES)}"
            raise Refused(406, text)
        access.check(
            self.cluster, request.user, verb, request.kind, request.name, request.namespace, request.subresource
        )
        unnamed = verb in ("update", "patch") and not request.name
        new = verb == "create" and request.name and not request.subresource
        if unnamed or new or verb not in request.kind.verbs_of(request.subresource):
            raise refused.no_method()
        options.check(request, verb)
        if request.subresource == "token":
            return reviews.token(self, request, subresources.found(self.cluster, request))
        if request.kind.key in reviews.ANSWERS:
            obj = bodies.decoded(request, request.parsed())
            return Answer(201, reviews.ANSWERS[request.kind.key](self, request, obj))
        if request.subresource in subresources.SERVED:
            return subresources.SERVED[request.subresource](self.cluster, request)
        return getattr(self, f"_{verb}")(request)

    def _shown(self, request, obj):
        return convert(request.kind.key, obj, request.kind.version)

    # Reading

    def _get(self, request):
        return Answer(200, self._shown(request, subresources.found(self.cluster, request)))

    def _selected(self, request):
        labels = selectors.by_labels(request.query.get("labelSelector", ""))
        field = selectors.by_fields(request.query.get("fieldSelector", ""), request.kind)
        namespace = request.namespace

        def fits(obj):
            metadata = obj["metadata"]
            if namespace and metadata.get("namespace") != namespace:
                return False
            return labels(metadata.get("labels") or {}) and field(obj)

        return fits

    def _list(self, request):
        fits, kind = self._selected(request), request.kind
        items = [obj for obj in self.cluster.list(kind, request.namespace or None) if fits(obj)]
        metadata = {"resourceVersion": str(self.cluster.revision)}
        given = request.query.get("resourceVersion", "")
        if request.query.get("continue"):
            if given not in ("", "0"):
                raise Refused(400, "specifying resource version is not allowed when using continue")
            after, metadata["resourceVersion"] = lists.place_after(request.query["continue"])
            items = [obj for obj in items if lists.place(obj) > after]
        elif given:
            lists.check_version(self.cluster, kind, request.query)
        limit = options.number(request, "limit")
        if 0 < limit < len(items):
            metadata["continue"] = lists.continuation(items[limit - 1], metadata["resourceVersion"])
            if not (request.query.get("labelSelector") or request.query.get("fieldSelector")):
                metadata["remainingItemCount"] = len(items) - limit
            items = items[:limit]
        rows = [self._shown(request, obj) for obj in items]
        return Answer(
            200, {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": rows}
        )

    def _watch(self, request):
        fits, given = self._selected(request), request.query.get("resourceVersion", "")
        cluster, kind = self.cluster, request.kind
        first, initial = [], request.flag("sendInitialEvents")
        if given in ("", "0") or initial:
            since = cluster.revision
            if initial or "sendInitialEvents" not in request.query:
                first = [("ADDED", obj) for obj in cluster.list(kind, request.namespace or None) if fits(obj)]
        else:
            if problem := lists.invalid_version(given):
                raise Refused(500, f"resourceVersion: {problem}", reason="")
            since = int(given[-20:])
            lists.check_reached(cluster, since)
            if cluster.events and len(cluster.events) == cluster.events.maxlen and since < cluster.events[0][0]:
                raise Refused(410, f"too old resource version: {since} ({cluster.events[0][0]})")
        until = time.monotonic() + (options.number(request, "timeoutSeconds") or 1800)
        bookmarks = request.flag("allowWatchBookmarks")
        return Answer(200, stream=self._events(request, fits, first, since, until, bookmarks))

    def _events(self, request, fits, first, since, until, bookmarks):
        for type_, obj in first:
            yield {"type": type_, "object": self._in_watch(request, obj)}
        if bookmarks and request.flag("sendInitialEvents"):
            yield lists.bookmark(request.kind, since, annotations={"k8s.io/initial-events-end": "true"})
        cluster, kind, next_mark = self.cluster, request.kind, time.monotonic() + _BOOKMARK_S
        while not self.closed:
            with cluster.changed:
                self.tick()
                rows = [row for row in cluster.events if row[0] > since]
                if not rows:
                    cluster.changed.wait(min(0.05, max(0.0, until - time.monotonic())))
                since = rows[-1][0] if rows else since
            for _revision, key, type_, obj, old in rows:
                if key != kind.key:
                    continue
                seen = self._seen(type_, fits(obj), old is not None and fits(old))
                if seen:
                    yield {"type": seen, "object": self._in_watch(request, obj)}
            ended = time.monotonic() >= until
            if bookmarks and (ended or time.monotonic() >= next_mark):
                next_mark = time.monotonic() + _BOOKMARK_S
                yield lists.bookmark(kind, since)
            if ended:
                return

    def _in_watch(self, request, obj):
        return tables.shown(request.headers, request.query, self._shown(request, obj))

    @staticmethod
    def _seen(type_, fits, fitted):
        """The type of an event for a watch with selectors."""
        if type_ == "DELETED":
            return type_ if fitted or fits else ""
        if fits:
            return "MODIFIED" if fitted else "ADDED"
        return "DELETED" if fitted else ""

    # Writing

    def _create(self, request):
        obj = bodies.decoded(request, request.parsed())
        made = self.cluster.added(request.kind, obj, request.manager, dry_run=request.dry_run)
        return Answer(201, self._shown(request, made))

    def _update(self, request):
        obj = bodies.decoded(request, request.parsed())
        old = subresources.found(self.cluster, request)
        if obj["metadata"].get("uid") not in (None, old["metadata"]["uid"]):
            text = f"UID in precondition: {obj['metadata']['uid']}, UID in object meta: {old['metadata']['uid']}"
            raise refused.conflict(request.kind, request.name, f"Precondition failed: {text}")
        if request.kind.custom and not obj["metadata"].get("resourceVersion"):
            row = ("FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
            raise refused.invalid_as(request.kind.plural, request.kind.group, request.name, [row])
        return self._replaced(request, obj, old)

    def _replaced(self, request, obj, old):
        subresource = "status" if request.subresource == "status" else ""
        new = self.cluster.replaced(request.kind, obj, old, request.manager, subresource, dry_run=request.dry_run)
        return Answer(200, self._shown(request, new))

    def _patch(self, request):
        content = request.content_type
        accepted = [one for one in _PATCHES if not (request.kind.custom and one == patches.STRATEGIC)]
        if content not in accepted:
            text = "the body of the request was in an unknown format - accepted media types include: "
            raise Refused(415, text + ", ".join(accepted))
        if content == patches.APPLY:
            return self._apply(request)
        old = subresources.found(self.cluster, request)
        current = copy.deepcopy(self._shown(request, old))
        patch = request.parsed()
        if content == patches.JSON:
            obj = patches.json_patch(current, patch)
        else:
            patches.check(content, patch)
            merged = content == patches.MERGE
            obj = patches.merge(current, patch) if merged else patches.strategic(request.kind.schema, current, patch)
        return self._replaced(request, bodies.decoded(request, obj), old)

    def _apply(self, request):
        """Server-side apply."""
        kind, cluster = request.kind, self.cluster
        given = request.parsed() or {}
        if not isinstance(given, dict):
            text = f"json: cannot unmarshal {unmarshal.named(given)} into Go value of type map[string]interface {{}}"
            raise Refused(400, f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
        own = given.get("metadata") if isinstance(given.get("metadata"), dict) else {}
        if own.get("managedFields") is not None:
            raise Refused(400, "metadata.managedFields must be nil")
        if (given.get("apiVersion"), given.get("kind")) != (kind.api_version, kind.kind):
            api, named = (one if isinstance(one, str) else "" for one in (given.get("apiVersion"), given.get("kind")))
            group, _slash, version = api.rpartition("/")
            raise Refused(400, f"invalid object type: {group}/{version}, Kind={named}")
        # The patch is typed before anything is pruned, so that an unknown field is an error here.
        declared = copy.deepcopy(given)
        if kind.has_status and request.subresource != "status":
            declared.pop("status", None)
            given.pop("status", None)
        try:
            paths = set(fields.leaves(kind.schema, declared, strict=True))
        except fields.Undeclared as error:
            namespace, name = (own.get(key) if isinstance(own.get(key), str) else "" for key in ("namespace", "name"))
            where = f"{namespace}/{name}; {kind.group}/{kind.version}, Kind={kind.kind}"
            # A server answers 500 without a reason here (kubernetes issues 122480 and 139253).
            raise Refused(500, f"failed to create typed patch object ({where}): {error}", reason="") from None
        obj = bodies.decoded(request, given)
        old = cluster.get(kind, request.name, request.namespace)
        if old is None:
            access.check(cluster, request.user, "create", kind, request.name, request.namespace)
            if own.get("uid"):
                text = f"uid mismatch: the provided object specified uid {own['uid']}"
                raise refused.conflict(kind, request.name, f"{text}, and no existing object was found")
            made = cluster.added(kind, obj, request.manager, "Apply", (paths, set()), request.dry_run)
            return Answer(201, self._shown(request, made))
        return self._apply_to(request, obj, old, paths)

    def _apply_to(self, request, obj, old, paths):
        kind = request.kind
        subresource = "status" if request.subresource == "status" else ""
        key = (request.manager, "Apply", kind.api_version, subresource)
        owners = fields.Owners(old["metadata"].get("managedFields"))
        live = self._shown(request, old)
        conflicts = owners.conflicts(key, fields.leaves(kind.schema, live), fields.leaves(kind.schema, obj))
        if conflicts and not request.flag("force"):
            text, causes = fields.conflict_text(conflicts)
            raise Refused(409, text, details={"causes": causes})
        own = [
            row[0]
            for other, row in owners.rows.items()
            if (other[0], other[1], other[3]) == (key[0], "Apply", subresource)
        ]
        dropped = set().union(*own) - paths
        others = set().union(*(row[0] for other, row in owners.rows.items() if other[:2] != key[:2]))
        new = fields.merged(kind.schema, live, obj)
        new = fields.without(kind.schema, copy.deepcopy(new), dropped - others, others | paths)
        taken = {path for _owner, path in conflicts}
        made = self.cluster.replaced(
            kind, new, old, request.manager, subresource, "Apply", (paths, taken), request.dry_run
        )
        return Answer(200, self._shown(request, made))

    def _delete(self, request):
        given = options.deletion(request)
        obj = self._deleted(request, given, subresources.found(self.cluster, request))
        if "deletionTimestamp" in obj["metadata"]:
            return Answer(200, self._shown(request, obj))
        details = {"name": request.name, "group": request.kind.group, "kind": request.kind.plural}
        details["uid"] = obj["metadata"]["uid"]
        details = {key: value for key, value in details.items() if value}
        return Answer(
            200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        )

    def _deletecollection(self, request):
        given = options.deletion(request)
        answer = self._list(request)
        for obj in answer.body["items"]:
            metadata = obj["metadata"]
            old = self.cluster.get(request.kind, metadata["name"], metadata.get("namespace", ""))
            if old is not None:  # an earlier deletion may have removed it
                self._deleted(request, given, old)
        return answer

    def _deleted(self, request, given, old):
        if request.kind.key == ("", "namespaces") and old["metadata"]["name"] in _IMMORTAL:
            raise refused.forbidden(request.kind, old["metadata"]["name"], "this namespace may not be deleted")
        wanted = given.get("preconditions") or {}
        for key, said, end in (
            ("uid", "UID", "deleted and then recreated"),
            ("resourceVersion", "ResourceVersion", "modified"),
        ):
            value = old["metadata"][key]
            if wanted.get(key) not in (None, value):
                text = f"the {said} in the precondition ({wanted[key]}) does not match the {said} in record ({value})"
                text += f". The object might have been {end}"
                raise refused.precondition(request.kind, old["metadata"]["name"], text)
        policy = given.get("propagationPolicy") or "Background"
        return self.cluster.deleted(request.kind, old, policy, bool(given.get("dryRun")))


def _refused(error):
    text = isinstance(error.body, bytes)
    return Answer(error.code, error.body, content_type="text/plain" if text else "application/json")
