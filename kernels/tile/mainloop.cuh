// The two halves of a Hopper main loop: a producer thread that fills a ring of stages by TMA, and consumer warpgroups that
// multiply them. CLUSTER CTAs, one above the other in C, share B: each brings a part of it for all. Where they stand side by
// side (ACROSS), they share A. ONCE: no later tile reads the same bytes, so L2 may drop them first.
#pragma once
#include "ptx/cache_policy.cuh"
#include "ptx/cluster.cuh"
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/warpgroup.cuh"

template <int BM, int BN, int STAGES, int CLUSTER, bool ACROSS = false, bool ONCE = false>
struct Stages {
  static constexpr int DEPTH = STAGES;
  struct alignas(1024) Stage {
    T a[BM * BK], b[(BN + 63) / 64 * 64 * BK];  // whole boxes of 64 columns
  } stage[STAGES];
  mbarrier_t full[STAGES], empty[STAGES];

  // One thread; then the cluster needs a barrier. `warps`: consumer warps of one CTA that use each stage.
  __device__ __forceinline__ void init(int warps) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&full[i], 1);
      mbarrier_init(&empty[i], warps * CLUSTER);  // those of every CTA that gets this CTA's copies
    }
    fence_mbarrier_init();
  }

  // One thread: bring k steps begin, begin + by, ... below end, of rows m.. of A and columns n.. of B.
  __device__ __forceinline__ void produce(Ring<STAGES>& ring, const CUtensorMap& A, const CUtensorMap& B, int m, int n,
                                          int begin, int end, int rank, int by = 1) {
    static_assert(BN % 64 == 0, "the last box of B has fewer columns: give its map");
    produce(ring, A, B, B, m, n, n + (BN / 64 - 1) * 64, begin, end, rank, by);
  }

  // The same where BN is no multiple of 64. `edge`: B in boxes of BN % 64 columns, the last of each tile, from column
  // n_edge on; in shared memory its rows take 128 bytes too.
  __device__ __forceinline__ void produce(Ring<STAGES>& ring, const CUtensorMap& A, const CUtensorMap& B,
                                          const CUtensorMap& edge, int m, int n, int n_edge, int begin, int end,
                                          int rank, int by = 1) {
    constexpr bool SHARE_A = CLUSTER > 1 && ACROSS, SHARE_B = CLUSTER > 1 && !ACROSS;
    constexpr int BOXES = (BN + 63) / 64, EACH = SHARE_B ? (BOXES + CLUSTER - 1) / CLUSTER : BOXES;
    int row = SHARE_A ? rank * (BM / CLUSTER) : 0;
    for (int k = begin * BK; k < end * BK; k += by * BK, ring.advance()) {
      Stage& s = stage[ring.stage];
      mbarrier_t* bar = &full[ring.stage];
      mbarrier_wait_parity(&empty[ring.stage], ring.parity ^ 1);
      mbarrier_arrive_expect_tx(bar, (BM + BN) * BK * sizeof(T));
      bring<SHARE_A>(s.a + row * BK, &A, k, m + row, bar);
#pragma unroll
      for (int i = 0; i < EACH; ++i) {
        int box = SHARE_B ? i * CLUSTER + rank : i;
        if (SHARE_B && BOXES % CLUSTER && box >= BOXES) break;
        bool last = box == BOXES - 1;
        bring<SHARE_B>(s.b + box * 64 * BK, BN % 64 && last ? &edge : &B, last ? n_edge : n + box * 64, k, bar);
      }
    }
  }

  // A box for this CTA or, if SHARED, for every CTA of the cluster.
  template <bool SHARED>
  static __device__ __forceinline__ void bring(T* to, const CUtensorMap* map, int x, int y, mbarrier_t* bar) {
    constexpr unsigned short ALL = (1 << CLUSTER) - 1;
    if constexpr (SHARED && ONCE)
      tma_load_2d_multicast(to, map, x, y, bar, ALL, policy_evict_first());
    else if constexpr (SHARED)
      tma_load_2d_multicast(to, map, x, y, bar, ALL);
    else if constexpr (ONCE)
      tma_load_2d(to, map, x, y, bar, policy_evict_first());
    else
      tma_load_2d(to, map, x, y, bar);
  }
};

// A consumer warpgroup's view: descriptors of its rows of A and of B in stage 0, and where its warps release stages.
struct Consumer {
  wgmma_desc_t a, b;
  unsigned release;
};

template <int CLUSTER, class S>
__device__ __forceinline__ Consumer consumer_of(S& s, int row) {
  int told = CLUSTER > 1 ? threadIdx.x % 32 % CLUSTER : cluster_ctarank();  // lane i tells CTA i; alone, itself
  return {rows_of_a(s.stage[0].a + row * BK), boxes_of_b(s.stage[0].b), mapa_shared_cluster(s.empty, told)};
}

// acc = the sum over `steps` stages. One group of multiplies stays in flight; the stage before it is released.
template <int BN, int CLUSTER, class S, int MT>
__device__ __forceinline__ void consume(S& s, Ring<S::DEPTH>& ring, const Consumer& my, float (&acc)[MT][BN / 2],
                                        int steps) {
  int lane = threadIdx.x % 32, before = 0;
  for (int i = 0; i < steps; ++i, ring.advance()) {
    unsigned offset = ring.stage * (sizeof(typename S::Stage) / 16);
    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
    multiply_stage<BN>(acc, my.a + offset, my.b + offset, i == 0);
    if (i > 0) {
      wgmma_wait_group<1>();
      __syncwarp();
      if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(my.release + before * sizeof(mbarrier_t));
    }
    before = ring.stage;
  }
}

// The end of `consume`: wait for the last multiplies and release their stage, the one before the ring's.
template <int CLUSTER, class S, int MT, int R>
__device__ __forceinline__ void finish(S& s, const Ring<S::DEPTH>& ring, const Consumer& my, float (&acc)[MT][R]) {
  int lane = threadIdx.x % 32, last = (ring.stage + S::DEPTH - 1) % S::DEPTH;
  for (auto& part : acc) wgmma_wait_group<0>(part);
  __syncwarp();
  if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(my.release + last * sizeof(mbarrier_t));
}
