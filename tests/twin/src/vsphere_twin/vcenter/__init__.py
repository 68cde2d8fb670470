"""The SOAP face of the vCenter Server."""
