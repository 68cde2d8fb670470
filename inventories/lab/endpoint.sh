#!/usr/bin/env bash
# The variables of the lab that runs, from what it writes down when it starts. `make twin` uses .build/lab; AIREADY_LAB names another.
# An inventory of its own, since Ansible works a variable with a lookup out anew wherever it is used.
set -euo pipefail
lab="${AIREADY_LAB:-$(dirname "$(realpath "$0")")/../../.build/lab}"
if ! endpoint="$(cat "$lab/endpoint.json")"; then
	echo "No lab runs with $lab as its folder. \`make twin\` starts one." >&2
	exit 1
fi
printf '{"all": {"vars": {"lab_dir": "%s", "lab_endpoint": %s}}, "_meta": {"hostvars": {}}}\n' "$(realpath "$lab")" "$endpoint"
