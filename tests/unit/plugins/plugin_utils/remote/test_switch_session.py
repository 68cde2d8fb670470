# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.eos.platform import Eos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.platform import Sonic
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote import switch_session


def action(connection, socket_path=None, **more):
    return SimpleNamespace(
        _connection=SimpleNamespace(transport="local", socket_path=socket_path, **more),
        _play_context=SimpleNamespace(connection=connection),
    )


@pytest.mark.parametrize(
    "platform, made, words",
    [
        (Eos(), action("ssh"), ("ansible_connection is ssh", "to ansible.netcommon.network_cli")),
        (Eos(), action(None), ("ansible_connection is local", "to ansible.netcommon.network_cli")),
        (Sonic(), action("network_cli", "/run/a"), ("ansible_connection is network_cli", "to ssh")),
    ],
    ids=["a shell for a command line", "no connection set", "a command line for a shell"],
)
def test_a_connection_of_the_wrong_kind_is_an_error_that_names_the_right_one(platform, made, words):
    with pytest.raises(OperatorError) as refused:
        switch_session.session_of(made, "leaf-01", platform)
    assert refused.value.failure == documented("wrong_connection", subject="leaf-01")
    assert all(word in refused.value.message for word in (platform.title, *words))
