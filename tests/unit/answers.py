# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The part of AnsibleModule that the runner needs, and the answer with which it ends."""

from __future__ import annotations

import json


class Ended(Exception):
    """The module has left with this answer."""


class Module:
    """A module that raises its answer."""

    _diff = True

    def __init__(self, check_mode=True, params=None):
        self.check_mode = check_mode
        self.params = params or {}

    def warn(self, text):
        raise AssertionError(text)

    def exit_json(self, **answer):
        raise Ended(json.loads(json.dumps(answer)))

    def fail_json(self, **answer):
        self.exit_json(failed=True, **answer)
