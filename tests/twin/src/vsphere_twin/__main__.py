"""The command vsphere-twin, also as python -m vsphere_twin: start a twin, check seeds, list faults, calibrate."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path

import yaml

from . import __version__, calibrate, serve
from .capture import assumptions
from .capture import seed as captures
from .control import described
from .launch import FACES, USUAL
from .model import seed as seeds
from .model.seed_file import SeedError

PLANTED = """\
Call them in the process of the twin:
    twin.control.latency(seconds=2)
    launch(seed="small", faults=[("latency", {"seconds": 2})])
or ask a twin that `serve --state-dir DIR` started, whose endpoint.json names control_url and control_token:
    curl -H "Authorization: Bearer $TOKEN" -d '{"seconds": 2}' "$URL/latency"
"""


def main(argv=None):
    """Run the command and return its exit status."""
    options = _parser().parse_args(argv)
    try:
        return options.work(options)
    except (SeedError, calibrate.CaptureError) as problem:
        print(problem, file=sys.stderr)
        return 1


def _parser():
    parser = argparse.ArgumentParser(prog="vsphere-twin", description="A digital twin of a vSphere data centre.")
    parser.add_argument("--version", action="version", version=f"vsphere-twin {__version__}")
    words = parser.add_subparsers(required=True, metavar="serve|seeds|check|capture-to-seed|faults|calibrate")
    one = _word(words, "serve", _serve, "start a twin and answer until it is interrupted")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--seed", default="small", help="a seed's name, or a file (default: small)")
    what.add_argument("--capture", metavar="PATH", help="a capture: a zip, or a folder of govc object.save")
    one.add_argument("--port", type=int, default=8989, help="the vCenter's HTTPS port; 0 takes any that is free")
    faces = f"beside the vCenter: {','.join(FACES)}, or none; without it {','.join(USUAL)}"
    one.add_argument("--faces", type=_faces, default=USUAL, help=faces)
    one.add_argument("--state-dir", type=Path, help="where endpoint.json is written once the twin answers")
    one.add_argument("--verbose", action="store_true", help="log every request")
    _word(words, "seeds", _seeds, "list the seeds that come with the twin")
    one = _word(words, "check", _check, "find what is wrong with a seed; nothing is started")
    one.add_argument("seed", metavar="SEED", help="a seed's name, or a file")
    one = _word(words, "capture-to-seed", _capture_to_seed, "write the seed of a capture, to read and to edit")
    one.add_argument("capture", metavar="CAPTURE", help="a capture: a zip, or a folder of govc object.save")
    one.add_argument("seed", metavar="SEED", type=Path, help="the file to write")
    _word(words, "faults", _faults, "list the faults that can be planted in a running twin")
    one = _word(words, "calibrate", _calibrate, "compare a capture of a real site with the rules of the twin")
    one.add_argument(
        "capture", metavar="CAPTURE", help="a zip that the capture wrote, or the folder of an unpacked one"
    )
    one.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON; the file can be sent")
    return parser


def _word(words, name, work, what):
    made = words.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    made.set_defaults(work=work)
    return made


def _serve(options):
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    seed = options.seed if options.capture is None else captures.of(options.capture)
    return serve.until_interrupted(seed, options.port, options.faces, options.state_dir)


def _seeds(_options):
    found = seeds.shipped()
    width = max(map(len, found)) + 2
    for name, text in found.items():
        print(f"{name:{width}}{text}")
    return 0


def _check(options):
    world = seeds.load(options.seed)
    parts = (
        ("hosts", world.of_kind("HostSystem")),
        ("VMs", [vm for vm in world.of_kind("VirtualMachine") if not vm.template]),
        ("templates", [vm for vm in world.of_kind("VirtualMachine") if vm.template]),
        ("GPUs", [gpu for host in world.of_kind("HostSystem") for gpu in host.gpus]),
        ("switches", world.fabric.switches),
    )
    print(f"{options.seed} can be served: {', '.join(f'{len(found)} {what}' for what, found in parts)}.")
    return 0


def _capture_to_seed(options):
    made = captures.of(options.capture)
    options.seed.write_text(yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")
    for row in made["assumptions"]:
        print(assumptions.text(row))
    print(
        f"{options.seed} is the seed of the capture of {made['captured']}, with {len(made['assumptions'])} assumptions."
    )
    return 0


def _faults(_options):
    print(PLANTED)
    for hit, verbs in described().items():
        print(f"Faults of {hit}:")
        for verb, arguments, text in verbs:
            print(f"    {verb}({arguments})\n        {text}")
    return 0


def _calibrate(options):
    """Exit status: 0, or 2 if the capture refutes a rule."""
    evidence = calibrate.load(options.capture)
    verdicts = calibrate.calibrate(evidence)
    print(calibrate.as_text(verdicts))
    if options.output:
        text = json.dumps(calibrate.as_data(evidence, verdicts), indent=1) + "\n"
        try:
            options.output.write_text(text, encoding="utf-8")
        except OSError as problem:
            why = f"{problem.strerror}. Free space, or use another path."
            raise calibrate.CaptureError(f"{options.output}: the file to send cannot be written. {why}") from problem
    return 2 if any(one.result == calibrate.REFUTED for one in verdicts) else 0


def _faces(text):
    faces = [] if text == "none" else text.split(",")
    unknown = sorted(set(faces).difference(FACES))
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}; choose from {', '.join(FACES)}, or none")
    return faces


if __name__ == "__main__":
    sys.exit(main())
