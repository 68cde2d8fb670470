"""nvidia-smi without arguments: the table of cards, MIG devices and processes, narrow before R535 and wide since."""

from __future__ import annotations

from .query import devices, mode

WIDE_SINCE = 535


def show(system):
    """The whole table."""
    return _wide(system) if system.branch >= WIDE_SINCE else _narrow(system)


def _wide(system):
    edge = f"+{'-' * 89}+"
    middle = f"+{'-' * 41}+{'-' * 24}+{'-' * 22}+"
    out = [f"{system.time}       ", edge]
    cuda = "N/A" if system.hypervisor else "12.4"
    banner = f"| NVIDIA-SMI {system.version:<23}Driver Version: {system.version:<15}CUDA Version: {cuda:<9}|"
    out += [banner, middle]
    out += [
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
        "|                                         |                        |               MIG M. |",
        f"|{'=' * 41}+{'=' * 24}+{'=' * 22}|",
    ]
    for card in system.cards:
        on, load = card.gpu.mig.current, "N/A" if card.gpu.mig.current else "0%"
        out += [
            f"|{card.index:>4}  {_cut(card.name, 28):<31}On  |   {card.bus_id} Off |{'On' if on else '0':>21} |",
            f"| N/A   33C    P0             36W /  300W |{card.used_mib:>8}MiB /{card.memory_mib:>7}MiB |"
            f"{load:>8}      Default |",
            f"|{'':41}|{'':24}|{mode(card, 'current') or 'N/A':>21} |",
            middle,
        ]
    out += ["", *_devices(system, 89), *_processes(system, 89)]
    return "\n".join(out) + "\n"


def _narrow(system):
    edge = f"+{'-' * 77}+"
    out = [f"{system.time}       ", edge]
    cuda = "N/A" if system.hypervisor else "11.6"
    banner = f"| NVIDIA-SMI {system.version:<13}Driver Version: {system.version:<13}CUDA Version: {cuda:<9}|"
    out += [banner, f"|{'-' * 31}+{'-' * 22}+{'-' * 22}+"]
    out += [
        "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |",
        "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |",
        "|                               |                      |               MIG M. |",
        f"|{'=' * 31}+{'=' * 22}+{'=' * 22}|",
    ]
    for card in system.cards:
        on, load = card.gpu.mig.current, "N/A" if card.gpu.mig.current else "0%"
        out += [
            f"|{card.index:>4}  {_cut(card.name, 18):<20}On   | {card.bus_id} Off |{'On' if on else '0':>21} |",
            f"| N/A   33C    P0    36W / 300W |{card.used_mib:>7}MiB /{card.memory_mib:>6}MiB |"
            f"{load:>8}      Default |",
            f"|{'':31}|{'':22}|{mode(card, 'current') or 'N/A':>21} |",
            f"+{'-' * 31}+{'-' * 22}+{'-' * 22}+",
        ]
    out += ["", *_devices(system, 77), *_processes(system, 77)]
    return "\n".join(out) + "\n"


def _devices(system, width):
    """The MIG devices; the columns are those of R580, in both widths [unsure: the narrow form]."""
    rows = [
        f"{card.index:>3}{one.id:>5}{part.id:>4}{number:>4}  |{_memory(one)}|{_sm(one, part):>3}      0 |"
        for card in system.cards
        for number, (one, part) in enumerate(devices(system, card))
    ]
    if not rows:
        return []
    head = ["MIG devices:", "GPU  GI  CI  MIG |              Memory-Usage |        Vol|"]
    edge = f"+{'-' * width}+"
    return [
        edge,
        f"| {head[0]:<{width - 1}}|",
        f"| {head[1]:<{width - 1}}|",
        f"|{'=' * width}|",
        *(f"|{row:<{width}}|" for row in rows),
        edge,
        "",
    ]


def _memory(instance):
    return f"{0:>8}MiB /{int((instance.profile.memory_gib or 0) * 1024):>6}MiB    "


def _sm(instance, part):
    return (instance.profile.sm or 0) * part.slices // instance.profile.compute_slices


def _processes(system, width):
    edge = f"+{'-' * width}+"
    rows = [
        f"{card.index:>5}   N/A  N/A  {pid:>14}   {kind:>4}   {_cut(name, 28):<31}"[: width - 14] + f"{mib:>8}MiB "
        for card in system.cards
        for pid, kind, name, mib in card.processes
    ]
    body = rows or ["  No running processes found"]
    return [
        edge,
        f"| {'Processes:':<{width - 1}}|",
        f"|{'  GPU   GI   CI              PID   Type   Process name':<{width - 12}}{'GPU Memory ':>12}|",
        f"|{'=' * width}|",
        *(f"|{row:<{width}}|" for row in body),
        edge,
    ]


def _cut(name, width):
    return name if len(name) <= width else f"{name[: width - 3]}..."
