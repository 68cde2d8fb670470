"""The program nv: its verbs, options and words."""

from __future__ import annotations

import json

from vsphere_twin.shell.interpreter import Output

from . import cumulus_revisions
from .cumulus_revisions import STARTUP
from .cumulus_schema import Invalid
from .cumulus_show import show
from .cumulus_tree import as_yaml, commands, diff, ordered, set_words, unset_words
from .linux_text import simple, text

VERBS = ("set", "unset", "show", "config", "action", "list-commands")
FULL = f"[Errno 28] No space left on device: '{STARTUP}'"
OVERWRITES = "Warning: The following files have been changed since the last save, and they WILL be overwritten.\n"
ASKS = "Are you sure? [y/N] "
UNCONFIRMED = "An apply is waiting for a confirmation [rev_id: {}]."


def run(device, shell, argv, stdin):
    """Run one call of nv; the caller holds the world's lock."""
    words = argv[1:]
    found = [verb for verb in VERBS if words and verb.startswith(words[0])]
    try:
        if not words or not found:
            raise Invalid(f"Invalid Command: {' '.join(words) or 'nv'}")
        if len(found) > 1 and words[0] not in found:
            raise Invalid("Ambiguous Command:\n  " + "\n  ".join(found))
        verb = words[0] if words[0] in found else found[0]
        return _VERBS[verb](device, shell, words[1:], stdin)
    except Invalid as problem:
        return Output("", 1, f"Error: {problem}\n")


def _set(device, shell, words, stdin):
    return _edit(device, shell, words, set_words)


def _unset(device, shell, words, stdin):
    return _edit(device, shell, words, unset_words)


def _edit(device, shell, words, change):
    # An unknown word does not begin a revision.
    change({}, device.revisions.schema, words)
    change(device.revisions.open(shell.user).tree, device.revisions.schema, words)
    return Output()


def _show(device, shell, words, stdin):
    words, given = _options(words, {"-o": "output", "--output": "output", "--view": "view", "-w": "view"}, _REVISIONS)
    form = given.get("output", "auto")
    if form not in ("auto", "json", "yaml"):
        raise Invalid(f"Invalid value for '--output': '{form}' is not one of 'auto', 'json', 'yaml', 'native'.")
    revision = next((one for one in ("applied", "pending", "startup", "operational") if given.get(one)), None)
    revision = revision or given.get("rev") or ("operational" if form != "auto" else "both")
    return Output(show(device, words, shell.user, form, revision, given.get("view")))


_REVISIONS = {"-r": "rev", "--rev": "rev", "--revision": "rev"}


def _options(words, *named):
    """(words, options): --name value, --name=value, and flags."""
    valued = {key: name for table in named for key, name in table.items()}
    kept, given, words = [], {}, list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in valued:
            if not equals and not words:
                raise Invalid(f"Option '{name}' requires an argument.")
            given[valued[name]] = value if equals else words.pop(0)
        elif word.startswith("--"):
            given[word[2:]] = True
        elif word.startswith("-") and len(word) > 1 and not word[1:].isdigit():
            given[word[1:]] = True
        else:
            kept.append(word)
    return kept, given


# -- nv config -----------------------------------------------------------------------------------------------------


def _config(device, shell, words, stdin):
    verb = words[0] if words else ""
    if verb not in _CONFIG:
        raise Invalid(f"Invalid Command: config {' '.join(words)}".rstrip())
    return _CONFIG[verb](device, shell, words[1:], stdin)


def _diff(device, shell, words, stdin):
    names, given = _options(words, {"-o": "output", "--output": "output"})
    revisions = device.revisions
    if len(names) < 2 and not names and shell.user not in revisions.pending:
        return Output()
    trees = [revisions.tree_of(name, shell.user) for name in names] or [revisions.applied]
    if len(names) < 2:
        pending = revisions.pending.get(shell.user)
        trees.append(revisions.applied if pending is None else revisions.target(pending))
    gone, new = diff(*trees[:2])
    return Output(_document(given.get("output", "yaml"), gone, new))


def _document(form, gone, new, header=None):
    parts = [{"header": header}] if header else []
    parts += [{"unset": ordered(gone)}] if gone else []
    parts += [{"set": ordered(new)}] if new else []
    if form == "commands":
        return text([*commands("unset", gone), *commands("set", new)])
    if form == "json":
        return json.dumps(parts, indent=2) + "\n"
    if form not in ("yaml", "auto"):
        raise Invalid(f"Invalid value for '--output': '{form}'")
    return as_yaml(parts) if parts else ""


def _config_show(device, shell, words, stdin):
    names, given = _options(words, {"-o": "output", "--output": "output"}, _REVISIONS)
    tree = device.revisions.tree_of(given.get("rev", "applied"), shell.user)
    if names:
        raise Invalid(f"Invalid Command: config show {' '.join(names)}")
    return Output(_document(given.get("output", "yaml"), {}, tree, device.revisions.header()))


def _apply(device, shell, words, stdin):
    revisions = device.revisions
    words, timeout = _confirmation(words)
    names, given = _options(words, {"-m": "message", "--message": "message"})
    unknown = set(given) - {"y", "assume-yes", "assume-no", "message", *_WAITING}
    if unknown or len(names) > 1:
        raise Invalid(f"Invalid Command: config apply {' '.join(words)}")
    for option, act in _WAITING.items():
        if given.get(option):
            return act(device)
    if revisions.waiting is not None:
        raise Invalid(UNCONFIRMED.format(revisions.waiting.revision.number))
    revision = revisions.numbered(names[0]) if names else revisions.pending.get(shell.user)
    if revision is None:
        raise Invalid("There is no pending revision to apply.")
    asked = ""
    if revisions.applies == 0 and not (given.get("y") or given.get("assume-yes")):
        # The first apply finds files that the factory wrote.
        asked = OVERWRITES + ASKS
        if given.get("assume-no") or stdin().strip().lower()[:1] != "y":
            return Output(f"{asked}\nDeclined apply after warnings [rev_id: {revision.number}]\n", 1)
    elif given.get("assume-no"):
        return Output(f"Declined apply after warnings [rev_id: {revision.number}]\n", 1)
    problems = revisions.apply(revision, timeout, given.get("message", ""))
    if problems:
        return Output("", 1, text([f"Invalid config [rev_id: {revision.number}]", *(f"  {one}" for one in problems)]))
    # Problems of files that are written afterwards are reported, but as a success (ipspace/netlab #1726).
    strange = [one for one in device.applied.get("interface", {}) if not device.has(one)]
    reported = asked + text(
        f"error: {one}: interface not recognized - please check interface configuration" for one in strange
    )
    reported += f"applied [rev_id: {revision.number}]\n"
    return Output(reported + (_save_itself(device) if timeout is None else ""))


def _save_itself(device):
    if device.revisions.saves_itself() and not device.revisions.save():
        return f"Warning: The configuration is applied and was not saved: {FULL}\n"
    return ""


def _confirmation(words):
    """(words without --confirm, seconds or None): its time is a word of its own, or after an equals sign."""
    kept, seconds, words = [], None, list(words)
    while words:
        word = words.pop(0)
        if word == "--confirm":
            given = cumulus_revisions.seconds(words[0]) if words else None
            seconds = 600 if given is None else given
            if given is not None:
                words.pop(0)
        elif word.startswith("--confirm="):
            seconds = cumulus_revisions.seconds(word.partition("=")[2])
            if seconds is None:
                raise Invalid(f"Invalid value for '--confirm': '{word.partition('=')[2]}'")
        else:
            kept.append(word)
    return kept, seconds


def _confirm_yes(device):
    if device.revisions.waiting is None:
        raise Invalid("No apply is waiting for a confirmation.")
    revision = device.revisions.confirm()
    return Output(f"confirmed [rev_id: {revision.number}]\n" + _save_itself(device))


def _confirm_no(device):
    waiting = device.revisions.waiting
    if waiting is None:
        raise Invalid("No apply is waiting for a confirmation.")
    device.revisions.expire(waiting)
    return Output(f"rolled back [rev_id: {waiting.revision.number}]\n")


def _confirm_status(device):
    waiting = device.revisions.waiting
    if waiting is None:
        return Output("No apply is waiting for a confirmation.\n")
    left = max(0, round(waiting.due_s - device.world.timeline.now()))
    return Output(f"Time left until rollback [rev_id: {waiting.revision.number}]: {left // 60}m {left % 60}s\n")


_WAITING = {"confirm-yes": _confirm_yes, "confirm-no": _confirm_no, "confirm-status": _confirm_status}


def _detach(device, shell, words, stdin):
    revision = device.revisions.detach(shell.user)
    return Output(f"detached [rev_id: {revision.number}]\n" if revision else "")


def _attach(device, shell, words, stdin):
    if len(words) != 1:
        raise Invalid(f"Invalid Command: config attach {' '.join(words)}".rstrip())
    revision = device.revisions.numbered(words[0])
    device.revisions.pending[shell.user] = revision
    return Output(f"attached [rev_id: {revision.number}]\n")


def _save(device, shell, words, stdin):
    if words:
        raise Invalid(f"Invalid Command: config save {' '.join(words)}")
    if not device.revisions.save():
        raise Invalid(FULL)
    return Output("saved [rev_id: applied]\n")


def _load(replace):
    def load(device, shell, words, stdin):
        names, _given = _options(words)
        if len(names) != 1:
            raise Invalid("A file with the configuration is needed.")
        device.revisions.load(shell.user, _read(shell, names[0], stdin), replace)
        return Output()

    return load


def _read(shell, path, stdin):
    if path in ("/dev/stdin", "-"):
        return stdin()
    if path not in shell.files():
        raise Invalid(f"[Errno 2] No such file or directory: '{path}'")
    return shell.files()[path]


def _history(device, shell, words, stdin):
    rows = [(one.number, one.user, one.state, "CLI", one.message) for one in reversed(device.revisions.known)]
    rows = [row for row in rows if row[2] not in ("pending", "detached")]
    return Output(text(simple(("Rev Id", "User", "State", "Type", "Message"), rows)))


def _revision(device, shell, words, stdin):
    rows = [(name, "", "") for name in cumulus_revisions.KEPT]
    rows += [(one.number, one.user, one.state) for one in device.revisions.known]
    return Output(text(simple(("Rev Id", "User", "State"), rows)))


_CONFIG = {
    "show": _config_show,
    "diff": _diff,
    "apply": _apply,
    "detach": _detach,
    "attach": _attach,
    "save": _save,
    "patch": _load(replace=False),
    "replace": _load(replace=True),
    "history": _history,
    "revision": _revision,
}


def _action(device, shell, words, stdin):
    if (
        words[:1] == ["clear"]
        and words[1:2] == ["interface"]
        and words[3:]
        in (
            ["qos", "roce", "counters"],
            ["counters"],
        )
    ):
        if words[2] not in device.switch.ports:
            raise Invalid("The requested item does not exist.")
        device.switch.ports[words[2]].counters.clear()
        return Output("QoS RoCE counters cleared.\nAction succeeded\n")
    if words[:2] == ["reboot", "system"] and words[2:] in (["no-confirm"], ["force"]):
        device.switch.reload()
        return Output("Rebooting System\n")
    raise Invalid(f"Invalid Command: action {' '.join(words)}".rstrip())


def _list(device, shell, words, stdin):
    return Output(text(f"nv config {verb}" for verb in sorted(_CONFIG)))


_VERBS = {"set": _set, "unset": _unset, "show": _show, "config": _config, "action": _action, "list-commands": _list}
