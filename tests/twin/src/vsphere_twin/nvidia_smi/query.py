"""`--query-gpu`, `-q` and `-q -x`: the driver's report on its cards."""

from __future__ import annotations

from xml.sax.saxutils import escape

from .system import INVALID_ARGUMENT, NO_DEVICES, NOT_FOUND, compute_name, device_uuid

NOT_AVAILABLE = "[N/A]"
# The document type changed with the driver's branch (captured with R570 and R580; R525 and before [unsure]).
DTDS = ((580, 13), (535, 12), (0, 11))


def mode(card, which):
    """Enabled or Disabled, or None where a card cannot be partitioned."""
    if card.kind is None:
        return None
    return "Enabled" if getattr(card.gpu.mig, which) else "Disabled"


# Field: (unit in the header, its value).
FIELDS = {
    "count": ("", lambda system, card: len(system.cards)),
    "compute_mode": ("", lambda system, card: "Default"),
    "driver_version": ("", lambda system, card: system.version),
    "ecc.mode.current": ("", lambda system, card: "Enabled"),
    "ecc.mode.pending": ("", lambda system, card: "Enabled"),
    "index": ("", lambda system, card: card.index),
    "memory.free": ("MiB", lambda system, card: card.memory_mib - card.used_mib),
    "memory.total": ("MiB", lambda system, card: card.memory_mib),
    "memory.used": ("MiB", lambda system, card: card.used_mib),
    "mig.mode.current": ("", lambda system, card: mode(card, "current") or NOT_AVAILABLE),
    "mig.mode.pending": ("", lambda system, card: mode(card, "pending") or NOT_AVAILABLE),
    "name": ("", lambda system, card: card.name),
    "pci.bus_id": ("", lambda system, card: card.bus_id),
    "pci.device_id": ("", lambda system, card: f"0x{card.gpu.board.device_id:04X}10DE"),
    "pci.sub_device_id": ("", lambda system, card: f"0x{card.gpu.board.subsystem_id:04X}10DE"),
    "persistence_mode": ("", lambda system, card: "Enabled"),
    "power.draw": ("W", lambda system, card: "36.50"),
    "pstate": ("", lambda system, card: "P0"),
    "temperature.gpu": ("", lambda system, card: 33),
    # A partitioned GPU reports no utilisation (captured with R580).
    "utilization.gpu": ("%", lambda system, card: NOT_AVAILABLE if card.gpu.mig.current else 0),
    "uuid": ("", lambda system, card: card.uuid),
}
ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id"}


def csv(system, cards, fields, form):
    """(text, return code) of `--query-gpu=<fields> --format=<form>`."""
    names = [name.strip() for name in fields.split(",") if name.strip()]
    parts = [part.strip() for part in form.split(",")]
    if "csv" not in parts:
        return 'Format should be specified with "--format" and has to be csv.\n', INVALID_ARGUMENT
    for name in names:
        if ALIASES.get(name, name) not in FIELDS:
            return f'Field "{name}" is not a valid field to query.\n\n', INVALID_ARGUMENT
    units = "nounits" not in parts
    lines = [] if "noheader" in parts else [", ".join(_title(name, units) for name in names)]
    lines += [", ".join(_value(system, card, name, units) for name in names) for card in cards]
    return "".join(f"{line}\n" for line in lines), 0


def listing(system, cards):
    """`-L`."""
    lines = []
    for card in cards:
        lines.append(f"GPU {card.index}: {card.name} (UUID: {card.uuid})")
        for number, (one, part) in enumerate(devices(system, card)):
            name = compute_name(one, part.slices)
            wide = f"{name:<12}Device {number:>2}" if system.branch >= 470 else f"{name} Device {number}"
            lines.append(f"  MIG {wide}: (UUID: {device_uuid(card, one, part, system.branch)})")
    return "".join(f"{line}\n" for line in lines), 0


def devices(system, card):
    """(GPU instance, compute instance) of every MIG device, by the ids of their GPU instances."""
    if not card.gpu.mig.current:
        return []
    by_id = sorted(system.instances(card), key=lambda one: one.id)
    return [(one, part) for one in by_id for part in sorted(one.compute, key=lambda part: part.id)]


def text(system, cards):
    """`-q`."""
    if not cards:
        return NO_DEVICES, NOT_FOUND
    head = [("Timestamp", system.time), ("Driver Version", system.version), ("CUDA Version", _cuda(system))]
    out = ["", "==============NVSMI LOG==============", "", *(f"{key:<42}: {value}" for key, value in head), ""]
    out.append(f"{'Attached GPUs':<42}: {len(system.cards)}")
    for card in cards:
        out.append(f"GPU {card.bus_id}")
        for key, value in _details(system, card):
            if isinstance(value, dict):
                out.append(f"    {key}")
                out += [f"        {name:<34}: {content}" for name, content in value.items()]
            else:
                out.append(f"    {key:<38}: {value}")
        out.append("")
    return "\n".join(out) + "\n", 0


def xml(system, cards):
    """`-q -x`: the fields that inventories read, out of the hundreds of the real one."""
    number = next(number for branch, number in DTDS if system.branch >= branch)
    out = ['<?xml version="1.0" ?>', f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v{number}.dtd">']
    out += ["<nvidia_smi_log>", f"\t<timestamp>{system.time}</timestamp>"]
    out += [f"\t<driver_version>{system.version}</driver_version>", f"\t<cuda_version>{_cuda(system)}</cuda_version>"]
    out.append(f"\t<attached_gpus>{len(system.cards)}</attached_gpus>")
    for card in cards:
        out.append(f'\t<gpu id="{card.bus_id}">')
        out += _elements(_tree(system, card), 2)
        out.append("\t</gpu>")
    out.append("</nvidia_smi_log>")
    return "\n".join(out) + "\n", 0


def _title(name, units):
    unit = FIELDS[ALIASES.get(name, name)][0]
    return f"{name} [{unit}]" if unit and units else name


def _value(system, card, name, units):
    unit, function = FIELDS[ALIASES.get(name, name)]
    value = str(function(system, card))
    return f"{value} {unit}" if unit and units and value != NOT_AVAILABLE else value


def _cuda(system):
    return "Not Found" if system.hypervisor else {550: "12.4", 570: "12.8", 580: "13.0"}.get(system.branch, "12.0")


def _details(system, card):
    yield "Product Name", card.name
    yield "Persistence Mode", "Enabled"
    yield "MIG Mode", {"Current": mode(card, "current") or "N/A", "Pending": mode(card, "pending") or "N/A"}
    yield "GPU UUID", card.uuid
    yield "GPU Virtualization Mode", {"Virtualization Mode": "Host VGPU" if system.hypervisor else "Pass-Through"}
    board = card.gpu.board
    yield (
        "PCI",
        {
            "Device Id": f"0x{board.device_id:04X}10DE",
            "Bus Id": card.bus_id,
            "Sub System Id": f"0x{board.subsystem_id:04X}10DE",
        },
    )
    used = card.used_mib
    memory = {"Total": card.memory_mib, "Used": used, "Free": card.memory_mib - used}
    yield "FB Memory Usage", {name: f"{mib} MiB" for name, mib in memory.items()}
    yield "Compute Mode", "Default"
    yield "ECC Mode", {"Current": "Enabled", "Pending": "Enabled"}


def _tree(system, card):
    board, used = card.gpu.board, card.used_mib
    bus, _colon, rest = card.bus_id.partition(":")[2].partition(":")
    architecture = card.kind.architecture.title() if card.kind is not None else "N/A"
    return {
        "product_name": card.name,
        "product_brand": "NVIDIA",
        "product_architecture": architecture,
        "persistence_mode": "Enabled",
        "mig_mode": {
            "current_mig": mode(card, "current") or "N/A",
            "pending_mig": mode(card, "pending") or "N/A",
        },
        "mig_devices": _mig_devices(system, card),
        "uuid": card.uuid,
        "minor_number": card.index,
        "gpu_virtualization_mode": {"virtualization_mode": "Host VGPU" if system.hypervisor else "Pass-Through"},
        "pci": {
            "pci_bus": bus,
            "pci_device": rest.partition(".")[0],
            "pci_domain": card.bus_id[4:8],
            "pci_device_id": f"{board.device_id:04X}10DE",
            "pci_bus_id": card.bus_id,
            "pci_sub_system_id": f"{board.subsystem_id:04X}10DE",
        },
        "fb_memory_usage": {
            "total": f"{card.memory_mib} MiB",
            "used": f"{used} MiB",
            "free": f"{card.memory_mib - used} MiB",
        },
        "compute_mode": "Default",
        "ecc_mode": {"current_ecc": "Enabled", "pending_ecc": "Enabled"},
        "processes": [{"process_info": _process(one)} for one in card.processes],
    }


def _mig_devices(system, card):
    """Return one element per device; its fields are [unsure]: no capture with MIG on is known."""
    found = devices(system, card)
    if not found:
        return "None"
    return [
        {
            "mig_device": {
                "index": number,
                "gpu_instance_id": one.id,
                "compute_instance_id": part.id,
                "fb_memory_usage": {"total": f"{int((one.profile.memory_gib or 0) * 1024)} MiB"},
            }
        }
        for number, (one, part) in enumerate(found)
    ]


def _process(one):
    pid, kind, name, mib = one
    return {
        "gpu_instance_id": "N/A",
        "compute_instance_id": "N/A",
        "pid": pid,
        "type": kind,
        "process_name": name,
        "used_memory": f"{mib} MiB",
    }


def _elements(tree, depth):
    indent = "\t" * depth
    out = []
    for name, value in tree.items():
        if isinstance(value, (dict, list)):
            parts = value if isinstance(value, list) else [value]
            out.append(f"{indent}<{name}>")
            for part in parts:
                out += _elements(part, depth + 1)
            out.append(f"{indent}</{name}>")
        else:
            out.append(f"{indent}<{name}>{escape(str(value))}</{name}>")
    return out
