# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The settings of notification templates, as AWX 24.6.1 checks and completes them. Pure.

AWX rejects a template without a setting, and adds its defaults, which the modules would then report as a difference.
[sure] awx/main/notifications, init_parameters
"""

from __future__ import annotations

from typing import Any

_TEXT, _NUMBER, _BOOLEAN = (str, "a text"), (int, "a number"), (bool, "true or false")
_LIST, _DICT = (list, "a list"), (dict, "a dictionary")
# Type -> {setting: (kind, neutral value)}. A setting without such a value is required.
_SETTINGS: dict[str, dict[str, tuple[Any, ...]]] = {
    "awssns": {
        "aws_region": (_TEXT, ""),
        "aws_access_key_id": (_TEXT, ""),
        "aws_secret_access_key": (_TEXT, ""),
        "aws_session_token": (_TEXT, ""),
        "sns_topic_arn": (_TEXT, ""),
    },
    "email": {
        "host": (_TEXT,),
        "port": (_NUMBER,),
        "sender": (_TEXT,),
        "recipients": (_LIST,),
        "username": (_TEXT, ""),
        "password": (_TEXT, ""),
        "use_tls": (_BOOLEAN, False),
        "use_ssl": (_BOOLEAN, False),
        "timeout": (_NUMBER, 30),
    },
    "grafana": {"grafana_url": (_TEXT,), "grafana_key": (_TEXT,)},
    "irc": {
        "server": (_TEXT,),
        "port": (_NUMBER,),
        "nickname": (_TEXT,),
        "targets": (_LIST,),
        "password": (_TEXT, ""),
        "use_ssl": (_BOOLEAN, False),
    },
    "mattermost": {"mattermost_url": (_TEXT,), "mattermost_no_verify_ssl": (_BOOLEAN, False)},
    "pagerduty": {"subdomain": (_TEXT,), "token": (_TEXT,), "service_key": (_TEXT,), "client_name": (_TEXT,)},
    "rocketchat": {"rocketchat_url": (_TEXT,), "rocketchat_no_verify_ssl": (_BOOLEAN, False)},
    "slack": {"token": (_TEXT,), "channels": (_LIST,)},
    "twilio": {"account_sid": (_TEXT,), "account_token": (_TEXT,), "from_number": (_TEXT,), "to_numbers": (_LIST,)},
    "webhook": {
        "url": (_TEXT,),
        "headers": (_DICT, {}),
        "http_method": (_TEXT, "POST"),
        "username": (_TEXT, ""),
        "password": (_TEXT, ""),
        "disable_ssl_verification": (_BOOLEAN, False),
    },
}


def configuration(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a type, with a neutral value for each that is not given."""
    neutral = {name: rest[0] for name, (_kind, *rest) in _SETTINGS[kind].items() if rest}
    return {**neutral, **given}


def problems(name: str, kind: str, given: dict[str, Any]) -> list[str]:
    """Cause and fix of each setting that AWX rejects. No text has a value, because it can be a secret."""
    found = []
    of = f"the notification template {name}"
    for setting, ((python, words), *neutral) in _SETTINGS[kind].items():
        if setting not in given:
            if not neutral:
                found.append(f"The configuration of {of} has no {setting}. Add it: {words}.")
        elif not is_a(given[setting], python):
            found.append(f"The setting {setting} of {of} is not {words}. Correct its configuration.")
        elif python is list and not given[setting]:
            found.append(f"The list {setting} of {of} is empty. Add an entry.")
        elif setting == "http_method" and given[setting].upper() not in ("POST", "PUT"):
            found.append(f"The setting http_method of {of} must be POST or PUT. Correct its configuration.")
    return found


def is_a(value: Any, python: type) -> bool:
    """Whether AWX accepts the type. An encrypted text of older releases of Ansible is no text of Python."""
    if python is str:
        return value is not None and not isinstance(value, (int, float, list, dict))
    return isinstance(value, python) and not (python is int and isinstance(value, bool))
