from __future__ import annotations

from ..contract import GuestRow

REGISTRY = "registry.lab.example:5000"
SHOW = (
    "import base64, json, os, sys; auths = json.load(open(os.path.expanduser(sys.argv[1])))['auths'];"
    "print({name: base64.b64decode(entry['auth']).decode() for name, entry in sorted(auths.items())})"
)


def login(password, username="$oauthtoken", **more):
    return {"registry": REGISTRY, "username": username, "password": password, "check": "never", **more}


def row(name, path, **more):
    return GuestRow(
        module="container_registry_login",
        name=name,
        create=login("nvapi-first", **more),
        modify=login("nvapi-second", **more),
        delete={"registry": REGISTRY, "state": "absent", **more},
        observe={
            "logins": ["python3", "-c", SHOW, path],
            "permissions": ["sh", "-c", f"stat --format='%a %U' {path}"],
        },
        created={"logins": str({REGISTRY: "$oauthtoken:nvapi-first"}), "permissions": f"600 {owner(more)}"},
        modified={"logins": str({REGISTRY: "$oauthtoken:nvapi-second"}), "permissions": f"600 {owner(more)}"},
        deleted={"logins": "{}", "permissions": f"600 {owner(more)}"},
    )


def owner(requested):
    return requested.get("user") or "root"


ROWS = [
    row("Docker's file of root", "~/.docker/config.json"),
    row("Podman's file of another user", "/home/ops/.config/containers/auth.json", engine="podman", user="ops"),
]
