"""The lists of `nvidia-smi mig`: profiles, placements and instances, in the widths of the driver's generation."""

from __future__ import annotations

from vsphere_twin.model import mig, mig_layout

from .system import compute_name

WIDE, MIDDLE = 575, 510
# On ESXi this driver showed no free instance on an empty GPU (captured after a reboot); others count.
BLIND_ON_ESXI = 510


def gpu_profiles(system, cards):
    """`-lgip`."""
    extra = _extra(system)
    width = 74 + extra
    pad = " " * extra
    head = [
        " GPU instance profiles:",
        f" GPU   Name          {pad}ID    Instances   Memory     P2P    SM    DEC   ENC  ",
        f"                           {pad}Free/Total   GiB              CE    JPEG  OFA  ",
    ]
    rows = []
    for card in cards:
        taken = mig.taken_by(mig.layout(card.gpu, system.branch))
        for one in mig_layout.profiles(card.kind, system.branch):
            free = mig_layout.room_for(card.kind, taken, one, system.branch)
            if system.hypervisor and system.branch == BLIND_ON_ESXI:
                free = 0
            share = f"{free}/{one.max_instances}"
            rows.append(
                (
                    f"{card.index:>4}  MIG {one.name:<{10 + extra}}{one.id:>3}     {share:<11}{_gib(card, one):<11}No"
                    f"     {one.sm or 0:<7}{one.dec or 0:<6}{one.enc or 0:<4}",
                    f"{'':{58 + extra}}{one.ce or 0:<6}{one.jpeg or 0:<6}{one.ofa or 0:<4}",
                )
            )
    return _framed(width, head, rows)


def placements(system, cards):
    """`-lgipp`."""
    lines = []
    for card in cards:
        for one in mig_layout.profiles(card.kind, system.branch):
            word = "Placement :" if len(one.starts) == 1 else "Placements:"
            starts = ",".join(str(start) for start in one.starts)
            lines.append(f"GPU {card.index:>2} Profile ID {one.id:>2} {word} {{{starts}}}:{one.size}\n")
    return "".join(lines)


def gpu_instances(system, cards):
    """`-lgi`."""
    extra = _extra(system)
    pad = " " * extra
    head = [
        " GPU instances:",
        f" GPU   Name          {pad}Profile  Instance   Placement  ",
        f"                       {pad}ID       ID       Start:Size ",
    ]
    rows = [
        (
            f"{card.index:>4}  MIG {one.profile.name:<{10 + extra}}{one.profile.id:>5}{one.id:>9}          "
            f"{f'{one.start}:{one.size}':<8}",
        )
        for card in cards
        for one in system.instances(card)
    ]
    return _framed(52 + extra, head, rows)


def compute_instances(system, found):
    """`-lci` of (card, GPU instance, compute instance)."""
    placed = system.branch >= 470
    head = [
        " Compute instances:",
        " GPU     GPU       Name             Profile   Instance" + ("   Placement  " if placed else " "),
        "       Instance                       ID        ID    " + ("   Start:Size " if placed else " "),
        "         ID",
    ]
    rows = [
        (
            f"{card.index:>4}{one.id:>7}       MIG {compute_name(one, part.slices):<16}"
            f"{part.profile_id:>2}{part.id:>10}"
            + (f"          {f'{part.start}:{part.slices}':<8}" if placed else "     "),
        )
        for card, one, part in found
    ]
    return _framed(68 if placed else 55, head, rows)


def compute_profiles(found):
    """`-lcip` of (card, GPU instance)."""
    head = [
        " Compute instance profiles:",
        " GPU     GPU       Name             Profile  Instances   Exclusive       Shared       ",
        "       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  ",
        "         ID                                                          CE    JPEG       ",
    ]
    rows = []
    for card, one in found:
        row = one.profile
        default = mig.default_compute(one)
        for profile_id, slices in mig.compute_profiles(one):
            total = row.compute_slices // slices
            share = f"{_compute_room(one, slices)}/{total}"
            sm = (row.sm or 0) * slices // row.compute_slices
            star = "*" if profile_id == default else " "
            rows.append(
                (
                    f"{card.index:>4}{one.id:>7}       MIG {compute_name(one, slices):<16}{profile_id:>2}{star}     "
                    f"{share:<14}{sm:<10}{row.dec or 0:<6}{row.enc or 0:<6}{row.ofa or 0:<4}",
                    f"{'':70}{row.ce or 0:<6}{row.jpeg or 0}",
                )
            )
    return _framed(86, head, rows)


def _compute_room(instance, slices):
    """Return how many compute instances of this many slices still fit."""
    used = sum(one.slices for one in instance.compute)
    return (instance.profile.compute_slices - used) // slices


def _extra(system):
    """Tables grew with the names of the profiles: 76, 79 and 81 columns (captured with R450, R510 and R580)."""
    if system.branch >= WIDE:
        return 5
    return 3 if system.branch >= MIDDLE else 0


def _gib(card, profile):
    if profile.memory_gib is not None:
        return f"{profile.memory_gib:.2f}"
    return f"{card.gpu.board.memory_gb * profile.size / card.kind.memory_slots * 0.97:.2f}"


def _framed(width, head, rows):
    edge = f"+{'-' * width}+\n"
    out = [edge, *(f"|{line:<{width}}|\n" for line in head), f"|{'=' * width}|\n"]
    for lines in rows:
        out += [*(f"|{line:<{width}}|\n" for line in lines), edge]
    return "".join(out)
