"""The Redfish face of the hosts' BMCs: one HTTPS service per host, in the manner of its vendor."""
