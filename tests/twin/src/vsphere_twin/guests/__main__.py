"""python -m vsphere_twin.guests: prepare this machine for guests of labs, and remove remains of labs."""

from __future__ import annotations

import argparse
import contextlib
import sys

from . import engine

try:
    engine.require_library()
except engine.EngineProblem as problem:
    sys.exit(str(problem))

import docker

from . import image, training_image
from . import lab as labs

WORDS = {
    "setup": "install and start Docker where that is possible, and make the images that labs need",
    "images": "make the images that labs need, where Docker is",
    "engines": "make the image for trainings with DeepSpeed and Ray, which only their tests need",
    "status": "say what is there",
    "forgotten": "remove what labs of this state folder left whose process has ended",
    "clean": "remove every container, network and volume of this state folder's labs, and the images of their clones",
    "purge": "the same, and all images of labs, which the next one has to make anew",
}


def main():
    """Run the requested word."""
    parser = argparse.ArgumentParser(prog="python -m vsphere_twin.guests", description=__doc__)
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(WORDS))
    for word, what in WORDS.items():
        words.add_parser(word, help=what, description=what)
    word = parser.parse_args().word
    try:
        return {
            "setup": _setup,
            "images": _images,
            "engines": _engines,
            "status": _status,
            "forgotten": _forgotten,
            "clean": _clean,
            "purge": _purge,
        }[word]()
    except engine.EngineProblem as problem:
        print(problem, file=sys.stderr)
        return 1


def _setup():
    return _made(engine.have(_say, install=True))


def _images():
    return _made(engine.have(_say))


def _made(client):
    labs.remove_forgotten(client, _say)
    names = [image.ensure(client, _say), training_image.ensure(client, _say)]
    _say(f"Docker {client.version()['Version']} answers. Labs start from {' and '.join(names)}.")
    return 0


def _engines():
    _say(f"Trainings with DeepSpeed and Ray start from {training_image.ensure_engines(engine.have(_say), _say)}.")
    return 0


def _status():
    client = engine.have(_say)
    made = [tag for one in _kept(client) for tag in one.tags]
    _say(f"Docker {client.version()['Version']} answers. Images of labs: {', '.join(made) or 'none yet'}.")
    for lab, owner in labs.labs(client).items():
        state = {True: "runs", False: "is forgotten", None: "cannot be seen from here"}[labs.lives(owner)]
        _say(f"Lab {lab} of process {owner.partition(':')[0]} {state}.")
    return 0


def _forgotten():
    client = engine.running()
    if client is not None:
        labs.remove_forgotten(client, _say)
    return 0


def _clean():
    client = engine.running()
    if client is None:
        _say("No Docker runs here, so no lab has left anything running.")
        return 0
    for name in labs.of_folder(client):
        labs.remove(client, name)
    return 0


def _purge():
    client = engine.running()
    _clean()
    for one in _with_steps(client) if client is not None else []:
        # If the last image is based on it, a step is removed with that image.
        with contextlib.suppress(docker.errors.ImageNotFound):
            client.images.remove(one, force=True)
    return 0


def _kept(client):
    """Return all images that were built for labs on this machine."""
    return [one for one in client.images.list() if any(tag.startswith("aiready-lab/") for tag in one.tags)]


def _with_steps(client):
    """Return their ids, with the steps that depend on them: an image with dependents cannot be removed."""
    below = {row["Id"]: row["ParentId"] for row in client.api.images(all=True)}
    kept = {one.id for one in _kept(client)}

    def chain(one):
        found = [one]
        while below.get(found[-1]):
            found.append(below[found[-1]])
        return found

    chains = {one: chain(one) for one in below}
    return sorted((one for one, found in chains.items() if kept.intersection(found)), key=lambda one: -len(chains[one]))


def _say(line):
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
