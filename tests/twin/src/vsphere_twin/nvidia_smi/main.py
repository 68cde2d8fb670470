"""nvidia-smi: its arguments, and the mode."""

from __future__ import annotations

from vsphere_twin.model import mig

from . import mig_command, query, summary, vgpu_command
from .system import CODES, INVALID_ARGUMENT, LOST, NO_DEVICES, NOT_FOUND, NOT_SUPPORTED

UNKNOWN = "Option \"{}\" is not recognized. Please run 'nvidia-smi -h'.\n\n"
IN_USE_HINT = (
    "{} is currently being used by one or more other processes (e.g. CUDA application or a monitoring application such "
    "as another instance of nvidia-smi). Please first kill all processes using the device and retry the command or "
    "reboot the system to make MIG mode effective.\n"
)
# Public captures of R550 and R610; that the rest of the output follows is [sure], the return code is [unsure].
LOST_GPU = "Unable to determine the device handle for GPU{}: {}: Unknown Error\n"
RESET_HINT = "Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {}\n"


def run(system, words):
    """(text, return code) of nvidia-smi with these words."""
    words = list(words)
    if words[:1] == ["mig"]:
        return mig_command.run(system, words[1:])
    if words[:1] == ["vgpu"] and system.hypervisor:
        return vgpu_command.run(system, words[1:])
    options, problem = _options(words)
    if problem is not None:
        return UNKNOWN.format(problem), INVALID_ARGUMENT
    cards = system.chosen(options.get("-i"))
    lost = "".join(LOST_GPU.format(card.index, card.bus_id) for card in cards or () if card.gpu.lost)
    cards = [card for card in cards or () if not card.gpu.lost]
    if not cards:
        return (lost, LOST) if lost else (NO_DEVICES, NOT_FOUND)
    text, rc = _answer(system, options, cards)
    return lost + text, rc or LOST * bool(lost)


def _answer(system, options, cards):
    if "-mig" in options:
        return _mode(system, cards, options["-mig"])
    if "--gpu-reset" in options:
        return "".join(f"Resetting GPU {card.bus_id} is not supported.\n" for card in cards), NOT_SUPPORTED
    if "--query-gpu" in options:
        return query.csv(system, cards, options["--query-gpu"], options.get("--format", ""))
    if "-L" in options:
        return query.listing(system, cards)
    if "-q" in options:
        return query.xml(system, cards) if "-x" in options else query.text(system, cards)
    return summary.show(system), 0


_LONG = {
    "--id": "-i",
    "--list-gpus": "-L",
    "--query": "-q",
    "--xml-format": "-x",
    "--multi-instance-gpu": "-mig",
    "-r": "--gpu-reset",
    "--display": "-d",
}
_FLAGS = ("-L", "-q", "-x", "--gpu-reset")
_VALUES = ("-i", "-mig", "--query-gpu", "--format", "-d")


def _options(words):
    """Return the options by their short names, and the first word that is no option."""
    options = {}
    while words:
        word, equals, value = words.pop(0).partition("=")
        name = _LONG.get(word, word)
        if name in _FLAGS and not equals:
            options[name] = True
        elif name in _VALUES and (equals or words):
            options[name] = value if equals else words.pop(0)
        else:
            return options, word
    return options, None


def _mode(system, cards, wanted):
    """`-mig 0|1`: 'All done.' whether it is done or only waits."""
    if wanted not in ("0", "1", "DISABLED", "ENABLED"):
        return UNKNOWN.format(f"-mig {wanted}"), INVALID_ARGUMENT
    on = wanted in ("1", "ENABLED")
    out, rc = [], 0
    for card in cards:
        try:
            outcome = system.set_mode(card.gpu, on)
        except mig.Refused as why:
            out.append(f"Unable to {'enable' if on else 'disable'} MIG Mode for GPU {card.bus_id}: {why}\n")
            out.append("Treating as warning and moving on.\n")
            rc = CODES[str(why)]
            continue
        if outcome == "done":
            out.append(f"{'Enabled' if on else 'Disabled'} MIG Mode for GPU {card.bus_id}\n")
            continue
        way = "enable" if on else "disable"
        out.append(f"Warning: MIG mode is in pending {way} state for GPU {card.bus_id}:{outcome}\n")
        out.append((RESET_HINT if outcome == mig.NOT_SUPPORTED else IN_USE_HINT).format(card.bus_id))
    return "".join([*out, "All done.\n"]), rc
