"""`nvidia-smi mig`: lists, and instances made and removed one after the other."""

from __future__ import annotations

from vsphere_twin.model import mig, mig_layout

from . import lists
from .system import CODES, INVALID_ARGUMENT, NO_DEVICES, NOT_FOUND, compute_name

ACTIONS = ("-lgip", "-lgipp", "-lgi", "-lci", "-lcip", "-cgi", "-cci", "-dgi", "-dci")
LONG = {
    "--list-gpu-instance-profiles": "-lgip",
    "--list-gpu-instance-possible-placements": "-lgipp",
    "--list-gpu-instances": "-lgi",
    "--list-compute-instances": "-lci",
    "--list-compute-instance-profiles": "-lcip",
    "--create-gpu-instance": "-cgi",
    "--create-compute-instance": "-cci",
    "--destroy-gpu-instance": "-dgi",
    "--destroy-compute-instance": "-dci",
    "--default-compute-instance": "-C",
    "--id": "-i",
    "--gpu-instance-id": "-gi",
    "--compute-instance-id": "-ci",
}
BAD_ARGUMENTS = "Invalid combination of input arguments. Please run 'nvidia-smi mig -h' for help.\n\n"
BEFORE_MIG = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n"
NONE_ENABLED = "No MIG-enabled devices found.\n"
NONE_SUPPORTED = "No MIG-supported devices found.\n"
NO_INSTANCES = "No GPU instances found: Not Found\n"
NO_COMPUTE = "No compute instances found: Not Found\n"


class _Stop(Exception):
    def __init__(self, text, rc):
        super().__init__(text)
        self.text, self.rc = text, rc


def run(system, words):
    """(text, return code)."""
    if system.branch < 450:
        return BEFORE_MIG, INVALID_ARGUMENT
    options = _options(words)
    if options is None:
        return BAD_ARGUMENTS, INVALID_ARGUMENT
    action, value, options = options
    cards = system.chosen(options.get("-i"))
    if cards is None:
        return NO_DEVICES, NOT_FOUND
    try:
        return _ACTIONS[action](system, cards, value, options)
    except _Stop as stop:
        return stop.text, stop.rc


def _options(words):
    """(action, its value, the other options), or None where they make no sense."""
    action, value, options = None, None, {}
    words = [LONG.get(word, word) for word in words]
    while words:
        word = words.pop(0)
        takes = word in ("-cgi", "-cci", "-i", "-gi", "-ci")
        given = words.pop(0) if takes and words and not words[0].startswith("-") else None
        if word in ACTIONS and action is None:
            action, value = word, given
        elif word in ("-i", "-gi", "-ci") and given is not None:
            options[word] = given
        elif word == "-C":
            options[word] = True
        else:
            return None
    if action is None or (action == "-cgi" and value is None) or ("-C" in options and action != "-cgi"):
        return None
    return action, value, options


def _profiles(system, cards, _value, _options):
    return lists.gpu_profiles(system, _capable(cards)), 0


def _placements(system, cards, _value, _options):
    return lists.placements(system, _capable(cards)), 0


def _list_instances(system, cards, _value, _options):
    cards = _enabled(cards, rc=0)
    if not any(system.instances(card) for card in cards):
        return NO_INSTANCES, NOT_FOUND
    return lists.gpu_instances(system, cards), 0


def _list_compute(system, cards, _value, options):
    found = [
        (card, one, part)
        for card, one in _instances(system, _enabled(cards, rc=0), options)
        for part in sorted(one.compute, key=lambda part: part.id)
    ]
    return (lists.compute_instances(system, found), 0) if found else (NO_COMPUTE, NOT_FOUND)


def _list_compute_profiles(system, cards, _value, options):
    return lists.compute_profiles(_instances(system, _enabled(cards, rc=0), options)), 0


def _create(system, cards, value, options):
    """Create from left to right, up to the first failure; created instances stay."""
    out = []
    for card in _enabled(cards):
        for item in value.split(","):
            wanted, _colon, start = item.strip().partition(":")
            try:
                profile_id = _profile_id(system, card, wanted)
                made = mig.create(card.gpu, system.branch, profile_id, _start(start) if _colon else None)
                part = mig.create_compute(made, None) if options.get("-C") else None
            except mig.Refused as why:
                out.append(f"Unable to create a GPU instance on GPU {card.index:>2} using profile {wanted}: {why}\n")
                out.append(f"Failed to create GPU instances: {why}\n")
                raise _Stop("".join(out), CODES[str(why)]) from None
            system.changed()
            out.append(_made(system, card, made))
            if part is not None:
                out.append(_made_part(card, made, part))
    return "".join(out), 0


def _create_compute(system, cards, value, options):
    out = []
    for card, one in _instances(system, _enabled(cards), options):
        for item in value.split(",") if value else [None]:
            try:
                profile_id = _compute_id(one, item)
                if one.vm is not None:
                    raise mig.Refused(mig.IN_USE)
                part = mig.create_compute(one, profile_id)
            except mig.Refused as why:
                where = f"on GPU {card.index:>2} GPU instance ID {one.id:>2}"
                out.append(f"Unable to create a compute instance {where} using profile {item or 'default'}: {why}\n")
                out.append(f"Failed to create compute instances: {why}\n")
                raise _Stop("".join(out), CODES[str(why)]) from None
            system.changed()
            out.append(_made_part(card, one, part))
    return "".join(out), 0


def _destroy(system, cards, _value, options):
    out = []
    for card, one in _instances(system, _enabled(cards), options):
        try:
            mig.destroy(card.gpu, one)
        except mig.Refused as why:
            out.append(f"Unable to destroy GPU instance ID {one.id:>2} from GPU {card.index:>2}: {why}\n")
            out.append(f"Failed to destroy GPU instances: {why}\n")
            raise _Stop("".join(out), CODES[str(why)]) from None
        system.changed()
        out.append(f"Successfully destroyed GPU instance ID {one.id:>2} from GPU {card.index:>2}\n")
    return "".join(out), 0


def _destroy_compute(system, cards, _value, options):
    wanted = _numbers(options.get("-ci"))
    found = [
        (card, one, part)
        for card, one in _instances(system, _enabled(cards), options)
        for part in list(one.compute)
        if wanted is None or part.id in wanted
    ]
    if not found:
        return NO_COMPUTE, NOT_FOUND
    out = []
    for card, one, part in found:
        where = f"from GPU {card.index:>2} GPU instance ID {one.id:>2}"
        try:
            mig.destroy_compute(one, part)
        except mig.Refused as why:
            out.append(f"Unable to destroy compute instance ID {part.id:>2} {where}: {why}\n")
            out.append(f"Failed to destroy compute instances: {why}\n")
            raise _Stop("".join(out), CODES[str(why)]) from None
        system.changed()
        out.append(f"Successfully destroyed compute instance ID {part.id:>2} {where}\n")
    return "".join(out), 0


_ACTIONS = {
    "-lgip": _profiles,
    "-lgipp": _placements,
    "-lgi": _list_instances,
    "-lci": _list_compute,
    "-lcip": _list_compute_profiles,
    "-cgi": _create,
    "-cci": _create_compute,
    "-dgi": _destroy,
    "-dci": _destroy_compute,
}


def _capable(cards):
    found = [card for card in cards if card.kind is not None]
    if not found:
        raise _Stop(NONE_SUPPORTED, NOT_FOUND)
    return found


def _enabled(cards, rc=NOT_FOUND):
    """Return the cards in MIG mode. A real 580.159.04 does not treat an empty list as a failure."""
    found = [card for card in cards if card.gpu.mig.current]
    if not found:
        raise _Stop(NONE_ENABLED, rc)
    return found


def _instances(system, cards, options):
    """Return (card, instance) of those that `-gi` names, or of all."""
    wanted = _numbers(options.get("-gi"))
    found = [(card, one) for card in cards for one in system.instances(card) if wanted is None or one.id in wanted]
    if not found:
        raise _Stop(NO_INSTANCES, NOT_FOUND)
    return found


def _numbers(text):
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise _Stop(BAD_ARGUMENTS, INVALID_ARGUMENT) from None


def _profile_id(system, card, wanted):
    """A profile by its id, its name, or its name after 'MIG '."""
    if wanted.isdigit():
        return int(wanted)
    name = wanted.removeprefix("MIG ")
    known = {one.name: one.id for one in mig_layout.profiles(card.kind, system.branch)}
    if name not in known:
        raise mig.Refused(mig.INVALID)
    return known[name]


def _start(text):
    if not text.isdigit():
        raise mig.Refused(mig.INVALID)
    return int(text)


def _compute_id(instance, item):
    if item is None:
        return None
    item = item.strip().removesuffix("*")
    if item.isdigit():
        return int(item)
    name = item.removeprefix("MIG ")
    for profile_id, slices in mig.compute_profiles(instance):
        if name in (compute_name(instance, slices), f"{slices}c"):
            return profile_id
    raise mig.Refused(mig.INVALID)


def _made(system, card, made):
    if system.branch < 470:
        return f"Successfully created GPU instance on GPU {card.index:>2} using profile ID {made.profile.id:>2}\n"
    what = f"using profile MIG {made.profile.name} (ID {made.profile.id:>2})"
    return f"Successfully created GPU instance ID {made.id:>2} on GPU {card.index:>2} {what}\n"


def _made_part(card, instance, part):
    what = f"using profile MIG {compute_name(instance, part.slices)} (ID {part.profile_id:>2})"
    where = f"on GPU {card.index:>2} GPU instance ID {instance.id:>2}"
    return f"Successfully created compute instance ID {part.id:>2} {where} {what}\n"
