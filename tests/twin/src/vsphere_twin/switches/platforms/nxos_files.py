"""Cisco NX-OS: the saved configuration, checkpoints and rollbacks, files on the flash."""

from __future__ import annotations

from .nxos import MOST_CHECKPOINTS
from .nxos_rules import Refusal

NO_SPACE = "ERROR: startup-config: Copy failed: No space left on device\n"
ROLLED_BACK = (
    "Note: Applying config parallelly may fail Rollback verification\nCollecting Running-Config\n#Generating Rollback "
    "Patch\nExecuting Rollback Patch\nGenerating Running-config for verification\nGenerating Patch for verification\n"
    "Verification is Successful.\n\nRollback completed successfully.\n\n"
)


def declare(grammar):
    """Add them to the commands of a session."""
    for (mode, *patterns), handler in (
        (
            (
                "exec",
                "copy running-config startup-config",
            ),
            save,
        ),
        (
            (
                "exec",
                "copy running-config <place:WORD>",
            ),
            copy,
        ),
        (
            (
                "exec",
                "delete <place:WORD> [ no-prompt ]",
            ),
            delete,
        ),
        (
            (
                "exec",
                "configure replace <place:WORD> [ best-effort ] [ commit-timeout <seconds:30-3600> ] [ verbose ]",
            ),
            replace,
        ),
        (
            (
                "exec",
                "checkpoint <name:WORD> [ description <text:LINE> ]",
            ),
            checkpoint,
        ),
        (
            (
                "exec",
                "no checkpoint <name:WORD>",
            ),
            no_checkpoint,
        ),
        (
            (
                "exec",
                "clear checkpoint database",
            ),
            clear_checkpoints,
        ),
        (
            (
                "exec",
                "show checkpoint [ what=summary|all ]",
                "show checkpoint <name:WORD>",
            ),
            show_checkpoint,
        ),
        (
            (
                "exec",
                "rollback running-config checkpoint <name:WORD> [ "
                "how=atomic|best-effort|stop-at-first-failure ] [ verbose ]",
            ),
            rollback,
        ),
    ):
        grammar.on(mode, *patterns)(handler)


def save(cli):
    rule = "[########################################] 100%\n"
    if not cli.device.save():
        return f"[##                                      ]   5%\n{NO_SPACE}"
    return f"{rule}Copy complete, now saving to disk (please wait)...\nCopy complete.\n"


def copy(cli, place):
    if not place.startswith("bootflash:"):
        raise Refusal(None)
    if cli.switch.full_flash:
        return "ERROR: Copy failed: No space left on device\n"
    cli.device.stored[place.removeprefix("bootflash:").strip("/")] = cli.config.copy()
    return "Copy complete, now saving to disk (please wait)...\nCopy complete.\n"


def delete(cli, place):
    if cli.device.stored.pop(place.removeprefix("bootflash:").strip("/"), None) is None:
        return "No such file or directory\n"
    return ""


def replace(cli, place, seconds=None):
    if cli.release < (7, 0):
        raise Refusal(None)
    if place == "commit":
        if cli.device.awaited is None:
            raise Refusal("ERROR: There is no configuration to commit")
        cli.device.awaited = None
        return ""
    found = cli.device.stored.get(place.removeprefix("bootflash:").strip("/"))
    if found is None:
        raise Refusal(f"ERROR: {place}: No such file or directory")
    cli.device.replace(found, seconds)
    del cli.places[1:]
    return (
        "Collecting Running-Config\nConverting to checkpoint file\n"
        "#Generating Rollback Patch\nExecuting Rollback Patch\nConfigure replace completed "
        "successfully. Please run 'show config-replace log exec' to see if "
        "there is any configuration that requires reload to take effect.\n"
    )


def checkpoint(cli, name, text=None):
    device = cli.device
    if name in device.checkpoints:
        raise Refusal(f"ERROR: Checkpoint {name} already exists")  # the words are [unsure]
    if len(device.checkpoints) >= MOST_CHECKPOINTS:
        raise Refusal("ERROR: Maximum number of checkpoints reached")
    device.checkpoints[name] = device.config.copy()
    return ".Done\n"


def no_checkpoint(cli, name):
    if cli.device.checkpoints.pop(name, None) is None:
        raise Refusal(f"ERROR: Checkpoint {name} does not exist")
    return ""


def clear_checkpoints(cli):
    cli.device.checkpoints.clear()
    return ".Done\n"


def show_checkpoint(cli, what=None, name=None):
    chosen = [name] if name else list(cli.device.checkpoints)
    if name and name not in cli.device.checkpoints:
        raise Refusal(f"ERROR: Checkpoint {name} does not exist")
    if what == "summary":
        rows = "".join(
            f"{one}:\nCreated by admin\nCreated at Mon, 00:00:00 01 Jan 2024\n"
            "Size is 9,000 bytes\nDescription: None\n\n"
            for one in chosen
        )
        return f"User Checkpoint Summary\n{'-' * 80}\n{rows}"
    return "".join(
        f"{'-' * 80}\nName: {one}\n\n{cli.device.text(cli.device.checkpoints[one], 'Checkpoint config db')}"
        for one in chosen
    )


def rollback(cli, name, how=None):
    found = cli.device.checkpoints.get(name)
    if found is None:
        raise Refusal(f"ERROR: Checkpoint {name} does not exist")
    cli.device.config = found.copy()
    del cli.places[1:]
    return ROLLED_BACK
