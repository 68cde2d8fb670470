"""nvidia-smi without arguments: a vGPU reports neither temperature nor power."""

from __future__ import annotations

from . import nvidia_view as views

WIDE_SINCE = 535


def table(view):
    """The table in the width of the driver's generation."""
    wide = view.branch >= WIDE_SINCE
    left, middle, right = (41, 24, 22) if wide else (31, 22, 22)
    width = left + middle + right + 2
    edge = f"+{'-' * left}+{'-' * middle}+{'-' * right}+"
    gap = 23 if wide else 13
    driver = f"Driver Version: {view.version:<{15 if wide else 13}}"
    banner = f" NVIDIA-SMI {view.version:<{gap}}{driver}CUDA Version: {view.cuda}"
    out = [view.time, f"+{'-' * width}+", f"|{banner:<{width}}|", f"|{edge[1:-1]}+"]
    heads = (
        ("GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC"),
        ("Fan  Temp   Perf          Pwr:Usage/Cap", "          Memory-Usage", "GPU-Util  Compute M."),
        ("", "", "MIG M."),
    )
    narrow = (
        ("GPU  Name        Persistence-M", "Bus-Id        Disp.A", "Volatile Uncorr. ECC"),
        ("Fan  Temp  Perf  Pwr:Usage/Cap", "        Memory-Usage", "GPU-Util  Compute M."),
        ("", "", "MIG M."),
    )
    for a, b, c in heads if wide else narrow:
        out.append(f"| {a:<{left - 1}}| {b:<{middle - 1}}|{c:>{right - 1}} |")
    out.append(f"|{'=' * left}+{'=' * middle}+{'=' * right}|")
    for card in view.cards:
        total, reserved, _used, _free = views.memory_mib(card)
        name = card.name if len(card.name) <= left - 12 else f"{card.name[: left - 15]}..."
        out += [
            f"|{card.index:>4}  {name:<{left - 10}}On  |{card.bus_id + ' Off ':>{middle}}|"
            f"{'On' if card.mig else '0':>{right - 1}} |",
            f"| {'N/A   N/A    P0':<{left - 15}}{'N/A /  N/A ':>14}|{f'{reserved}MiB / {total}MiB ':>{middle}}|"
            f"{'N/A' if card.mig else '0%':>8}{'Default ':>{right - 8}}|",
            f"|{'':{left}}|{'':{middle}}|{views.mode(card):>{right - 1}} |",
            edge,
        ]
    edge = f"+{'-' * width}+"
    head = f"{'  GPU   GI   CI        PID   Type   Process name':<{width - 12}}{'GPU Memory ':>12}"
    out += ["", edge, f"| {'Processes:':<{width - 1}}|", f"|{head}|", f"|{'=' * width}|"]
    out += [f"|{'  No running processes found':<{width}}|", edge]
    return "\n".join(out) + "\n"
