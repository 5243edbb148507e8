"""What generated code and the machine agree on: the launch's table, the lane tables and the address windows."""

# Fields of the int64 table that every native function gets. Most are host addresses of arrays in ptxemu/state.py.
CTX = {
    name: i
    for i, name in enumerate(
        (
            "registers",
            "global_delta",
            "lane_shared",
            "shared_size",
            "local",
            "taken",
            "seen",
            "same",
            "cache",
            "params",
            "allocations",
            "n_allocations",
            "faults",
            "n_faults",
            "pad",
            "lane_special",
            "launch",
            "clock",
            "index",
            "guards",
            "shared_pitch",
        )
    )
}
LANE_SPECIAL = (
    "tid.x",
    "tid.y",
    "tid.z",
    "ctaid.x",
    "ctaid.y",
    "ctaid.z",
    "tid.w",
    "ctaid.w",
    "smid",
    "cluster_ctaid.x",
    "cluster_ctaid.y",
    "cluster_ctaid.z",
    "clusterid.x",
    "clusterid.y",
    "clusterid.z",
    "cluster_ctarank",
    "tid.linear",
)  # int32 rows
LAUNCH_SPECIAL = (
    "ntid.x",
    "ntid.y",
    "ntid.z",
    "nctaid.x",
    "nctaid.y",
    "nctaid.z",
    "nsmid",
    "dynamic_smem_size",
    "total_smem_size",
    "nwarpid",
    "cluster_nctaid.x",
    "cluster_nctaid.y",
    "cluster_nctaid.z",
    "nclusterid.x",
    "nclusterid.y",
    "nclusterid.z",
    "cluster_nctarank",
)
SEEN_LANES = 4096  # lanes that one call may run when addresses are recorded
MAX_FAULTS = 4096

SHARED_WINDOW = 0x0100_0000_0000  # generic addresses of shared memory
LOCAL_WINDOW = 0x0200_0000_0000
GLOBAL_BASE = 0x7F00_0000_0000
WINDOW_SIZE = 1 << 24
CLUSTER_SPAN = 17 * WINDOW_SIZE  # of shared memory with that of 16 CTAs of a cluster
