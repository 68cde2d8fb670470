from __future__ import annotations

from ..contract import GuestRow

DOCKER = (
    {
        "name": "Docker",
        "ansible.builtin.apt": {"name": "docker.io", "update_cache": True, "install_recommends": False},
    },
)
OBSERVE = {
    "limit": ["systemctl", "show", "docker", "containerd", "--property=LimitMEMLOCK", "--value"],
    "proxy": ["sh", "-c", "docker info 2>/dev/null | sed -n 's/^ HTTPS Proxy: //p'"],
    "left out": ["sh", "-c", "docker info 2>/dev/null | sed -n 's/^ No Proxy: //p'"],
    "password": ["sh", "-c", "tr '\\0' '\\n' < /proc/$(pidof dockerd)/environ | grep -c canary"],
    "to everybody": ["sh", "-c", "systemctl show docker | grep -c canary"],
    "unchecked": [
        "sh",
        "-c",
        "docker info 2>/dev/null | sed -n '/^ Insecure Registries:/,/^ [A-Z]/s/^  //p' | tr '\\n' ' '",
    ],
}
UNLIMITED = "infinity\n\ninfinity"
PROXY = {"http": "http://proxy.lab.example:3128", "no_proxy": ["lab.example", "10.0.0.0/8"]}

ROWS = [
    GuestRow(
        module="container_engine",
        name="Docker's limit, proxy and registries",
        before=DOCKER,
        create={
            "proxy": {**PROXY, "username": "me", "password": "canary"},
            "insecure_registries": ["registry.lab.example:5000"],
        },
        modify={
            "proxy": {**PROXY, "https": "http://other.lab.example:8080", "no_proxy": []},
            "insecure_registries": ["other.lab.example:5000"],
            "secure_registries": ["registry.lab.example:5000"],
        },
        delete={"proxy": {}, "secure_registries": ["other.lab.example:5000"]},
        observe=OBSERVE,
        created={
            "limit": UNLIMITED,
            # Docker itself does not show it.
            "proxy": "http://xxxxx:xxxxx@proxy.lab.example:3128",
            "left out": "lab.example,10.0.0.0/8",
            "password": "2",
            "to everybody": None,
            "unchecked": "registry.lab.example:5000 127.0.0.0/8",
        },
        modified={
            "limit": UNLIMITED,
            "proxy": "http://other.lab.example:8080",
            "left out": "",
            "password": None,
            "to everybody": None,
            "unchecked": "other.lab.example:5000 127.0.0.0/8",
        },
        deleted={
            "limit": UNLIMITED,
            "proxy": "",
            "left out": "",
            "password": None,
            "to everybody": None,
            "unchecked": "127.0.0.0/8",
        },
    ),
]
