// Correct kernels: the emulator must report nothing on any of them, under every schedule.

extern "C" __global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
    Bs[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc += As[y][k] * Bs[k][x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

extern "C" __global__ void tiled_two_buffers(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][16][16], Bs[2][16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float acc = 0;
  for (int k0 = 0, stage = 0; k0 < K; k0 += 16, stage ^= 1) {
    As[stage][y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
    Bs[stage][y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc += As[stage][y][k] * Bs[stage][k][x];
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

extern "C" __global__ void register_tile(const float* A, const float* B, float* C, int N, int K) {
  __shared__ float As[8][36], Bs[8][36];
  int t = threadIdx.x, tx = t & 7, ty = t >> 3;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = t; i < 256; i += 64) {
      As[i & 7][i >> 3] = A[(blockIdx.y * 32 + (i >> 3)) * K + k0 + (i & 7)];
      Bs[i >> 5][i & 31] = B[(k0 + (i >> 5)) * N + blockIdx.x * 32 + (i & 31)];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
      float4 a = *(float4*)&As[k][4 * ty], b = *(float4*)&Bs[k][4 * tx];
      float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) C[(blockIdx.y * 32 + 4 * ty + i) * N + blockIdx.x * 32 + 4 * tx + j] = acc[i][j];
}

extern "C" __global__ void shuffle_reduction(const float* a, float* out) {
  float v = a[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

extern "C" __global__ void block_reduction(const float* a, float* out) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float v = a[blockIdx.x * 256 + t];
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
  if ((t & 31) == 0) part[t >> 5] = v;
  __syncthreads();
  if (t < 8) {
    v = part[t];
    for (int d = 4; d; d >>= 1) v += __shfl_down_sync(0xff, v, d);
    if (t == 0) out[blockIdx.x] = v;
  }
}

extern "C" __global__ void tree_reduction(const float* a, float* out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = a[t];
  for (int d = 64; d; d >>= 1) {
    __syncthreads();
    if (t < d) s[t] += s[t + d];
  }
  if (t == 0) out[0] = s[0];
}

extern "C" __global__ void warp_reduction_with_syncwarp(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, lane = t & 31, base = t & 32;
  s[t] = a[t];
  __syncwarp();
  for (int d = 16; d; d >>= 1) {
    float v = lane < d ? s[base + lane + d] : 0.0f;
    __syncwarp();
    if (lane < d) s[base + lane] += v;
    __syncwarp();
  }
  if (lane == 0) out[t >> 5] = s[base];
}

extern "C" __global__ void half_syncwarp(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = t;
  __syncwarp(mask);
  out[t] = s[t ^ 8];
}

extern "C" __global__ void scan(const int* a, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[t] = s[t];
}

extern "C" __global__ void scan_ping_pong(const int* a, int* out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, from = 0;
  s[0][t] = a[t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
    from ^= 1;
  }
  out[t] = s[from][t];
}

extern "C" __global__ void named_producer_consumer(int* out, int rounds) {
  __shared__ int s[2][32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < rounds; ++i) {
      if (i >= 2) asm volatile("bar.sync %0, 64;" ::"r"(3 + (i & 1)) : "memory");
      s[i & 1][t] = 100 * i + t;
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + (i & 1)) : "memory");
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + (i & 1)) : "memory");
      out[i * 32 + t - 32] = s[i & 1][63 - t];
      if (i + 2 < rounds) asm volatile("bar.arrive %0, 64;" ::"r"(3 + (i & 1)) : "memory");
    }
  }
}

extern "C" __global__ void two_named_barriers(int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
  asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
  int v = s[t ^ 63];
  __syncthreads();
  s[t] = v;
  asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
  out[t] = s[t ^ 1];
}

extern "C" __global__ void barrier_count(const int* a, int* out) {
  int t = threadIdx.x;
  int n = __syncthreads_count(a[t] > 0), all = __syncthreads_and(a[t] > -1000), any = __syncthreads_or(a[t] > 1000);
  out[t] = n + 1000 * all + 10000 * any;
}

extern "C" __global__ void shared_histogram(const int* keys, int* bins) {
  __shared__ int s[16];
  int t = threadIdx.x;
  if (t < 16) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[keys[blockIdx.x * 64 + t] & 15], 1);
  __syncthreads();
  if (t < 16) atomicAdd(&bins[t], s[t]);
}

extern "C" __global__ void global_atomics(float* sum, int* most, unsigned* count) {
  atomicAdd(sum, 1.0f);
  atomicMax(most, (int)(blockIdx.x * blockDim.x + threadIdx.x));
  atomicInc(count, 0xffffffffu);
}

extern "C" __global__ void last_block(const float* a, float* part, unsigned* ticket, float* out) {
  __shared__ float s[32];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * 32 + t];
  __syncwarp();
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += s[i];
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float v = t < gridDim.x ? part[t] : 0.0f;
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if (t == 0) {
      *out = v;
      *ticket = 0;  // ready for the next launch: its own atomic came after every other block's
    }
  }
}

extern "C" __global__ void last_block_all_threads(float* part, unsigned* ticket, float* out) {
  __shared__ unsigned mine;
  int t = threadIdx.x;
  part[blockIdx.x * 64 + t] = t;
  __threadfence();
  __syncthreads();
  if (t == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  if (mine == gridDim.x - 1) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b * 64 + t];
    out[t] = sum;
  }
}

extern "C" __global__ void flag_spin(volatile int* flag, int* data, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 3 * t;
    __syncthreads();
    if (t == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    if (t == 0) {
      while (*flag == 0) {}
      __threadfence();
    }
    __syncthreads();
    out[(blockIdx.x - 1) * 64 + t] = data[63 - t];
  }
}

extern "C" __global__ void flag_acquire_release(int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    int f;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(f) : "l"(flag) : "memory");
    while (f == 0);
    *out = *data;
  }
}

extern "C" __global__ void split_k_turns(const float* A, const float* B, float* C, int* turn) {
  int n = threadIdx.x, m = threadIdx.y, first = n + m == 0;
  float acc = 0;
  for (int k = blockIdx.x * 16; k < blockIdx.x * 16 + 16; ++k) acc += A[m * 64 + k] * B[k * 16 + n];
  if (first) while (atomicAdd(turn, 0) != blockIdx.x) {}
  __syncthreads();
  C[m * 16 + n] += acc;
  __threadfence();
  __syncthreads();
  if (first) atomicAdd(turn, 1);
}

extern "C" __global__ void stream_k_fixup(float* partial, int* ready, float* C) {
  int t = threadIdx.x;
  float mine = blockIdx.x + 1;
  if (blockIdx.x > 0) {
    partial[blockIdx.x * 64 + t] = mine;
    __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicExch(&ready[blockIdx.x], 1);
    }
  } else {
    for (int b = 1; b < gridDim.x; ++b) {
      if (t == 0) while (atomicAdd(&ready[b], 0) == 0) {}
      __syncthreads();
      mine += partial[b * 64 + t];
    }
    C[t] = mine;
  }
}

extern "C" __global__ void grid_barrier(unsigned* arrived, int* data, int* out) {
  int t = threadIdx.x;
  data[blockIdx.x * 32 + t] = t + blockIdx.x;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 32 + t] = data[((blockIdx.x + 1) % gridDim.x) * 32 + 31 - t];
}

extern "C" __global__ void lock(int* mutex, int* value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) {}
    __threadfence();
    *value = *value + 1;
    __threadfence();
    atomicExch(mutex, 0);
  }
}

extern "C" __global__ void return_before_nothing(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = i;
}

extern "C" __global__ void transpose_padded(const float* a, float* out) {
  __shared__ float s[32][33];
  int x = threadIdx.x, y = threadIdx.y;
  for (int i = y; i < 32; i += 8) s[i][x] = a[i * 32 + x];
  __syncthreads();
  for (int i = y; i < 32; i += 8) out[i * 32 + x] = s[x][i];
}

extern "C" __global__ void buffer_reused_after_barrier(const float* a, float* out) {
  __shared__ __align__(16) char buffer[256];
  float* f = (float*)buffer;
  int t = threadIdx.x;
  f[t] = a[t];
  __syncthreads();
  float v = f[63 - t];
  __syncthreads();
  short* h = (short*)buffer;
  h[t] = t;
  h[t + 64] = -t;
  __syncthreads();
  out[t] = v + h[127 - t];
}

extern "C" __global__ void grid_stride(const float4* a, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = a[i];
    out[i] = make_float4(v.w, v.z, v.y, v.x);
  }
}

extern "C" __global__ void bytes_of_one_word(unsigned char* out) {
  __shared__ unsigned char s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[63 - t];
}

extern "C" __global__ void in_place(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 2.0f * a[i] + 1.0f;
}

extern "C" __global__ void broadcast_then_write(int* out) {
  __shared__ int s;
  int t = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    if (t == i) s = 10 * i;
    __syncthreads();
    out[i * 64 + t] = s;
    __syncthreads();
  }
}

extern "C" __global__ void dynamic_shared(const float* a, float* out, int n) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = a[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__device__ __noinline__ int lookup(int i) { return table[i & 7] * 2; }

extern "C" __global__ void constant_and_call(int* out) { out[threadIdx.x] = lookup(threadIdx.x) + lookup(threadIdx.x + 3); }

extern "C" __global__ void local_array(const int* index, int* out) {
  int v[8];
  for (int i = 0; i < 8; ++i) v[i] = i * threadIdx.x;
  out[threadIdx.x] = v[index[threadIdx.x] & 7];
}

extern "C" __global__ void warp_aggregated_atomic(const int* a, int* count, int* out) {
  int t = threadIdx.x, lane = t & 31;
  unsigned keep = __ballot_sync(0xffffffff, a[t] > 0);
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(keep));
  base = __shfl_sync(0xffffffff, base, 0);
  if (a[t] > 0) out[base + __popc(keep & ((1u << lane) - 1))] = 1;
}

extern "C" __global__ void uniform_break(const int* stop, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x, i = 0;
  for (; i < 100; ++i) {
    s[t] = i;
    __syncthreads();
    if (stop[i]) break;
    out[t] = s[t ^ 1];
    __syncthreads();
  }
  out[t] = i;
}

extern "C" __global__ void shared_flag(int* out) {
  __shared__ int data[32];
  __shared__ volatile int flag;
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = t;
    __syncwarp();
    if (t == 0) {
      __threadfence_block();
      flag = 1;
    }
  } else {
    while (flag == 0) {}
    __threadfence_block();
    out[t - 32] = data[63 - t];
  }
}

extern "C" __global__ void masked_lanes(const float* a, float* out) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t & 1) s[t] = a[t];
  else s[t] = -a[t];
  __syncwarp();
  out[t] = s[31 - t];
}

extern "C" __global__ void write_once_read_by_all(const int* a, int* out) {
  __shared__ int head;
  if (threadIdx.x == 0) head = a[blockIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = head;
}

extern "C" __global__ void wide_and_narrow(const int4* a, int* out) {
  __shared__ __align__(16) int s[128];
  int t = threadIdx.x;
  ((int4*)s)[t] = a[t];
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[i * 32 + t] = s[i * 32 + t];
}

extern "C" __global__ void warp_flag(volatile int* flag, int* data, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 7 * t;
    __threadfence();
    __syncwarp();
    if (t == 0) *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    out[t] = data[31 - t];
  }
}
