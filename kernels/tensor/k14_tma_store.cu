// The TMA kernel, with C on the same way back: through shared memory, as boxes.
//
// Change: the epilogue: each warp writes its box to the ring's bytes, and one lane stores it. The rest is k14_tma.cu.
// Limit:  mma.sync: every operand still goes through registers.
// Needs:  sm_90; rows of A, B and C are multiples of 16 bytes. A (M, K), B (K, N), C (M, N) row-major, bf16 or fp16.
// region: kernel
#include "tile/store_box.cuh"
#include "tile/tile_order.cuh"
#include "tile/tma_ring.cuh"

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4, WM = 64;
constexpr int WARPS = BM / WM * (BN / 64);
using Stages = TmaRing<BM, BN, BK, STAGES>;

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    tma_store(const __grid_constant__ CUtensorMap A,
              const __grid_constant__ CUtensorMap B,
              const __grid_constant__ CUtensorMap C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char raw[];
    Stages& ring = *reinterpret_cast<Stages*>(raw);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int steps = (K + BK - 1) / BK, rows = (M + BM - 1) / BM;
    const Tile tile = grouped_tile<8>(blockIdx.x, rows, (N + BN - 1) / BN);
    const int m0 = tile.m * BM, n0 = tile.n * BN;

    if (threadIdx.x == 0) ring.init(WARPS);
    __syncthreads();
    auto produce = [&](int step) {
        ring.produce(ring.at(step), A, B, m0, n0, step * BK);
    };
    for (int step = 0; step < min(steps, STAGES - 1); ++step)
        if (threadIdx.x == 0) produce(step);

    const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
    WarpTile<BK, WM> work(wm, sizeof(Stages::Stage::a) + box * 128 * BK, lane);
    ring.start(ring.at(0), work);
    for (int step = 0; step < steps; ++step) {
        auto ask = [&] {  // another warp's lane 0 each time
            const int ahead = step + STAGES - 1;
            if (ahead < steps && warp == step % WARPS && lane == 0) produce(ahead);
        };
        ring.consume(ring.at(step), ring.at(step + 1), work, lane,
                     step + 1 < steps, ask);
    }
    __syncthreads();  // no warp reads the ring any more
    store_box(work, raw + warp * 128 * WM, &C, m0 + wm, n0 + 64 * box, lane);
    if (lane == 0) cp_async_bulk_wait_group_read<0>();
}
// endregion
