"""The objects of one cluster: versions, ownership, deletion and the events of watches, without HTTP."""

from __future__ import annotations

import base64
import collections
import copy
import datetime
import json
import random
import threading
import uuid

from . import defaults, fields, kinds, object_meta, refused, schemas
from .conversion import convert

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # the letters of generated names, without vowels
KEPT_EVENTS = 5_000
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
CLUSTER_ADMIN = "cluster-admin"
# Core kinds whose changes of the spec are counted.
_COUNTED = ("CustomResourceDefinition", "DaemonSet", "Deployment", "Job", "Pod", "PriorityClass")


class Cluster:
    """The state behind one API server."""

    def __init__(self, name="kubernetes", version="v1.33.4", crds=None, lock=None):
        self.name, self.version = name, version
        self.lock = lock or threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.revision = 1
        self.objects = {}  # (group, plural): {(namespace, name): object in its stored version}
        self.events = collections.deque(maxlen=KEPT_EVENTS)  # (revision, key, type, object, object before)
        self.kinds = {}  # (group, version, plural): Kind
        self.logs = {}  # (namespace, pod, container): text or a callable that returns it
        self.admission = []  # called with (cluster, kind, new, old) before a write; they change new or raise Refused
        self.pod_security = "privileged"  # the level of namespaces without a label
        self._random = random.Random(name)
        for kind in kinds.core():
            self._serve(kind)
        self._bootstrap(kinds.definitions() if crds is None else {one: kinds.definitions()[one] for one in crds})

    def _bootstrap(self, definitions):
        for name in FIRST_NAMESPACES:
            self.create("namespaces", {"metadata": {"name": name}})
        everything = [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["*"]},
        ]
        reading = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
        for role, rules in ((CLUSTER_ADMIN, everything), ("admin", everything[:1]), ("view", reading)):
            self.create("clusterroles", {"metadata": {"name": role}, "rules": rules})
        subject = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:masters"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": CLUSTER_ADMIN}
        self.create(
            "clusterrolebindings", {"metadata": {"name": CLUSTER_ADMIN}, "subjects": [subject], "roleRef": role}
        )
        for definition in definitions.values():
            self.create("customresourcedefinitions", copy.deepcopy(definition))

    # Kinds

    def _serve(self, kind):
        self.kinds[(kind.group, kind.version, kind.plural)] = kind
        self.objects.setdefault(kind.key, {})

    def install(self, definition):
        """Serve the kinds of a CustomResourceDefinition, and no others of this name."""
        self.withdraw(definition)
        for kind in kinds.of_definition(definition):
            self._serve(kind)

    def withdraw(self, definition):
        """Stop serving the kinds of a CustomResourceDefinition."""
        group, plural = definition["spec"]["group"], definition["spec"]["names"]["plural"]
        for key in [key for key in self.kinds if (key[0], key[2]) == (group, plural)]:
            del self.kinds[key]

    def kind(self, plural, group=None, version=None):
        """The served kind of a plural name; without a version, the stored one."""
        for kind in self.kinds.values():
            same = kind.plural == plural and group in (None, kind.group)
            if same and kind.version == (version or kind.storage):
                return kind
        raise KeyError(f"{plural} is not served.")

    def serves(self, plural):
        return any(kind.plural == plural for kind in self.kinds.values())

    # Reading

    def get(self, plural, name, namespace=""):
        """The stored object, or None. The caller must not change it."""
        found = self.objects.get(self.kind(plural).key if isinstance(plural, str) else plural.key, {})
        return found.get((namespace, name))

    def list(self, plural, namespace=None):
        """Stored objects in the order of their names. The caller must not change them."""
        key = self.kind(plural).key if isinstance(plural, str) else plural.key
        found = sorted(self.objects[key].items())
        return [obj for (where, _name), obj in found if namespace in (None, where)]

    # Writing, for the twin's own operators

    def create(self, plural, obj, namespace="", manager="kubernetes"):
        """Create an object of a controller and return it, with its status."""
        kind = self.kind(plural)
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, **copy.deepcopy(obj)}
        if kind.namespaced:
            obj["metadata"].setdefault("namespace", namespace or "default")
        status = obj.get("status")
        made = self.added(kind, obj, manager)
        if status and kind.has_status:
            made = self.set_status(plural, made, status, manager)
        return made

    def change(self, plural, obj, manager="kubernetes", **changes):
        """Change top-level parts of a stored object, for example `metadata` or `spec`."""
        kind = self.kind(plural)
        return self.replaced(kind, {**copy.deepcopy(obj), **copy.deepcopy(changes)}, obj, manager)

    def set_status(self, plural, obj, status, manager="kubernetes"):
        """Replace the status of a stored object."""
        kind = self.kind(plural)
        current = self.get(plural, obj["metadata"]["name"], obj["metadata"].get("namespace", ""))
        new = {**copy.deepcopy(current), "status": copy.deepcopy(status)}
        return self.replaced(kind, new, current, manager, "status")

    def labelled(self, plural, obj, labels, manager="kubernetes"):
        """Set labels of a stored object; None removes one."""
        metadata = copy.deepcopy(obj["metadata"])
        found = {**metadata.get("labels", {}), **labels}
        metadata["labels"] = {key: value for key, value in found.items() if value is not None}
        return self.change(plural, obj, manager, metadata=metadata)

    def event(self, obj, reason, message, type_="Normal", source="kubernetes"):
        """Record an event about an object; the same event again is counted."""
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "default")
        for one in self.list("events", namespace):
            same = one["involvedObject"].get("uid") == metadata["uid"] and one.get("reason") == reason
            if same and one.get("message") == message:
                return self.repeated(one)
        about = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": metadata["name"], "namespace": namespace}
        event = {
            "metadata": {"name": f"{metadata['name']}.{self._random.getrandbits(64):016x}", "namespace": namespace},
            "involvedObject": {**about, "uid": metadata["uid"]},
            "reason": reason,
            "message": message,
            "type": type_,
            "count": 1,
            "firstTimestamp": now(),
            "lastTimestamp": now(),
            "source": {"component": source},
        }
        return self.create("events", event, namespace, source)

    def repeated(self, event):
        """Count an event once more. Attempts of the same second count once, so that the controllers come to rest."""
        at = now()
        if event.get("lastTimestamp") == at:
            return event
        source = event.get("source", {}).get("component") or "kubernetes"
        return self.change("events", event, source, count=event.get("count", 0) + 1, lastTimestamp=at)

    # Writing, for requests

    def added(self, kind, obj, manager, operation="Update", paths=None, dry_run=False):
        """Store a new object after admission, validation and defaults."""
        obj = self._identified(kind, obj)
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace", "")
        if kind.namespaced:
            self._check_namespace(kind, name, namespace)
        if kind.has_status:
            obj.pop("status", None)
        obj = self._judged(kind, obj, None)
        old = self.objects[kind.key].get((namespace, name))
        if old is not None:
            raise refused.exists(kind, name, "deletionTimestamp" in old["metadata"])
        metadata = obj["metadata"]
        metadata.update(uid=self.uid(), creationTimestamp=now())
        if kind.custom or kind.kind in _COUNTED:
            metadata["generation"] = 1
        owners = fields.Owners(None)
        self._own(owners, kind, None, obj if kind.custom else defaults.sent(obj), manager, operation, paths, "")
        fields.write(metadata, owners)
        return self._stored(kind, obj, None, dry_run)

    def replaced(self, kind, obj, old, manager, subresource="", operation="Update", paths=None, dry_run=False):
        """Store another state of an object; without a difference nothing happens."""
        name = obj["metadata"]["name"]
        given = obj["metadata"].get("resourceVersion")
        if given and given != old["metadata"]["resourceVersion"]:
            raise refused.modified(kind, name)
        self._keep_parts(kind, obj, old, subresource)
        obj = self._judged(kind, obj, old)
        metadata = obj["metadata"]
        for key in ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"):
            if key in old["metadata"]:
                metadata[key] = old["metadata"][key]
        if _parts(obj) != _parts(old) and "generation" in metadata:
            metadata["generation"] += 1
        owners = fields.Owners(old["metadata"].get("managedFields"))
        self._own(owners, kind, old, obj, manager, operation, paths, subresource)
        fields.write(metadata, owners)
        metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
        if _timeless(obj) == _timeless(old):
            return old
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            return self._gone(kind, obj, dry_run)
        return self._stored(kind, obj, old, dry_run)

    def deleted(self, kind, old, policy="Background", dry_run=False):
        """Delete an object, or mark it where a finalizer holds it; return the object."""
        obj = copy.deepcopy(old)
        metadata = obj["metadata"]
        finalizers = [one for one in metadata.get("finalizers", []) if one not in ("foregroundDeletion", "orphan")]
        if policy == "Orphan":
            self._orphan(kind, old, dry_run)
        elif policy == "Foreground" and self.dependents(old):
            finalizers.append("foregroundDeletion")
        waits = kind.key in (("", "namespaces"),) or (kind.key == ("", "pods") and obj["spec"].get("nodeName"))
        if not finalizers and not waits:
            return self._gone(kind, obj, dry_run)
        if finalizers:
            metadata["finalizers"] = finalizers
        if "deletionTimestamp" in metadata and finalizers == old["metadata"].get("finalizers", []):
            return old
        metadata.setdefault("deletionTimestamp", now())
        metadata.setdefault("deletionGracePeriodSeconds", 30 if kind.plural == "pods" else 0)
        if kind.key == ("", "namespaces"):
            obj["status"] = {**obj.get("status", {}), "phase": "Terminating"}
        if "generation" in metadata:
            metadata["generation"] += 1
        return self._stored(kind, obj, old, dry_run)

    def remove(self, plural, obj):
        """Remove an object at once, as a kubelet or the namespace controller does at the end."""
        return self._gone(self.kind(plural), copy.deepcopy(obj), False)

    def dependents(self, owner):
        """(kind, object) rows of the objects that an object owns."""
        uid, rows = owner["metadata"]["uid"], []
        for kind in {one.key: one for one in self.kinds.values() if one.version == one.storage}.values():
            for obj in self.objects[kind.key].values():
                if any(one["uid"] == uid for one in obj["metadata"].get("ownerReferences", ())):
                    rows.append((kind, obj))
        return rows

    def uid(self):
        """The identity of another object."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _orphan(self, kind, owner, dry_run):
        for kind_of, obj in self.dependents(owner):
            metadata = copy.deepcopy(obj["metadata"])
            metadata["ownerReferences"] = [
                one for one in metadata["ownerReferences"] if one["uid"] != owner["metadata"]["uid"]
            ]
            self.replaced(
                kind_of, {**copy.deepcopy(obj), "metadata": metadata}, obj, "garbage-collector", dry_run=dry_run
            )

    def _identified(self, kind, obj):
        obj = copy.deepcopy(obj)
        metadata = obj.setdefault("metadata", {})
        if not metadata.get("name"):
            if not metadata.get("generateName"):
                text = "Required value: name or generateName is required"
                raise refused.invalid(kind, "", [("FieldValueRequired", "metadata.name", text)])
            suffix = "".join(self._random.choice(_SUFFIX) for _ in range(5))
            metadata["name"] = metadata["generateName"] + suffix
        if metadata.pop("resourceVersion", None):
            raise refused.Refused(400, "resourceVersion should not be set on objects to be created")
        for key in ("uid", "creationTimestamp", "generation", "managedFields", "selfLink", "deletionTimestamp"):
            metadata.pop(key, None)
        return obj

    def _check_namespace(self, kind, name, namespace):
        found = self.objects[("", "namespaces")].get(("", namespace))
        if found is None:
            raise refused.not_found(self.kinds[("", "v1", "namespaces")], namespace)
        if found["metadata"].get("deletionTimestamp"):
            text = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise refused.forbidden(kind, name, text)

    def _keep_parts(self, kind, obj, old, subresource):
        """A write of the object keeps its status, and a write of the status keeps all else."""
        if subresource == "status":
            for key in set(obj) | set(old):
                if key not in ("status", "metadata", "apiVersion", "kind"):
                    obj.pop(key, None)
                    if key in old:
                        obj[key] = copy.deepcopy(old[key])
            obj["metadata"] = copy.deepcopy(old["metadata"])
        elif kind.has_status:
            obj.pop("status", None)
            if "status" in old:
                obj["status"] = copy.deepcopy(old["status"])

    def _judged(self, kind, obj, old):
        """Defaults and validation in the request's version, then the stored version."""
        served = convert(kind.key, obj, kind.version) if obj.get("apiVersion") != kind.api_version else obj
        schemas.default(kind.schema, served)
        if not kind.custom:
            schemas.as_quantities(kind.schema, served)
            defaults.fill(kind, served)
        found = object_meta.problems(kind, served["metadata"])
        found += (
            schemas.problems_with_rules(kind.schema, served) if kind.custom else schemas.problems(kind.schema, served)
        )
        if old is not None:
            found += object_meta.changes(served["metadata"], old["metadata"])
            found += _changed_immutables(kind, served, convert(kind.key, old, kind.version))
        found += defaults.problems(kind, served, old)
        if found:
            raise refused.invalid(kind, obj["metadata"]["name"], found)
        for admit in self.admission:
            admit(self, kind, served, old)
        return convert(kind.key, served, kind.storage)

    def _own(self, owners, kind, old, obj, manager, operation, paths, subresource):
        if operation == "Update":
            stored = self.kinds.get((kind.group, kind.storage, kind.plural), kind)
            owners.updated(stored, old, obj, manager, kind.api_version, subresource, now())
            return
        applied, taken = paths
        key, kept = (manager, "Apply", kind.api_version, subresource), None
        for other in list(owners.rows):
            if (other[0], other[1], other[3]) == (manager, "Apply", subresource):
                row = owners.rows.pop(other)
                kept = row[1] if other == key and row[0] == applied else None
            else:
                owners.rows[other][0] -= taken
        same = old is not None and {**obj, "metadata": None} == {**old, "metadata": None}
        owners.rows[key] = [applied, kept if kept and same else now()]

    def _stored(self, kind, obj, old, dry_run):
        if dry_run:
            return obj
        with self.changed:
            self.revision += 1
            obj["metadata"]["resourceVersion"] = str(self.revision)
            metadata = obj["metadata"]
            self.objects[kind.key][(metadata.get("namespace", ""), metadata["name"])] = obj
            self._noted(kind, "MODIFIED" if old else "ADDED", obj, old)
            self._after(kind, obj, old)
            return obj

    def _after(self, kind, obj, old):
        if kind.key == (kinds.CRD_GROUP, "customresourcedefinitions"):
            self.install(obj)
            if old is None:
                names = obj["spec"]["names"]
                rows = [
                    {
                        "type": "NamesAccepted",
                        "status": "True",
                        "reason": "NoConflicts",
                        "message": "no conflicts found",
                    },
                    {"type": "Established", "status": "True", "reason": "InitialNamesAccepted"},
                ]
                rows[1]["message"] = "the initial names have been accepted"
                stored = [one["name"] for one in obj["spec"]["versions"] if one.get("storage")]
                for row in rows:
                    row["lastTransitionTime"] = now()
                obj["status"] = {"conditions": rows, "acceptedNames": names, "storedVersions": stored}
        elif kind.key == ("", "namespaces") and old is None:
            name = obj["metadata"]["name"]
            self.create("serviceaccounts", {"metadata": {"name": "default", "namespace": name}}, name)
            data = {"ca.crt": "-----BEGIN CERTIFICATE-----\n"}
            self.create("configmaps", {"metadata": {"name": "kube-root-ca.crt", "namespace": name}, "data": data}, name)

    def _gone(self, kind, obj, dry_run):
        if not dry_run:
            with self.changed:
                metadata = obj["metadata"]
                self.revision += 1
                metadata["resourceVersion"] = str(self.revision)
                old = self.objects[kind.key].pop((metadata.get("namespace", ""), metadata["name"]), None)
                self._noted(kind, "DELETED", obj, old)
                if kind.key == (kinds.CRD_GROUP, "customresourcedefinitions"):
                    spec = obj["spec"]
                    self.withdraw(obj)
                    self.objects.pop((spec["group"], spec["names"]["plural"]), None)
        return obj

    def _noted(self, kind, type_, obj, old):
        self.events.append((self.revision, kind.key, type_, obj, old))
        self.changed.notify_all()


def now():
    """The time as the API writes it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode(text):
    """A value of a Secret."""
    return base64.b64encode(text.encode()).decode()


def _parts(obj):
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _timeless(obj):
    """The object without times of managedFields, which alone are no change."""
    if not obj:
        return obj
    metadata = dict(obj["metadata"])
    metadata.pop("resourceVersion", None)
    metadata.pop("generation", None)
    metadata["managedFields"] = [
        {key: value for key, value in one.items() if key != "time"} for one in metadata.get("managedFields", ())
    ]
    return {**obj, "metadata": metadata}


def _changed_immutables(kind, new, old):
    """The rules `self == oldSelf` of the schema; other rules of the schema are not evaluated."""
    found = []

    def walk(schema, value, before, path):
        for rule in schema.get("x-kubernetes-validations", ()):
            if rule["rule"].strip() == "self == oldSelf" and value != before:
                text = f"Invalid value: {json.dumps(value)}: {rule.get('message', 'failed rule: self == oldSelf')}"
                found.append(("FieldValueInvalid", path, text))
        if isinstance(value, dict) and isinstance(before, dict):
            for key, inner in schema.get("properties", {}).items():
                if key in value and key in before:
                    walk(inner, value[key], before[key], f"{path}.{key}" if path else key)

    if kind.custom:
        walk(kind.schema, new, old, "")
    return found
