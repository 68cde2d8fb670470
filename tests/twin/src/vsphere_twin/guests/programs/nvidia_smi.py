"""nvidia-smi in a guest."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from vsphere_twin.model import gpu_errors, nvlink
from vsphere_twin.nvidia_smi.system import INVALID_ARGUMENT, NO_DEVICES, NO_DRIVER, NOT_FOUND, NOT_LOADED

from . import devices, drivers, hardware, licence, nvidia_ecc
from . import nvidia_view as views
from .calls import Answer, program
from .nvidia_table import table

NO_PERMISSION, VERSION_MISMATCH = 4, 18  # NVML's codes
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"
UNKNOWN = "Option \"{}\" is not recognized. Please run 'nvidia-smi -h'.\n\n"
LONG = {"--id": "-i", "--list-gpus": "-L", "--query": "-q", "--xml-format": "-x", "--display": "-d"}
FLAGS, VALUES = ("-L", "-q", "-x"), ("-i", "-d", "--query-gpu", "--format", "-f", "--filename")
UNITS = {"memory": "MiB", "power": "W", "clocks": "MHz", "utilization": "%"}
NO_LINK = "\tNVML: Unable to retrieve NVLink information as all links are inActive"
LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


@program("nvidia-smi")
def nvidia_smi(world, vm, call):
    library, running = drivers.installed(call.guest), drivers.loaded(vm, call.guest)
    if library is None or running is None:
        return Answer(NO_DRIVER, status=NOT_LOADED)
    if library["version"] != running["version"]:
        number = library["version"].rpartition(".")[0]
        return Answer(f"{MISMATCH}\nNVML library version: {number}\n", status=VERSION_MISMATCH)
    view = views.of(vm, call)
    words = call.words
    if words[:1] in (["-h"], ["--help"]):
        return Answer(f"NVIDIA System Management Interface -- v{view.version}\n")
    if words[:1] == ["--version"]:
        rows = (("NVIDIA-SMI", view.version), ("NVML", view.version.rpartition(".")[0]), ("DRIVER", view.version))
        return Answer("".join(f"{name:<11} version : {value}\n" for name, value in rows))
    if not view.cards:
        return Answer(NO_DEVICES, status=NOT_FOUND)
    if words[:1] == ["topo"]:
        return _topo(world, vm, call, view)
    if words[:1] == ["nvlink"] and len(words) == 2 and words[1] in LINKS:
        shown = [f"{_listing([card]).stdout.rstrip()}\n{_links(view, card, words[1])}\n" for card in view.cards]
        return Answer("".join(shown))
    if words[:1] == ["mig"]:
        return _mig(view, words[1:])
    options, problem = _options(words)
    if problem is not None:
        return Answer(UNKNOWN.format(problem), status=INVALID_ARGUMENT)
    cards = view.chosen(options.get("-i"))
    if cards is None:
        return Answer(NO_DEVICES, status=NOT_FOUND)
    if "--query-gpu" in options:
        return _csv(view, cards, options["--query-gpu"], options.get("--format", ""))
    if "-L" in options:
        return _listing(cards)
    if "-q" in options:
        return _xml(view, cards) if "-x" in options else _text(view, cards)
    return Answer(table(view))


def _options(words):
    options, words = {}, list(words)
    while words:
        word, equals, value = words.pop(0).partition("=")
        name = LONG.get(word, word)
        if name in FLAGS and not equals:
            options[name] = True
        elif name in VALUES and (equals or words):
            options[name] = value if equals else words.pop(0)
        else:
            return options, word
    return options, None


FIELDS = {
    "compute_cap": lambda view, card: views.architecture(card)[1],
    "compute_mode": lambda view, card: "Default",
    "count": lambda view, card: len(view.cards),
    "driver_version": lambda view, card: view.version,
    "ecc.errors.corrected.volatile.total": lambda view, card: gpu_errors.memory(view.vm, card.index)["corrected"],
    "ecc.errors.uncorrected.volatile.total": lambda view, card: gpu_errors.memory(view.vm, card.index)["uncorrected"],
    "ecc.mode.current": lambda view, card: "Enabled",
    "index": lambda view, card: card.index,
    "memory.free": lambda view, card: views.memory_mib(card)[3],
    "memory.reserved": lambda view, card: views.memory_mib(card)[1],
    "memory.total": lambda view, card: views.memory_mib(card)[0],
    "memory.used": lambda view, card: 0,
    "mig.mode.current": lambda view, card: f"[{views.mode(card)}]" if views.mode(card) == "N/A" else views.mode(card),
    "mig.mode.pending": lambda view, card: f"[{views.mode(card)}]" if views.mode(card) == "N/A" else views.mode(card),
    "name": lambda view, card: card.name,
    "pci.bus_id": lambda view, card: card.bus_id,
    "pci.device_id": lambda view, card: f"0x{card.board.device_id:04X}10DE",
    "pci.sub_device_id": lambda view, card: f"0x{card.board.subsystem_id:04X}10DE",
    "persistence_mode": lambda view, card: "Enabled",
    "power.draw": lambda view, card: views.NOT_AVAILABLE,
    "power.limit": lambda view, card: views.NOT_AVAILABLE,
    "pstate": lambda view, card: "P0",
    "serial": lambda view, card: views.NOT_AVAILABLE,
    "temperature.gpu": lambda view, card: views.NOT_AVAILABLE,
    "utilization.gpu": lambda view, card: views.NOT_AVAILABLE if card.mig else 0,
    "utilization.memory": lambda view, card: views.NOT_AVAILABLE if card.mig else 0,
    "uuid": lambda view, card: card.uuid,
    "vbios_version": lambda view, card: "00.00.00.00.00",
}
ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id", "gpu_serial": "serial"}


def _csv(view, cards, fields, form):
    names = [name.strip() for name in fields.split(",") if name.strip()]
    parts = [part.strip() for part in form.split(",")]
    if "csv" not in parts:
        return Answer('Format should be specified with "--format" and has to be csv.\n', status=INVALID_ARGUMENT)
    for name in names:
        if ALIASES.get(name, name) not in FIELDS:
            return Answer(f'Field "{name}" is not a valid field to query.\n\n', status=INVALID_ARGUMENT)
    units = "nounits" not in parts
    lines = [] if "noheader" in parts else [", ".join(_title(name, units) for name in names)]
    lines += [", ".join(_value(view, card, name, units) for name in names) for card in cards]
    return Answer("".join(f"{line}\n" for line in lines))


def _title(name, units):
    unit = UNITS.get(name.partition(".")[0])
    return f"{name} [{unit}]" if unit and units else name


def _value(view, card, name, units):
    value = str(FIELDS[ALIASES.get(name, name)](view, card))
    unit = UNITS.get(name.partition(".")[0])
    return f"{value} {unit}" if unit and units and value != views.NOT_AVAILABLE else value


def _listing(cards):
    lines = []
    for card in cards:
        lines.append(f"GPU {card.index}: {card.name} (UUID: {card.uuid})")
        if card.mig:
            lines.append(f"  MIG {views.mig_name(card):<12}Device  0: (UUID: {views.mig_uuid(card)})")
    return Answer("".join(f"{line}\n" for line in lines))


@cache
def _template():
    return Path(__file__).with_name("nvidia_q.txt").read_text(encoding="utf-8")


def _text(view, cards):
    head = [("Timestamp", view.time), ("Driver Version", view.version), ("CUDA Version", view.cuda)]
    out = ["", "==============NVSMI LOG==============", "", *(f"{key:<42}: {value}" for key, value in head), ""]
    out.append(f"{'Attached GPUs':<42}: {len(view.cards)}")
    return Answer("\n".join(out) + "\n" + "\n".join(_template().format(**_facts(view, one)) for one in cards) + "\n")


def _facts(view, card):
    total, reserved, _used, free = views.memory_mib(card)
    product, status = licence.status(view, card)
    block = ""
    if view.flavour == drivers.GRID:
        rows = (("Product Name", product), ("License Status", status))
        block = "    vGPU Software Licensed Product\n" + "".join(f"        {key:<34}: {one}\n" for key, one in rows)
    bus, slot = card.bus_id.split(":")[1:]
    errors = gpu_errors.memory(view.vm, card.index)
    return {
        "bus_id": card.bus_id,
        "name": card.name,
        "brand": product if card.profile is not None else "NVIDIA",
        "architecture": views.architecture(card)[0],
        "mig": views.mode(card),
        "uuid": card.uuid,
        "index": card.index,
        "board_id": f"0x{bus.lstrip('0') or '0'}00".lower(),
        "part_number": f"{card.board.device_id:04X}-897-A1",
        "virtualization": "VGPU" if card.profile is not None else "Pass-Through",
        "licence": block,
        "bus": bus,
        "slot": slot.partition(".")[0],
        "device_id": f"{card.board.device_id:04X}",
        "subsystem_id": f"{card.board.subsystem_id:04X}",
        "total": total,
        "reserved": reserved,
        "free": free,
        "ecc": nvidia_ecc.block(
            views.architecture(card)[0], card.profile is not None, errors["corrected"], errors["uncorrected"]
        ),
    }


def _xml(view, cards):
    number = 13 if view.branch >= 580 else 12 if view.branch >= 535 else 11
    out = [
        '<?xml version="1.0" ?>',
        f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v{number}.dtd">',
        "<nvidia_smi_log>",
    ]
    rows = [("timestamp", view.time), ("driver_version", view.version), ("cuda_version", view.cuda)]
    out += [f"\t<{key}>{value}</{key}>" for key, value in [*rows, ("attached_gpus", len(view.cards))]]
    for card in cards:
        facts = _facts(view, card)
        product, status = licence.status(view, card)
        out.append(f'\t<gpu id="{card.bus_id}">')
        out += [
            f"\t\t<{key}>{escape(str(facts[name]))}</{key}>"
            for key, name in (
                ("product_name", "name"),
                ("product_brand", "brand"),
                ("product_architecture", "architecture"),
                ("uuid", "uuid"),
                ("minor_number", "index"),
            )
        ]
        out += _block("mig_mode", {"current_mig": facts["mig"], "pending_mig": facts["mig"]})
        out += _block(
            "gpu_virtualization_mode", {"virtualization_mode": facts["virtualization"], "host_vgpu_mode": "N/A"}
        )
        if facts["licence"]:
            out += _block(
                "vgpu_software_licensed_product", {"licensed_product_name": product, "license_status": status}
            )
        out += _block("pci", {"pci_bus_id": card.bus_id, "pci_device_id": f"{facts['device_id']}10DE"})
        memory = {key: f"{facts[key]} MiB" for key in ("total", "reserved", "free")}
        out += _block("fb_memory_usage", {**memory, "used": "0 MiB"})
        out.append("\t</gpu>")
    return Answer("\n".join([*out, "</nvidia_smi_log>"]) + "\n")


def _block(name, rows):
    return [
        f"\t\t<{name}>",
        *(f"\t\t\t<{key}>{escape(str(one))}</{key}>" for key, one in rows.items()),
        f"\t\t</{name}>",
    ]


def _states(view, card, count):
    speed, total = nvlink.speed_of(card.board), nvlink.links_of(card.board)
    states = [f"{speed} GB/s" if number < count else "<inactive>" for number in range(total)]
    return "\n".join(f"\t Link {number}: {state}" for number, state in enumerate(states))


def _errors(view, card, count):
    """The errors of the active links, with an empty line between two links; Blackwell has other rows [unsure]."""
    counted = [gpu_errors.link_errors(view.vm, card.index, number) for number in range(count)]
    return "\n\n".join(
        "\n".join(f"\t Link {number}: {kind} Errors: {errors[kind]}" for kind in ("Replay", "Recovery", "CRC"))
        for number, errors in enumerate(counted)
    )


LINKS = {"-s": _states, "--status": _states, "-e": _errors, "--errorcounters": _errors}


def _links(view, card, option):
    """The links of a GPU; one sentence if none is active, because no peer is in the VM [unsure]."""
    active = [hardware.nvlinks(card, other) for other in view.cards if other is not card]
    # With NVSwitches, all links of a GPU lead to all peers.
    count = max(active, default=0) if card.host.nvswitches else sum(active)
    return LINKS[option](view, card, count) if count else NO_LINK


def _cell(cards, row, column):
    """The connection of two devices; the PCIe of a VM has one host bridge."""
    if row == column:
        return " X "
    count = hardware.nvlinks(cards[row], cards[column]) if {row, column} <= cards.keys() else 0
    return f"NV{count}" if count else "PHB"


def _topo(world, vm, call, view):
    if call.words[1:] not in (["-m"], ["--matrix"]):
        return Answer("Invalid combination of input arguments. Please run 'nvidia-smi topo -h' for help.\n", status=2)
    nics = devices.devices(world, vm, call.guest)
    cards = {f"GPU{card.index}": card for card in view.cards}
    rows = [*cards, *(f"NIC{number}" for number in range(len(nics)))]
    # The header is underlined, with or without a terminal, and an extra tab precedes the last column.
    out = ["\t\x1b[4m" + "\t".join([*rows, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]) + "\x1b[0m"]
    for row in rows:
        cells = [_cell(cards, row, column) for column in rows]
        tail = [f"0-{view.cpus - 1}", "0", "", "N/A"] if row.startswith("GPU") else []
        out.append("\t".join([row, *cells, *tail]))
    legend = LEGEND
    if nics:
        legend += "\nNIC Legend:\n\n" + "".join(f"  NIC{number}: {one.name}\n" for number, one in enumerate(nics))
    return Answer("\n".join(out) + "\n" + legend + "\n")


def _mig(view, words):
    """Show the guest its one instance; only the host can create others."""
    cards = [card for card in view.cards if card.mig]
    if not cards:
        # An empty list is no failure.
        return Answer("No MIG-enabled devices found.\n", status=0 if "".join(words[:1]).startswith("-l") else NOT_FOUND)
    if words[:1] == ["-lgi"]:
        edge = f"+{'-' * 55}+\n"
        head = (
            f"{edge}| {'GPU instances:':<54}|\n| {'GPU   Name             Profile  Instance   Placement':<54}|\n"
            f"| {'                         ID       ID       Start:Size':<54}|\n|{'=' * 55}|\n"
        )
        rows = "".join(
            f"|{f'{c.index:>4}  MIG {views.mig_name(c):<13}    0        0          0:8':<55}|\n{edge}" for c in cards
        )
        return Answer(head + rows)
    what = {"-lci": "display compute instances", "-cgi": "create GPU instances", "-dgi": "destroy GPU instances"}
    failed = what.get(words[0] if words else "", "do that")
    return Answer(f"Failed to {failed}: Insufficient Permissions\n", status=NO_PERMISSION)
