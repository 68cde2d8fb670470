"""VM classes of vCenter as objects in the namespaces of a Supervisor."""

from __future__ import annotations

PLURAL = "virtualmachineclasses"


def offer(cluster, namespace, classes):
    """Create, replace and remove the objects of one namespace."""
    with cluster.lock:
        if cluster.get("namespaces", namespace) is None:
            cluster.create("namespaces", {"metadata": {"name": namespace}})
        for name, fields in classes.items():
            old = cluster.get(PLURAL, name, namespace)
            if old is not None:
                cluster.remove(PLURAL, old)
            cluster.create(PLURAL, {"metadata": {"name": name}, "spec": _spec(fields)}, namespace)
        for old in cluster.list(PLURAL, namespace):
            if old["metadata"]["name"] not in classes:
                cluster.remove(PLURAL, old)


def _spec(fields):
    memory = f"{fields['memory_MB']}Mi"
    spec = {"hardware": {"cpus": fields["cpu_count"], "memory": memory}}
    older = fields.get("devices") or {}
    devices = {
        "vgpuDevices": [{"profileName": one["profile_name"]} for one in older.get("vgpu_devices") or ()],
        "dynamicDirectPathIODevices": [
            {
                "vendorID": one["vendor_id"],
                "deviceID": one["device_id"],
                **({"customLabel": one["custom_label"]} if one.get("custom_label") else {}),
            }
            for one in older.get("dynamic_direct_path_IO_devices") or ()
        ],
    }
    if any(devices.values()):
        spec["hardware"]["devices"] = {key: rows for key, rows in devices.items() if rows}
    if fields.get("config_spec"):
        spec["configSpec"] = fields["config_spec"]
    if fields.get("memory_reservation"):
        spec["policies"] = {"resources": {"requests": {"memory": memory}}}
    return spec
