#pragma once
// The ring of k14_tma.cu, which spells it out, for the kernels after it: TMA fills stages, warps of mma.sync use them.
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/warp_tile.cuh"

// Stages of BM x BK of A and BK x BN of B; starts at a multiple of 1024 bytes.
template <int BM, int BN, int BK, int STAGES>
struct TmaRing {
    struct Stage {
        T a[BM][BK], b[BN / 64][BK][64];  // B as boxes of 64 columns
    } stage[STAGES];
    mbarrier_t full[STAGES], empty[STAGES];

    // Where step number `step` stands in the ring.
    static __device__ __forceinline__ Ring<STAGES> at(int step) { return {step % STAGES, step / STAGES % 2u}; }

    // One thread; then the CTA needs a barrier. `warps`: how many use each stage.
    __device__ __forceinline__ void init(int warps) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&full[i], 1);  // the producer's arrival, and bytes
            mbarrier_init(&empty[i], warps);
        }
        fence_mbarrier_init();
    }

    // One thread: once the stage at `to` is empty, ask for the tiles at (m, k) of A and (k, n) of B.
    __device__ __forceinline__ void produce(Ring<STAGES> to, const CUtensorMap& A, const CUtensorMap& B, int m, int n,
                                            int k) {
        mbarrier_t* bar = &full[to.stage];
        mbarrier_wait_parity(&empty[to.stage], to.parity ^ 1);
        fence_proxy_async_shared();  // ldmatrix before, copies after
        mbarrier_arrive_expect_tx(bar, sizeof(Stage));
        tma_load_2d(stage[to.stage].a, &A, k, m, bar);
        for (int j = 0; j < BN / 64; ++j) tma_load_2d(stage[to.stage].b[j], &B, n + 64 * j, k, bar);
    }

    // A warp: wait for the stage at `from` and fetch its first fragments.
    template <int WM>
    __device__ __forceinline__ void start(Ring<STAGES> from, WarpTile<BK, WM>& work) {
        mbarrier_wait_parity(&full[from.stage], from.parity);
        work.fetch(0, shared_address(&stage[from.stage]), 0);
    }

    // A warp: multiply the stage at `now` after `start`, and release it; start `next` if there is `more`. Before the
    // middle one of the steps of k it calls `halfway`.
    template <int WM, class F>
    __device__ __forceinline__ void consume(Ring<STAGES> now, Ring<STAGES> next, WarpTile<BK, WM>& work, int lane,
                                            bool more, F halfway) {
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {  // fragments come one k ahead
            if (k + 1 < BK / 16)
                work.fetch((k + 1) % 2, shared_address(&stage[now.stage]), k + 1);
            else if (more)
                start(next, work);
            if (k == BK / 32) halfway();
            work.multiply(k % 2);
        }
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&empty[now.stage]);
    }
};
