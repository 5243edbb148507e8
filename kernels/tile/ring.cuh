// Where a thread stands in a ring of stages: the stage, and the parity of the round (0 in the first).
#pragma once

template <int STAGES>
struct Ring {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};
