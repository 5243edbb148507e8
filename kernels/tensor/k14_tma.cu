// TMA, mbarriers, ldmatrix and mma.sync: nobody computes addresses in global memory any more.
//
// Change: one thread asks for boxes by coordinate; mbarriers tell full stages from empty ones. All of it is spelled out
//         here; the kernels after it take the same ring from tile/tma_ring.cuh.
// Limit:  mma.sync: every operand still goes through registers.
// Needs:  sm_90; rows of A and B are multiples of 16 bytes. A (M, K), B (K, N), C (M, N) row-major, bf16 or fp16.
#ifndef BK
#define BK 64
#define STAGES 4
#endif
#ifndef PRODUCER
#define PRODUCER step % WARPS
#endif
// region: kernel
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/tile_order.cuh"
#include "tile/warp_tile.cuh"

constexpr int BM = 128, BN = 256, WM = 64, WARPS = BM / WM * (BN / 64);

struct Stage {
    T a[BM][BK], b[BN / 64][BK][64];  // B as boxes of 64 columns
};
struct Shared {
    Stage stage[STAGES];
    mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    tma(const __grid_constant__ CUtensorMap A,
        const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char raw[];
    Shared& s = *reinterpret_cast<Shared*>(raw);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int steps = (K + BK - 1) / BK, rows = (M + BM - 1) / BM;
    const Tile tile = grouped_tile<8>(blockIdx.x, rows, (N + BN - 1) / BN);
    const int m0 = tile.m * BM, n0 = tile.n * BN;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&s.full[i], 1);  // the producer's arrival, and bytes
            mbarrier_init(&s.empty[i], WARPS);  // an arrival of each warp
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    auto produce = [&](int step) {  // one thread fills this step's stage
        const int i = step % STAGES, turn = step / STAGES, k0 = step * BK;
        // NOTE: a new barrier lets parity 1 pass: the phase before is over.
        mbarrier_wait_parity(&s.empty[i], turn % 2 ^ 1);
        fence_proxy_async_shared();  // ldmatrix before, copies after
        mbarrier_arrive_expect_tx(&s.full[i], sizeof(Stage));
        tma_load_2d(s.stage[i].a, &A, k0, m0, &s.full[i]);
        for (int j = 0; j < BN / 64; ++j)
            tma_load_2d(s.stage[i].b[j], &B, n0 + 64 * j, k0, &s.full[i]);
    };
    for (int step = 0; step < min(steps, STAGES - 1); ++step)
        if (threadIdx.x == 0) produce(step);

    const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
    WarpTile<BK, WM> work(wm, sizeof(Stage::a) + box * 128 * BK, lane);
    mbarrier_wait_parity(&s.full[0], 0);
    work.fetch(0, shared_address(&s.stage[0]), 0);
    for (int step = 0; step < steps; ++step) {
        const int i = step % STAGES, next = (step + 1) % STAGES;
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {  // fragments come one k ahead
            if (k + 1 < BK / 16) {
                work.fetch((k + 1) % 2, shared_address(&s.stage[i]), k + 1);
            } else if (step + 1 < steps) {
                mbarrier_wait_parity(&s.full[next], (step + 1) / STAGES % 2);
                work.fetch(0, shared_address(&s.stage[next]), 0);
            }
            const bool due = k == BK / 32 && step + STAGES - 1 < steps;
            if (due && warp == PRODUCER && lane == 0)
                produce(step + STAGES - 1);
            work.multiply(k % 2);
        }
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&s.empty[i]);
    }
    work.store(C, M, N, m0 + wm, n0 + 64 * box, lane);
}
// endregion
