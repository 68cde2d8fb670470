"""Outputs of DCGM and of GPUDirect Storage in the vendor's format: structure and words of published runs and of the
sources of the tools (DCGM 3.3 and 4.2, nvidia-fs 2.2x, gdscheck of CUDA 12), values made here."""

from __future__ import annotations

import json

PERSISTENCE = {
    "error_category": 8,
    "error_id": 29,
    "error_severity": 5,
    "warning": "Persistence Mode: Persistence mode for GPU 0 is disabled.",
}
MEMORY = {"error_category": 3, "error_id": 96, "error_severity": 2, "warning": "GPU 1: uncorrectable memory error."}


def result(gpu, status, *warnings):
    return {
        "entity_group": "GPU",
        "entity_group_id": 1,
        "entity_id": gpu,
        "status": status,
        **({"warnings": list(warnings)} if warnings else {}),
    }


def case(name, *results, status=None):
    return {"name": name, "results": list(results), **({"test_summary": {"status": status}} if status else {})}


def diag(*tests, gpus=2, before=""):
    """A document of DCGM 4; each of tests is of the category Deployment or Hardware."""
    categories = [
        {"category": "Deployment", "tests": [one for one in tests if one["name"] == "software"]},
        {"category": "Hardware", "tests": [one for one in tests if one["name"] != "software"]},
    ]
    entities = [{"device_id": "20b2", "entity_id": gpu, "serial_num": "15"} for gpu in range(gpus)]
    reported = {
        "DCGM Diagnostic": {"test_categories": [one for one in categories if one["tests"]]},
        "entity_groups": [{"entities": entities, "entity_group": "GPU", "entity_group_id": 1}],
        "metadata": {"Driver Version Detected": "550.54.15", "version": "4.2.3"},
    }
    return before + json.dumps(reported, indent=8)


SOFTWARE = case("software", result(0, "Pass"), result(1, "Pass"), status="Pass")
HEALTHY_DIAG = diag(SOFTWARE, case("memory", result(0, "Pass"), result(1, "Pass"), status="Pass"))
# DCGM 3: other names, the GPUs in one text, null between the tests, and a line before the document.
DIAG_3 = """\
WARNING: THIS SHOULD NOT HAPPEN
{
  "DCGM GPU Diagnostic" : {
    "Driver Version Detected" : "535.129.03",
    "test_categories" : [
      {
        "category" : "Deployment",
        "tests" : [
          {"name" : "Denylist", "results" : [{"gpu_ids" : "0,1", "status" : "Pass"}]},
          null,
          {"name" : "NVML Library", "results" : [{"gpu_ids" : "0,1", "status" : "Pass"}]}
        ]
      },
      {
        "category" : "Hardware",
        "tests" : [
          {
            "name" : "GPU Memory",
            "results" : [
              {"gpu_ids" : "0", "status" : "Pass"},
              {"gpu_ids" : "1", "status" : "Fail", "warnings" : ["Too many retired pages."]}
            ]
          }
        ]
      }
    ],
    "version" : "3.3.5"
  }
}
"""
NO_ENGINE = """\
Error: unable to establish a connection to the specified host: localhost
Error: Unable to connect to host engine. Host engine connection invalid/disconnected.
"""
HEALTH = """\
{
	"body" :
	{
		"Overall Health" :
		{
			"value" : "Healthy"
		}
	},
	"header" :
	[
		"Health Monitor Report"
	]
}
"""
UNHEALTHY = json.dumps(
    {
        "body": {
            "GPU": {
                "children": {
                    "1": {
                        "children": {
                            "Errors": {
                                "children": {
                                    "Memory system": {
                                        "overflow": ["A DBE has occurred on GPU 1.", "Drain the GPU."],
                                        "value": "Failure",
                                    }
                                }
                            }
                        },
                        "value": "Failure",
                    }
                }
            },
            "Overall Health": {"value": "Failure"},
        },
        "header": ["Health Monitor Report"],
    }
)
NO_WATCHES = "Error: Health watches not enabled. Please enable watches. \n"
GDSCHECK = """\
 GDS release version: 1.13.1.3
 nvidia_fs version:  2.24 libcufile version: 2.12
 Platform: x86_64
 ============
 ENVIRONMENT:
 ============
 =====================
 DRIVER CONFIGURATION:
 =====================
 NVMe P2PDMA        : Unsupported
 NVMe               : {nvme}
 NVMeOF             : Unsupported
 SCSI               : Unsupported
 NFS                : Unsupported
 USERSPACE RDMA     : Unsupported
 --Mellanox PeerDirect : Enabled
 --rdma library        : Not Loaded (libcufile_rdma.so)
 =====================
 CUFILE CONFIGURATION:
 =====================
 properties.use_compat_mode : true
 properties.force_compat_mode : {forced}
 properties.max_direct_io_size_kb : 16384
 =========
 GPU INFO:
 =========
 GPU index 0 NVIDIA H100 80GB HBM3 bar:1 bar size (MiB):131072 {gpu}, IOMMU State: Disabled
 ==============
 PLATFORM INFO:
 ==============
 IOMMU: disabled
 Nvidia Driver Info Status: Supported(Nvidia Open Driver Installed)
 Cuda Driver Version Installed:  12080
 Platform verification {platform}
"""
GDS_OK = GDSCHECK.format(nvme="Supported", forced="false", gpu="supports GDS", platform="succeeded")
GDSIO = (
    "IoType: READ XferType: {transfer} Threads: 1 DataSetSize: 17141760/10485760(KiB) IOSize: 1024(KiB) "
    "Throughput: 3.273450 GiB/sec, Avg_Latency: 298.328125 usecs ops: 16740 total_time 4.994130 secs\n"
)
STATS = """\
GDS Version: 1.13.1.3
NVFS statistics(ver: 4.0)
NVFS Driver(version: 2.24.2)
Mellanox PeerDirect Supported: True
IO stats: {counted}, peer IO stats: Disabled
Logging level: info

Active Shadow-Buffer (MiB): 0
Active Process: 0
Reads\t\t\t\t: {reads}err=0 io_state_err=0
Sparse Reads\t\t        : n=0 io=0 holes=0 pages=0
Writes\t\t\t\t: err=0 io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0
Mmap\t\t\t\t: n={maps} ok={maps} err=0 munmap={maps}
Bar1-map\t\t\t: n={maps} ok={maps} err=0 free={maps} callbacks=0 active=0 delay-frees=0
Error\t\t\t\t: cpu-gpu-pages=0 sg-ext=0 dma-map=0 dma-ref=0
Ops\t\t\t\t: Read=0 Write=0 BatchIO=0
"""


def stats(reads=None, maps=0):
    reported = "" if reads is None else f"n={reads} ok={reads} "
    return STATS.format(counted="Disabled" if reads is None else "Enabled", reads=reported, maps=maps)
