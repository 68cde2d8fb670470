"""Ansible without its start: a process that has all imports forks playbooks, modules and connections in milliseconds.

A playbook of this project is hundreds of short processes. Each imports Ansible, pyVmomi and the collection again, which
is two thirds of the time of the tests. Here one server for each test process imports them once. Its forks run Ansible's
own code with the environment, the input and the output of the caller. The rehearsal and the gate `oldest-core` start
real processes.
"""
