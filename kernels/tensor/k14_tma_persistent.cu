// TMA again, with CTAs that stay: a warp of its own asks for the boxes of tile after tile, and never waits for a store.
//
// Change: one CTA per SM and many tiles each; a producer warp; C leaves from its own staging while the next tile comes.
// Limit:  mma.sync: every operand still goes through registers.
// Needs:  sm_90a (setmaxnreg); rows of A, B and C are multiples of 16 bytes. A (M, K), B (K, N), C (M, N) row-major,
//         bf16 or fp16.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"
#include "tile/store_box.cuh"
#include "tile/tile_order.cuh"
#include "tile/tma_ring.cuh"

constexpr int BM = 256, BN = 128, BK = 64, STAGES = 3, WM = 64;
constexpr int WARPS = BM / WM * (BN / 64);  // that multiply

using Stages = TmaRing<BM, BN, BK, STAGES>;

struct Shared {
    Stages ring;
    alignas(1024) T c[WARPS][WM][64];
};

extern "C" __global__ void __launch_bounds__(32 * WARPS + 128, 1)
    tma_persistent(const __grid_constant__ CUtensorMap A,
                   const __grid_constant__ CUtensorMap B,
                   const __grid_constant__ CUtensorMap C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char raw[];
    Shared& s = *reinterpret_cast<Shared*>(raw);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // NOTE: uniform
    const int lane = threadIdx.x % 32, steps = (K + BK - 1) / BK;
    const int rows = (M + BM - 1) / BM, columns = (N + BN - 1) / BN;
    const int tiles = rows * columns;
    Ring<STAGES> at;

    if (threadIdx.x == 0) s.ring.init(WARPS);
    __syncthreads();

    if (warp >= WARPS) {  // one thread asks; four warps give registers back
        setmaxnreg_dec<40>();
        if (warp > WARPS || !elect_sync()) return;
        for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
            const Tile tile = grouped_tile<8>(t, rows, columns);
            for (int k0 = 0; k0 < K; k0 += BK, at.advance())
                s.ring.produce(at, A, B, tile.m * BM, tile.n * BN, k0);
        }
        return;
    }

    setmaxnreg_inc<232>();
    const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
    WarpTile<BK, WM> work(wm, sizeof(Stages::Stage::a) + box * 128 * BK, lane);
    s.ring.start(at, work);
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const bool last = t + gridDim.x >= tiles;
        work.clear();
        for (int step = 0; step < steps; ++step) {
            const Ring<STAGES> now = at;
            at.advance();
            s.ring.consume(now, at, work, lane, !last || step + 1 < steps, [] {});
        }
        const Tile tile = grouped_tile<8>(t, rows, columns);
        if (lane == 0) cp_async_bulk_wait_group_read<0>();  // of the tile before
        __syncwarp();
        store_box(work, s.c[warp], &C, tile.m * BM + wm, tile.n * BN + 64 * box,
                  lane);
    }
    if (lane == 0) cp_async_bulk_wait_group_read<0>();
}
// endregion
