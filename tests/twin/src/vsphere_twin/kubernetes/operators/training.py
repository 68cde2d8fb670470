"""The operators of MPIJob and TrainJob: what they create, and the conditions of the jobs."""

from __future__ import annotations

import copy
import re

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ..cluster import encode, now
from ..refused import Refused
from .parts import condition, ensured, is_true, owned, owner_of, put_status
from .workloads import add_pod

MPI, TRAINER = "mpi-operator", "trainer"
_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
LABELS = "training.kubeflow.org/"


def mpi_jobs(world):
    """Reconcile each MPIJob that has not ended."""
    cluster = world.cluster
    if not cluster.serves("mpijobs"):
        return
    for job in cluster.list("mpijobs"):
        if "deletionTimestamp" in job["metadata"]:
            continue  # the operator creates no pods for it
        if is_true(job, "Succeeded") or is_true(job, "Failed"):
            _clean(cluster, job)
        else:
            _mpi_job(world, job)


def _faults(job):
    """The checks of the operator; they are no admission."""
    found, replicas = [], job["spec"]["mpiReplicaSpecs"]
    launcher, worker = replicas.get("Launcher"), replicas.get("Worker")
    if not launcher:
        found.append("spec.mpiReplicaSpecs[Launcher]: Required value: must have Launcher replica spec")
    elif launcher.get("replicas", 1) != 1:
        text = f"Invalid value: {launcher['replicas']}: must be 1"
        found.append(f"spec.mpiReplicaSpecs[Launcher].replicas: {text}")
    last = f"{job['metadata']['name']}-worker-{max(0, (worker or {}).get('replicas', 1) - 1)}"
    if not _LABEL.fullmatch(last):
        found.append(
            f'metadata.name: Invalid value: "{job["metadata"]["name"]}": will not able to create pod and service'
        )
    if worker and worker.get("replicas", 1) < 1:
        found.append("spec.mpiReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to 1")
    for name, one in sorted(replicas.items()):
        if name in ("Launcher", "Worker") and not (one.get("template") or {}).get("spec", {}).get("containers"):
            where = f"spec.mpiReplicaSpecs[{name}].template.spec.containers"
            found.append(f"{where}: Required value: must define at least one container")
    return found


def _mpi_job(world, job):
    cluster, metadata = world.cluster, job["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    faults = _faults(job)
    if faults:
        shown = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
        cluster.event(job, "ValidationError", f"Found validation errors: {shown}", "Warning", MPI)
        return
    status = copy.deepcopy(job.get("status") or {})
    rows = status.get("conditions")
    text = f"MPIJob {namespace}/{name} is"
    rows = condition(rows, "Created", "True", "MPIJobCreated", f"{text} created.")
    suspended = (job["spec"].get("runPolicy") or {}).get("suspend")
    if suspended:
        rows = condition(rows, "Suspended", "True", "MPIJobSuspended", "MPIJob suspended")
        for one in owned(cluster, "pods", job):
            cluster.deleted(cluster.kind("pods"), one)
        put_status(cluster, "mpijobs", job, {**status, "conditions": rows}, MPI)
        return
    if is_true(job, "Suspended"):
        rows = condition(rows, "Suspended", "False", "MPIJobResumed", "MPIJob resumed")
    status.setdefault("startTime", now())
    workers = _workers(cluster, job)
    running = [one for one in workers if one["status"].get("phase") == "Running"]
    wanted = job["spec"]["mpiReplicaSpecs"].get("Worker", {}).get("replicas", 0)
    waits = job["spec"].get("launcherCreationPolicy") == "WaitForWorkersReady"
    launcher = cluster.get("jobs", f"{name}-launcher", namespace)
    if launcher is None and not (waits and len(running) < wanted):
        launcher = _launcher(cluster, job)
    pods = owned(cluster, "pods", launcher) if launcher else []
    active = [one for one in pods if one["status"].get("phase") == "Running"]
    counts = {
        "Launcher": {"active": len(active)} if active else {},
        "Worker": {"active": len(running)} if running else {},
    }
    if launcher and is_true(launcher, "Complete"):
        counts["Launcher"] = {"succeeded": 1}
        rows = condition(rows, "Running", "False", "MPIJobSucceeded", f"{text} successfully completed.")
        rows = condition(rows, "Succeeded", "True", "MPIJobSucceeded", f"{text} successfully completed.")
        status["completionTime"] = now()
    elif launcher and is_true(launcher, "Failed"):
        counts["Launcher"] = {"failed": len(pods)}
        why = next(one for one in launcher["status"]["conditions"] if one["type"] == "Failed")
        reason = f"{why['reason']}/Error" if why["reason"] == "BackoffLimitExceeded" else why["reason"]
        rows = condition(rows, "Running", "False", reason, why["message"])
        rows = condition(rows, "Failed", "True", reason, why["message"])
    elif active and len(running) == wanted:
        rows = condition(rows, "Running", "True", "MPIJobRunning", f"{text} running.")
    put_status(cluster, "mpijobs", job, {**status, "conditions": rows, "replicaStatuses": counts}, MPI)


def _role(job, role, index=None):
    labels = {f"{LABELS}job-name": job["metadata"]["name"], f"{LABELS}job-role": role}
    labels[f"{LABELS}operator-name"] = MPI
    return labels if index is None else {**labels, f"{LABELS}replica-index": str(index)}


def _workers(cluster, job):
    metadata, spec = job["metadata"], job["spec"]
    name, namespace = metadata["name"], metadata["namespace"]
    worker = spec["mpiReplicaSpecs"].get("Worker") or {"replicas": 0}
    count = worker.get("replicas", 1)
    general = {"ownerReferences": owner_of(job)}
    service = {"clusterIP": "None", "selector": _role(job, "worker"), "ports": []}
    ensured(cluster, "services", {"metadata": {"name": name, **general}, "spec": service}, namespace, MPI)
    slots = spec.get("slotsPerWorker", 1)
    hosts = "".join(f"{name}-worker-{at}.{name}.{namespace}.svc slots={slots}\n" for at in range(count))
    config = {"metadata": {"name": f"{name}-config", **general}, "data": {"hostfile": hosts}}
    ensured(cluster, "configmaps", config, namespace, MPI)
    if cluster.get("secrets", f"{name}-ssh", namespace) is None:
        cluster.create("secrets", {"metadata": {"name": f"{name}-ssh", **general}, "data": _keys()}, namespace, MPI)
    found = []
    for at in range(count):
        pod = cluster.get("pods", f"{name}-worker-{at}", namespace)
        if pod is None:
            template = copy.deepcopy(worker["template"])
            template["spec"]["restartPolicy"] = worker.get("restartPolicy", "Never")
            for container in template["spec"]["containers"]:
                if not container.get("command") and not container.get("args"):
                    container["command"] = ["/usr/sbin/sshd", "-De"]
            _with_keys(job, template["spec"])
            more = {"hostname": f"{name}-worker-{at}", "subdomain": name, "labels": _role(job, "worker", at)}
            pod = add_pod(cluster, job, f"{name}-worker-{at}", template, **more)
        if pod is not None:
            found.append(pod)
    return found


def _keys():
    """A key pair of SSH for the pods of a job, as data of a Secret."""
    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return {"ssh-privatekey": encode(private.decode()), "ssh-publickey": encode(f"{public.decode()}\n")}


def _with_keys(job, spec):
    """Mount the key pair into all containers of a pod."""
    files = {"ssh-privatekey": ["id_rsa"], "ssh-publickey": ["id_rsa.pub", "authorized_keys"]}
    items = [{"key": key, "path": path} for key, paths in files.items() for path in paths]
    secret = {"secretName": f"{job['metadata']['name']}-ssh", "items": items, "defaultMode": 0o600}
    _with_volume(spec, {"name": "ssh-auth", "secret": secret}, job["spec"]["sshAuthMountPath"])


def _with_hosts(job, spec):
    """Mount the host file, and name it in the environment that Open MPI reads."""
    items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
    volume = {"name": "mpi-job-config", "configMap": {"name": f"{job['metadata']['name']}-config", "items": items}}
    _with_volume(spec, volume, "/etc/mpi")
    rows = {
        "K_MPI_JOB_ROLE": "launcher",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        "OMPI_MCA_orte_set_default_slots": str(job["spec"].get("slotsPerWorker", 1)),
        "NVIDIA_VISIBLE_DEVICES": "",
        "NVIDIA_DRIVER_CAPABILITIES": "",
    }
    for container in spec["containers"]:
        container.setdefault("env", []).extend({"name": name, "value": value} for name, value in rows.items())


def _with_volume(spec, volume, path):
    spec.setdefault("volumes", []).append(volume)
    for container in spec["containers"]:
        container.setdefault("volumeMounts", []).append({"name": volume["name"], "mountPath": path})


def _launcher(cluster, job):
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    launcher, policy = job["spec"]["mpiReplicaSpecs"]["Launcher"], job["spec"].get("runPolicy") or {}
    template = copy.deepcopy(launcher["template"])
    template["spec"]["restartPolicy"] = launcher.get("restartPolicy", "OnFailure")
    _with_keys(job, template["spec"])
    _with_hosts(job, template["spec"])
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), **_role(job, "launcher")}
    spec = {"template": template, "backoffLimit": policy.get("backoffLimit", 6)}
    spec.update({key: policy[key] for key in ("activeDeadlineSeconds", "ttlSecondsAfterFinished") if key in policy})
    body = {"metadata": {"name": f"{name}-launcher", "ownerReferences": owner_of(job)}, "spec": spec}
    body["metadata"]["labels"] = _role(job, "launcher")
    return cluster.create("jobs", body, namespace, MPI)


def _clean(cluster, job):
    policy = (job["spec"].get("runPolicy") or {}).get("cleanPodPolicy", "None")
    for pod in owned(cluster, "pods", job):
        running = pod["status"].get("phase") in ("Running", "Pending")
        if policy == "All" or (policy == "Running" and running):
            cluster.deleted(cluster.kind("pods"), pod)


def train_jobs(world):
    """Reconcile each TrainJob that has not ended."""
    cluster = world.cluster
    if not cluster.serves("trainjobs"):
        return
    for job in cluster.list("trainjobs"):
        ends = is_true(job, "Complete") or is_true(job, "Failed") or "deletionTimestamp" in job["metadata"]
        if not ends:
            _train_job(cluster, job)


def admit_train_job(cluster, kind, new, old):
    """The webhook of the trainer: the runtime must exist."""
    if kind.kind != "TrainJob" or old is not None:
        return
    reference, namespace = new["spec"]["runtimeRef"], new["metadata"]["namespace"]
    if _runtime(cluster, reference, namespace) is None:
        plural = f"{reference.get('kind', 'ClusterTrainingRuntime').lower()}s.trainer.kubeflow.org"
        text = f'{plural} "{reference["name"]}" not found'
        webhook = "validator.trainjob.trainer.kubeflow.org"
        full = f'spec.runtimeRef: Invalid value: {{"name":"{reference["name"]}"}}: {text}'
        raise Refused(403, f'admission webhook "{webhook}" denied the request: {full}')


def _runtime(cluster, reference, namespace):
    if reference.get("kind", "ClusterTrainingRuntime") == "ClusterTrainingRuntime":
        return cluster.get("clustertrainingruntimes", reference["name"])
    if not cluster.serves("trainingruntimes"):
        return None
    return cluster.get("trainingruntimes", reference["name"], namespace)


def _train_job(cluster, job):
    spec, metadata = job["spec"], job["metadata"]
    runtime = _runtime(cluster, spec["runtimeRef"], metadata["namespace"])
    status = copy.deepcopy(job.get("status") or {})
    if runtime is None:
        text = f"{spec['runtimeRef']['name']} is not found"
        status["conditions"] = condition(
            status.get("conditions"), "Failed", "True", "TrainingRuntimeNotSupported", text
        )
        put_status(cluster, "trainjobs", job, status, TRAINER)
        return
    if spec.get("suspend"):
        status["conditions"] = condition(
            status.get("conditions"), "Suspended", "True", "Suspended", "TrainJob is suspended"
        )
    elif is_true(job, "Suspended"):
        status["conditions"] = condition(
            status.get("conditions"), "Suspended", "False", "Resumed", "TrainJob is resumed"
        )
    rows = []
    for replicated in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        made = _replicated(cluster, job, runtime, replicated)
        found = made.get("status") or {}
        row = {
            "name": replicated["name"],
            "ready": int(found.get("ready", 0) > 0),
            "active": int(found.get("active", 0) > 0),
        }
        row.update(succeeded=int(is_true(made, "Complete")), failed=int(is_true(made, "Failed")), suspended=0)
        rows.append(row)
    status["jobsStatus"] = rows
    if any(row["failed"] for row in rows):
        text = "jobset failed due to one or more job failures"
        status["conditions"] = condition(status.get("conditions"), "Failed", "True", "FailedJobs", text)
    elif all(row["succeeded"] for row in rows):
        text = "jobset completed successfully"
        status["conditions"] = condition(status.get("conditions"), "Complete", "True", "AllJobsCompleted", text)
    put_status(cluster, "trainjobs", job, status, TRAINER)


def _replicated(cluster, job, runtime, replicated):
    """The batch job of one role of the runtime, with what the TrainJob overrides."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    full = f"{name}-{replicated['name']}-0"
    found = cluster.get("jobs", full, namespace)
    suspend = bool(job["spec"].get("suspend"))
    if found is not None:
        if bool(found["spec"].get("suspend")) != suspend:
            found = cluster.change("jobs", found, TRAINER, spec={**found["spec"], "suspend": suspend})
        return found
    template = copy.deepcopy(replicated["template"]["spec"]["template"])
    step = (
        replicated["template"].get("metadata", {}).get("labels", {}).get("trainer.kubeflow.org/trainjob-ancestor-step")
    )
    trainer = job["spec"].get("trainer") or {}
    policy = runtime["spec"].get("mlPolicy") or {}
    nodes = 1
    if step == "trainer" or replicated["name"] == "node":
        nodes = trainer.get("numNodes") or policy.get("numNodes") or 1
        _override(template, trainer)
        _environment(template, job, policy, nodes)
    for patch in job["spec"].get("runtimePatches") or ():
        rows = ((patch.get("trainingRuntimeSpec") or {}).get("template") or {}).get("spec", {}).get(
            "replicatedJobs"
        ) or ()
        for row in rows:
            if row["name"] == replicated["name"]:
                _patched(template, row["template"]["spec"]["template"])
    template["spec"].setdefault("restartPolicy", "Never")
    # The headless service of the JobSet: pods resolve each other by <job>-<index>.<jobset>.
    template["spec"].setdefault("subdomain", name)
    metadata = template.setdefault("metadata", {})
    labels = {"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": replicated["name"]}
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    spec = {"template": template, "parallelism": nodes, "completions": nodes, "completionMode": "Indexed"}
    spec.update(backoffLimit=0, suspend=suspend)
    body = {"metadata": {"name": full, "ownerReferences": owner_of(job), "labels": labels}, "spec": spec}
    return cluster.create("jobs", body, namespace, TRAINER)


def _override(template, trainer):
    container = template["spec"]["containers"][0]
    for key in ("image", "command", "args"):
        if trainer.get(key):
            container[key] = trainer[key]
    if trainer.get("resourcesPerNode"):
        container["resources"] = trainer["resourcesPerNode"]
    container["env"] = [*(container.get("env") or ()), *(trainer.get("env") or ())]


def _environment(template, job, policy, nodes):
    if "torch" not in policy:
        return
    name = job["metadata"]["name"]
    processes = (job["spec"].get("trainer") or {}).get("numProcPerNode") or policy["torch"].get("numProcPerNode") or 1
    index = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
    rows = [
        {"name": "PET_NNODES", "value": str(nodes)},
        {"name": "PET_NPROC_PER_NODE", "value": str(processes)},
        {"name": "PET_NODE_RANK", "valueFrom": index},
        {"name": "PET_MASTER_ADDR", "value": f"{name}-node-0-0.{name}"},
        {"name": "PET_MASTER_PORT", "value": "29500"},
    ]
    template["spec"]["containers"][0].setdefault("env", []).extend(rows)


def _patched(template, patch):
    metadata = template.setdefault("metadata", {})
    for key in ("labels", "annotations"):
        if (patch.get("metadata") or {}).get(key):
            metadata[key] = {**(metadata.get(key) or {}), **patch["metadata"][key]}
    for key, value in (patch.get("spec") or {}).items():
        if key not in ("containers", "initContainers"):
            template["spec"][key] = value
            continue
        for one in value:
            for container in template["spec"][key]:
                if container["name"] == one["name"]:
                    for name in ("env", "volumeMounts"):
                        container[name] = [*(container.get(name) or ()), *(one.get(name) or ())]
                    container.update({name: one[name] for name in ("securityContext",) if name in one})
