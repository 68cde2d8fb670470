from __future__ import annotations

from ..contract import GuestLook

SAID = """#!/bin/sh
cat <<END
Horovod v0.28.1:

Available Frameworks:
    [ ] TensorFlow
    [X] PyTorch
    [ ] MXNet

Available Controllers:
    [X] MPI
    [ ] Gloo

Available Tensor Operations:
    [ ] NCCL
    [X] MPI
END
"""
PROGRAM = {"dest": "/usr/local/bin/horovodrun", "content": SAID, "mode": "0755"}

LOOKS = [
    GuestLook(
        module="horovod_build_info",
        name="Horovod of the system",
        before=({"name": "Horovod is there", "ansible.builtin.copy": PROGRAM},),
        params={"frameworks": ["pytorch"], "controllers": ["mpi"]},
        reported=lambda answer: answer["build"],
        reports={"version": "0.28.1", "frameworks": ["pytorch"], "controllers": ["mpi"], "operations": ["mpi"]},
    ),
]
