"""The controllers of a cluster: scheduler, kubelets, jobs, and the operators of GPUs, networks and trainings."""
