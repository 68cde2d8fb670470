"""The admission of pods by the Pod Security level of their namespace."""

from __future__ import annotations

from ..refused import Refused

_LABEL = "pod-security.kubernetes.io/enforce"
_BASELINE = {
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
    *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
}
_RESTRICTED = {"NET_BIND_SERVICE"}
# Types of volumes that the level restricted admits.
_VOLUMES = ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret")


def admit(cluster, kind, new, old):
    """Reject a new pod that violates the level of its namespace."""
    if kind.key != ("", "pods") or old is not None:
        return
    name = new["metadata"]["namespace"]
    labels = cluster.get("namespaces", name)["metadata"]["labels"]
    # kube-system is exempt [unsure: MEM].
    default = "privileged" if name == "kube-system" else cluster.pod_security
    level = labels.get(_LABEL, default)
    found = [] if level == "privileged" else _violations(new["spec"], level == "restricted")
    if found:
        text = f'violates PodSecurity "{level}:latest": {", ".join(found)}'
        raise Refused(403, f'pods "{new["metadata"]["name"]}" is forbidden: {text}')


def _violations(spec, restricted):
    """The reasons: those of the level baseline, then those that restricted adds."""
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    contexts = {one["name"]: one.get("securityContext") or {} for one in containers}
    on_host = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    paths = [one["name"] for one in spec.get("volumes") or () if "hostPath" in one]
    ports = {one["name"]: _host_ports(one) for one in containers if _host_ports(one)}
    raised = [name for name, context in contexts.items() if context.get("privileged")]
    found = [] if restricted else _capabilities(contexts, _BASELINE)
    found += [f"host namespaces ({', '.join(on_host)})"] if on_host else []
    found += [f"hostPath volumes ({_named('volume', paths)})"] if paths and not restricted else []
    found += [f"hostPort ({_named('container', ports)} uses hostPort {next(iter(ports.values()))})"] if ports else []
    text = f"{_named('container', raised)} must not set securityContext.privileged=true"
    found += [f"privileged ({text})"] if raised else []
    return found + (_of_restricted(spec, contexts) if restricted else [])


def _of_restricted(spec, contexts):
    pod = spec.get("securityContext") or {}
    found = []
    raising = [name for name, one in contexts.items() if one.get("allowPrivilegeEscalation") is not False]
    if raising:
        text = f"{_named('container', raising)} must set securityContext.allowPrivilegeEscalation=false"
        found.append(f"allowPrivilegeEscalation != false ({text})")
    found += _capabilities(contexts, _RESTRICTED, dropped=True)
    for volume in spec.get("volumes") or ():
        kind = next((key for key in volume if key != "name"), "emptyDir")
        if kind not in _VOLUMES:
            text = f'{_named("volume", [volume["name"]])} uses restricted volume type "{kind}"'
            found.append(f"restricted volume types ({text})")
    root = [name for name, one in contexts.items() if one.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True]
    if root:
        text = f"pod or {_named('container', root)} must set securityContext.runAsNonRoot=true"
        found.append(f"runAsNonRoot != true ({text})")
    profiles = {name: one.get("seccompProfile") or pod.get("seccompProfile") or {} for name, one in contexts.items()}
    unconfined = [name for name, one in profiles.items() if one.get("type") not in ("RuntimeDefault", "Localhost")]
    if unconfined:
        text = (
            f'pod or {_named("container", unconfined)} must set securityContext.seccompProfile.type to "RuntimeDefault"'
        )
        found.append(f'seccompProfile ({text} or "Localhost")')
    return found


def _capabilities(contexts, allowed, dropped=False):
    given = {name: one.get("capabilities") or {} for name, one in contexts.items()}
    kept = [name for name, one in given.items() if dropped and "ALL" not in (one.get("drop") or ())]
    texts = [f'{_named("container", kept)} must set securityContext.capabilities.drop=["ALL"]'] if kept else []
    added = {name: set(one.get("add") or ()) - allowed for name, one in given.items()}
    adding = [name for name, some in added.items() if some]
    if adding:
        shown = ", ".join(f'"{one}"' for one in sorted(set().union(*added.values())))
        texts.append(f"{_named('container', adding)} must not include {shown} in securityContext.capabilities.add")
    return [f"{'unrestricted' if dropped else 'non-default'} capabilities ({'; '.join(texts)})"] if texts else []


def _host_ports(container):
    return ", ".join(str(one["hostPort"]) for one in container.get("ports") or () if one.get("hostPort"))


def _named(noun, names):
    return f"{noun}{'s' * (len(names) > 1)} " + ", ".join(f'"{name}"' for name in names)
