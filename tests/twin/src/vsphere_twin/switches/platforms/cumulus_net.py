"""Program net of Cumulus Linux 4.4: its RoCE commands, on the same configuration as nv."""

from __future__ import annotations

from vsphere_twin.shell.interpreter import Output

from .cumulus_tree import commands, diff, put, remove

USER = "net"  # net has one pending change for all who use it


def run(device, shell, argv):
    """Run one call of net."""
    words, revisions = argv[1:], device.revisions
    if words[:1] in (["add"], ["del"], ["commit"], ["abort"]) and shell.user == "nobody":
        return Output("", 1, "ERROR: You do not have permission to execute that command.\n")
    if words[:2] == ["add", "roce"] and words[2:] in (["lossless"], ["lossy"]):
        put(revisions.open(USER).tree, ("qos", "roce"), {"enable": "on", "mode": words[2]})
        return Output()
    if words == ["del", "roce"]:
        remove(revisions.open(USER).tree, ("qos", "roce"))
        return Output()
    pending = revisions.pending.get(USER)
    if words == ["abort"]:
        revisions.detach(USER)
        return Output()
    if words in (["pending"], ["commit"]):
        reported = ""
        if pending is not None:
            gone, new = diff(revisions.applied, revisions.target(pending))
            reported = "".join(f"{line}\n" for line in [*commands("unset", gone), *commands("set", new)])
        if words == ["pending"] or pending is None:
            return Output(reported)
        problems = revisions.apply(pending)
        if problems:
            return Output("", 1, "".join(f"ERROR: {one}\n" for one in problems))
        revisions.save()
        return Output(reported)
    return Output("", 1, f"ERROR: Command not found.\n\nnet {' '.join(words)}\n")
