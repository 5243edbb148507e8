// TMA again, with CTAs that stay: a warp of its own asks for the boxes of tile after tile, and never waits for a store.
//
// Change: one CTA per SM and many tiles each; a producer warp; C leaves from staging of its own while the next tile comes.
// Limit:  mma.sync: every operand still goes through registers.
// Needs:  sm_90a (setmaxnreg); rows of A, B and C are multiples of 16 bytes. A (M, K), B (K, N), C (M, N) row-major, bf16
//         or fp16.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/registers.cuh"
#include "tile/ring.cuh"
#include "tile/store_box.cuh"
#include "tile/tile_order.cuh"

constexpr int BM = 256, BN = 128, BK = 64, STAGES = 3, WM = 64;
constexpr int WARPS = BM / WM * (BN / 64);  // that multiply

struct Stage {
    T a[BM][BK], b[BN / 64][BK][64];  // B as boxes of 64 columns
};
struct Shared {
    Stage stage[STAGES];
    T c[WARPS][WM][64];
    mbarrier_t full[STAGES], empty[STAGES];
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
    auto tile_of = [&](int t) { return grouped_tile<8>(t, rows, columns); };
    Ring<STAGES> ring;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&s.full[i], 1);  // the producer's arrival, and bytes
            mbarrier_init(&s.empty[i], WARPS);  // an arrival of each warp
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    if (warp >= WARPS) {  // one thread asks; four warps give registers back
        setmaxnreg_dec<40>();
        if (warp > WARPS || !elect_sync()) return;
        for (int t = blockIdx.x; t < rows * columns; t += gridDim.x) {
            const Tile tile = tile_of(t);
            for (int k0 = 0; k0 < K; k0 += BK, ring.advance()) {
                Stage& to = s.stage[ring.stage];
                mbarrier_t* full = &s.full[ring.stage];
                mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
                fence_proxy_async_shared();  // ldmatrix before, copies after
                mbarrier_arrive_expect_tx(full, sizeof(Stage));
                tma_load_2d(to.a, &A, k0, tile.m * BM, full);
                for (int j = 0; j < BN / 64; ++j)
                    tma_load_2d(to.b[j], &B, tile.n * BN + 64 * j, k0, full);
            }
        }
        return;
    }

    setmaxnreg_inc<232>();
    const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
    WarpTile<BK, WM> work(wm, sizeof(Stage::a) + box * 128 * BK, lane);
    mbarrier_wait_parity(&s.full[0], 0);
    work.fetch(0, shared_address(&s.stage[0]), 0);
    for (int t = blockIdx.x; t < rows * columns; t += gridDim.x) {
        const bool last = t + gridDim.x >= rows * columns;
        work.clear();
        for (int step = 0; step < steps; ++step) {
            const int now = ring.stage;
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) {  // fragments come one k ahead
                if (k + 1 < BK / 16) {
                    work.fetch((k + 1) % 2, shared_address(&s.stage[now]), k + 1);
                } else if (ring.advance(); !last || step + 1 < steps) {
                    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
                    work.fetch(0, shared_address(&s.stage[ring.stage]), 0);
                }
                work.multiply(k % 2);
            }
            __syncwarp();
            if (lane == 0) mbarrier_arrive(&s.empty[now]);
        }
        const Tile tile = tile_of(t);
        if (lane == 0) cp_async_bulk_wait_group_read<0>();  // of the tile before
        __syncwarp();
        store_box(work, s.c[warp], &C, tile.m * BM + wm, tile.n * BN + 64 * box,
                  lane);
    }
    if (lane == 0) cp_async_bulk_wait_group_read<0>();
}
// endregion
