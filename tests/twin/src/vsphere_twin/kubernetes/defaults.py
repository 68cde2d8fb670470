"""Defaults and checks of core kinds that no schema expresses."""

from __future__ import annotations

import base64
import copy
import json

from . import content

_RBAC = "rbac.authorization.k8s.io"
_OF_ADMISSION = ("preemptionPolicy", "priority", "serviceAccountName", "tolerations")


def fill(kind, obj):
    """Fill in what the API server adds to a core kind."""
    filler = _FILLERS.get(kind.kind)
    if filler:
        filler(obj)


def sent(obj):
    """The parts of a new object of a core kind that its manager owns: the server fills in the others later."""
    names = ("status", "spec") if obj["kind"] == "Namespace" else ("status",)
    kept = {key: value for key, value in obj.items() if key not in names}
    if obj["kind"] == "Pod":
        kept["spec"] = {key: value for key, value in obj["spec"].items() if key not in _OF_ADMISSION}
    return kept


def _secret(obj):
    for key, value in (obj.pop("stringData", None) or {}).items():
        obj.setdefault("data", {})[key] = base64.b64encode(value.encode()).decode()


def _namespace(obj):
    name = obj["metadata"]["name"]
    obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    obj.setdefault("status", {}).setdefault("phase", "Active")


def _node(obj):
    obj.setdefault("spec", {})
    obj.setdefault("status", {})


def _pod(obj):
    pod_spec(obj.setdefault("spec", {}))
    obj["spec"].setdefault("serviceAccountName", "default")
    obj["spec"].setdefault("enableServiceLinks", True)
    obj["spec"].setdefault("priority", 0)
    obj["spec"].setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerations = obj["spec"].setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(one.get("key") == key for one in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    obj.setdefault("status", {}).setdefault("phase", "Pending")
    obj["status"].setdefault("qosClass", "BestEffort")


def pod_spec(spec, restart="Always"):
    """The defaults of a pod's spec, in a pod and in templates of core kinds."""
    if restart:
        spec.setdefault("restartPolicy", restart)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("securityContext", {})
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        tag = container.get("image", "").rpartition("/")[2].partition(":")[2]
        container.setdefault("imagePullPolicy", "Always" if tag in ("", "latest") else "IfNotPresent")
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        resources = container.setdefault("resources", {})
        for name, amount in resources.get("limits", {}).items():
            resources.setdefault("requests", {}).setdefault(name, amount)
        for one in container.get("env", ()):
            reference = one.get("valueFrom", {}).get("fieldRef")
            if reference:
                reference.setdefault("apiVersion", "v1")
    for volume in spec.get("volumes", ()):
        for name in ("secret", "configMap", "projected"):
            if name in volume:
                volume[name].setdefault("defaultMode", 420)


def _template(restart):
    def fill_template(obj):
        template = obj.setdefault("spec", {}).setdefault("template", {})
        if "spec" in template:
            template.setdefault("metadata", {})
            pod_spec(template["spec"], restart)

    return fill_template


def _deployment(obj):
    _template("Always")(obj)
    rolling = {"maxUnavailable": "25%", "maxSurge": "25%"}
    obj["spec"].setdefault("strategy", {"type": "RollingUpdate", "rollingUpdate": rolling})


def _daemon_set(obj):
    _template("Always")(obj)
    rolling = {"maxUnavailable": 1, "maxSurge": 0}
    obj["spec"].setdefault("updateStrategy", {"type": "RollingUpdate", "rollingUpdate": rolling})


def _service(obj):
    spec = obj.setdefault("spec", {})
    if spec.get("type") != "ExternalName":
        spec.setdefault("clusterIP", "10.96.0.10")
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports", ()):
        port.setdefault("targetPort", port.get("port", 0))
    obj.setdefault("status", {}).setdefault("loadBalancer", {})


def _definition(obj):
    names = obj.setdefault("spec", {}).setdefault("names", {})
    if names.get("kind"):
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")


def _binding(obj):
    obj.setdefault("roleRef", {}).setdefault("apiGroup", _RBAC)


_FILLERS = {
    "CustomResourceDefinition": _definition,
    "ClusterRoleBinding": _binding,
    "RoleBinding": _binding,
    "Secret": _secret,
    "Namespace": _namespace,
    "Node": _node,
    "Pod": _pod,
    "Service": _service,
    "Job": _template(""),
    "Deployment": _deployment,
    "DaemonSet": _daemon_set,
}


def problems(kind, new, old):
    """(reason, field, text) of the violations of a core kind."""
    checker = _CHECKERS.get(kind.kind) if not kind.custom else None
    return checker(new, old) if checker else []


def _check_pod(new, old):
    found = _check_containers(new["spec"], "spec")
    if old and _fixed(new["spec"]) != _fixed(old["spec"]):
        text = (
            "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
            "negative)"
        )
        found.append(("FieldValueForbidden", "spec", text))
    return found


def _fixed(spec):
    spec = copy.deepcopy(spec)
    for name in (
        "activeDeadlineSeconds",
        "tolerations",
        "terminationGracePeriodSeconds",
        "nodeName",
        "schedulingGates",
    ):
        spec.pop(name, None)
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        container.pop("image", None)
    return spec


def _check_containers(spec, path):
    if not spec.get("containers"):
        return [("FieldValueRequired", f"{path}.containers", "Required value")]
    found = []
    for at, volume in enumerate(spec.get("volumes", ())):
        for kind, name in (("secret", "secretName"), ("configMap", "name")):
            if kind in volume and not volume[kind].get(name):
                found.append(("FieldValueRequired", f"{path}.volumes[{at}].{kind}.{name}", "Required value"))
    for at, container in enumerate(spec["containers"]):
        where = f"{path}.containers[{at}]"
        if not container.get("image"):
            found.append(("FieldValueRequired", f"{where}.image", "Required value"))
        limits = container.get("resources", {}).get("limits", {})
        for name, amount in container.get("resources", {}).get("requests", {}).items():
            if "/" in name and str(limits.get(name)) != str(amount):
                text = f'Invalid value: "{amount}": must be equal to {name} limit of {limits.get(name, 0)}'
                text = text if name in limits else "Required value: Limit must be set for non overcommitable resources"
                reason = "FieldValueInvalid" if name in limits else "FieldValueRequired"
                field = f"{where}.resources.requests" if name in limits else f"{where}.resources.limits"
                found.append((reason, field, text))
    return found


def _check_template(new, old):
    spec, kind = new["spec"], new["kind"]
    template, found = spec["template"], []
    if kind != "Job":
        found = _check_selector(spec.get("selector"), (template.get("metadata") or {}).get("labels"))
    found += _check_containers(template.get("spec", {}), "spec.template.spec")
    if old and kind != "Job" and spec.get("selector") != old["spec"].get("selector"):
        found.append(("FieldValueInvalid", "spec.selector", "Invalid value: field is immutable"))
    return found


def _check_selector(selector, labels):
    wanted = (selector or {}).get("matchLabels", {})
    if selector is not None and all((labels or {}).get(key) == value for key, value in wanted.items()):
        return []
    shown = json.dumps(labels, sort_keys=True, separators=(",", ":"))
    text = f"Invalid value: {shown}: `selector` does not match template `labels`"
    return [("FieldValueInvalid", "spec.template.metadata.labels", text)]


def _check_job(new, old):
    found = _check_template(new, old)
    restart = new["spec"]["template"].get("spec", {}).get("restartPolicy")
    if not restart:
        text = 'Required value: valid values: "OnFailure", "Never"'
        found.append(("FieldValueRequired", "spec.template.spec.restartPolicy", text))
    if restart == "Always":
        text = 'Unsupported value: "Always": supported values: "OnFailure", "Never"'
        found.append(("FieldValueNotSupported", "spec.template.spec.restartPolicy", text))
    if old and new["spec"]["template"] != old["spec"]["template"] and not old["spec"].get("suspend"):
        found.append(("FieldValueInvalid", "spec.template", "Invalid value: field is immutable"))
    return found


_CHECKERS = {
    "ClusterRole": content.role,
    "ClusterRoleBinding": content.binding,
    "ConfigMap": content.config_map,
    "CustomResourceDefinition": content.definition,
    "Role": content.role,
    "RoleBinding": content.binding,
    "Secret": content.secret,
    "Service": content.service,
    "Pod": _check_pod,
    "Deployment": _check_template,
    "DaemonSet": _check_template,
    "Job": _check_job,
}
