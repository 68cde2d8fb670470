"""esxcli on the command line."""

from __future__ import annotations

from vsphere_twin.esxcli import commandline

from ..interpreter import Output, program


@program("esxcli", "localcli")
def esxcli(shell, argv, stdin):
    text, rc = commandline.main(shell.world, shell.host, argv[1:])
    return Output(text, rc)
