"""The commands of Helm that the tests need. Its releases are in the file that HELM_STATE names. It renders no chart."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# A chart whose pods never become ready.
BROKEN = "9.9.9"


def main(words: list[str]) -> None:
    file = Path(os.environ["HELM_STATE"])
    held = json.loads(file.read_text()) if file.exists() else []
    plain = [word for word in words if not word.startswith("-")]
    if "--kubeconfig" in words and not Path(words[words.index("--kubeconfig") + 1]).exists():
        sys.exit("Error: Kubernetes cluster unreachable")
    if plain[0] == "version":
        print('version.BuildInfo{Version:"v3.17.0", GitCommit:"x"}')
    elif plain[:2] == ["plugin", "list"]:
        print("NAME\tVERSION\tDESCRIPTION")
    elif plain[0] == "list":
        name = words[words.index("--filter") + 1]
        last = [{"name": name, "namespace": "ops", "status": "deployed", "updated": "now", **one} for one in held[-1:]]
        print(json.dumps([one for one in last if _is_listed(one["status"], words)]))
    elif plain[:2] == ["get", "values"]:
        number = int(words[words.index("--revision") + 1]) if "--revision" in words else len(held)
        print(_printed(held[number - 1]["values"], words))
    elif plain[0] == "history":
        print(json.dumps([{"description": "", **one, "values": None} for one in held]))
    elif plain[:2] == ["show", "chart"]:
        print(json.dumps({"name": "op", "version": _version(words), "appVersion": "1"}))
    elif plain[0] in ("upgrade", "install") and _version(words) == BROKEN:
        if "UNREACHABLE" in os.environ:
            file.write_text("no answer")
        sys.exit("Error: UPGRADE FAILED: context deadline exceeded")
    elif plain[0] in ("upgrade", "install"):
        given = [word.partition("=")[2] for word in words if word.startswith("-f=")]
        values = json.loads(json.dumps(_yaml(given[0]))) if given else {}
        _keep(file, held, f"op-{_version(words)}", values)
    elif plain[0] == "rollback":
        old = held[int(plain[2]) - 1]
        _keep(file, held, old["chart"], old["values"], "failed" if "BROKEN_ROLLBACK" in os.environ else "deployed")
        if "BROKEN_ROLLBACK" in os.environ:
            sys.exit("Error: timed out waiting for the condition")
    elif plain[0] == "uninstall":
        file.unlink()


def _is_listed(status: str, words: list[str]) -> bool:
    shown = {word[2:] for word in words} & {"deployed", "failed", "pending", "uninstalling"} or {"deployed", "failed"}
    return status.partition("-")[0] in shown


def _printed(values: object, words: list[str]) -> str:
    import yaml

    # Helm writes 1e-05 into YAML without a point, which YAML 1.1 reads as a text.
    plain = yaml.safe_dump(values).replace("1.0e-05", "1e-05")
    return json.dumps(values) if "json" in words else plain


def _version(words: list[str]) -> str:
    return next((word.partition("=")[2] for word in words if word.startswith("--version=")), "1.0.0")


def _yaml(path: str) -> object:
    import yaml

    return yaml.safe_load(sys.stdin.read() if path == "-" else Path(path).read_text())


def _keep(file: Path, held: list[dict[str, object]], chart: str, values: object, status: str = "deployed") -> None:
    held.append(
        {"revision": str(len(held) + 1), "chart": chart, "values": values, "app_version": "1", "status": status}
    )
    file.write_text(json.dumps(held))


if __name__ == "__main__":
    main(sys.argv[1:])
