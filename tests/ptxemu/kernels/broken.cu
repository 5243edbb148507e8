// Kernels with one mistake each. "// here" marks the line that the finding must name, "// other" the second party of a race.
// Most are reductions of bugs that people reported with real kernels; test_findings.py has launches and expectations.

extern "C" __global__ void no_barrier(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;                       // other
  out[t] = t >= 32 ? s[t - 32] : s[t];  // here
}

extern "C" __global__ void no_second_barrier(const float* A, const float* B, float* C, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[y][x] = A[row * K + k0 + x];  // here
    Bs[y][x] = B[(k0 + y) * N + col];  // here
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc += As[y][k] * Bs[k][x];  // other
  }
  C[row * N + col] = acc;
}

extern "C" __global__ void no_first_barrier(const float* A, const float* B, float* C, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[y][x] = A[row * K + k0 + x];  // other
    Bs[y][x] = B[(k0 + y) * N + col];  // other
    for (int k = 0; k < 16; ++k) acc += As[y][k] * Bs[k][x];  // here
    __syncthreads();
  }
  C[row * N + col] = acc;
}

extern "C" __global__ void split_k_without_atomics(const float* A, const float* B, float* C) {
  int n = threadIdx.x, m = threadIdx.y;
  float acc = 0;
  for (int k = blockIdx.x * 32; k < blockIdx.x * 32 + 32; ++k) acc += A[m * 64 + k] * B[k * 32 + n];
  C[m * 32 + n] += acc;  // here other
}

extern "C" __global__ void unguarded_add(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] += 1.0f;  // here
}

extern "C" __global__ void unguarded_load(const float* A, float* out, int K) {
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[threadIdx.x * K + k];  // here
  out[threadIdx.x] = sum;
}

extern "C" __global__ void negative_index(const float* a, float* out) {
  int t = threadIdx.x;
  out[t] = a[t - 1];  // here
}

extern "C" __global__ void shared_overrun(float* out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[t + 1];  // here
}

extern "C" __global__ void dynamic_shared_overrun(float* out) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = 1.0f;  // here
  __syncthreads();
  out[threadIdx.x] = dynamic[0];
}

extern "C" __global__ void misaligned_float4(const float* a, float4* out) {
  out[threadIdx.x] = *(const float4*)(a + 1 + 4 * threadIdx.x);  // here
}

extern "C" __global__ void misaligned_shared(float* out) {
  __shared__ __align__(16) float s[3 * 32 + 1];
  int t = threadIdx.x;
  for (int i = t; i < 97; i += 32) s[i] = i;
  __syncthreads();
  float2 v = *(float2*)(s + 3 * t);  // here
  out[t] = v.x + v.y;
}

extern "C" __global__ void strided_shared_read(float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[blockIdx.x * 32 + t] = s[4 * t];  // here
}

extern "C" __global__ void halo_not_loaded(const float* a, float* out) {
  __shared__ float s[34];
  int t = threadIdx.x;
  s[t + 1] = a[t];
  __syncthreads();
  out[t] = s[t] + s[t + 1] + s[t + 2];  // here
}

extern "C" __global__ void early_return(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  if (row >= M || col >= N) return;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[y][x] = k0 + x < K ? A[row * K + k0 + x] : 0.0f;
    Bs[y][x] = k0 + y < K ? B[(k0 + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc += As[y][k] * Bs[k][x];  // here
    __syncthreads();
  }
  C[row * N + col] = acc;
}

extern "C" __global__ void barrier_after_exit(float* out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  __syncthreads();  // here
  out[t] = 1.0f;
}

extern "C" __global__ void barrier_in_branches(float* out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 40) {
    s[t] = 1.0f;
    __syncthreads();  // here
  } else {
    s[t] = 2.0f;
    __syncthreads();  // here
  }
  out[t] = s[t];
}

extern "C" __global__ void barrier_in_warp_branches(float* out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = 1.0f;
    __syncthreads();  // here
  } else {
    s[t] = 2.0f;
    __syncthreads();  // here
  }
  out[t] = s[t];
}

extern "C" __global__ void barrier_skipped_by_some(float* out) {
  int t = threadIdx.x;
  if (t < 16) __syncthreads();  // here
  out[t] = 1.0f;
}

extern "C" __global__ void barrier_against_syncwarp(float* out) {
  int t = threadIdx.x;
  if (t < 16) __syncthreads();  // here
  else __syncwarp();            // here
  out[t] = 1.0f;
}

extern "C" __global__ void named_barrier_too_few(float* out) {
  int t = threadIdx.x;
  if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory");  // here
  out[t] = 1.0f;
}

extern "C" __global__ void arrive_too_few(float* out) {
  int t = threadIdx.x;
  if (t < 32) asm volatile("bar.sync 2, 96;" ::: "memory");  // here
  else if (t < 64) asm volatile("bar.arrive 2, 96;" ::: "memory");
  out[t] = 1.0f;
}

extern "C" __global__ void short_grid(float* C, int M, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m < M && n < N) C[m * N + n] = 1.0f;
}

extern "C" __global__ void wrong_guard(float* C, int M, int N) {
  int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m < M && n < N - 1) C[m * N + n] = 1.0f;
}

extern "C" __global__ void even_elements(float* out) { out[2 * threadIdx.x] = 1.0f; }

extern "C" __global__ void store_in_loop(const float* A, float* C, int K) {
  int t = threadIdx.x;
  C[t] = 0.0f;
  for (int k = 0; k < K; ++k) ((volatile float*)C)[t] = ((volatile float*)C)[t] + A[t * K + k];
}

extern "C" __global__ void warp_synchronous(float* out) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = t;  // other
  if (t < 16) s[t] += s[t + 16];  // here other
  if (t < 8) s[t] += s[t + 8];    // here other
  out[t] = s[t & 7];  // here
}

extern "C" __global__ void warp_synchronous_volatile(float* out) {
  __shared__ volatile float s[32];
  int t = threadIdx.x;
  s[t] = t;  // other
  if (t < 16) out[t] = s[t + 16];  // here
}

extern "C" __global__ void everybody_writes(int* out) {
  __shared__ int s;
  s = threadIdx.x;  // here other
  __syncthreads();
  out[threadIdx.x] = s;
}

extern "C" __global__ void everybody_writes_the_same(int* out, int n) {
  __shared__ int s;
  s = n;  // here other
  __syncthreads();
  out[threadIdx.x] = s;
}

extern "C" __global__ void atomic_then_plain(int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);        // other
  out[threadIdx.x] = s;  // here
}

extern "C" __global__ void counter_not_initialised(int* out) {
  __shared__ int s;
  atomicAdd(&s, 1);  // here
  __syncthreads();
  out[threadIdx.x] = s;
}

extern "C" __global__ void initialised_too_late(int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;  // other
  atomicAdd(&s, 1);             // here
  __syncthreads();
  out[threadIdx.x] = s;
}

extern "C" __global__ void flag_without_fence(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // other
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0) while (*flag == 0) {}
    __threadfence();
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];  // here
  }
}

extern "C" __global__ void flag_without_acquire(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;  // other
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    *out = *data;  // here
  }
}

extern "C" __global__ void flag_with_block_fence(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;  // other
    __threadfence_block();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    *out = *data;  // here
  }
}

extern "C" __global__ void last_block_without_fence(float* part, unsigned* ticket, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;  // other
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // here
    *out = sum;
  }
}

extern "C" __global__ void endless(int* out) {
  volatile int x = 1;
  while (x) x = x | 1;  // here
  *out = x;
}

extern "C" __global__ void flag_never_set(volatile int* flag, int* out) {
  while (*flag == 0) {}  // here
  *out = 1;
}

extern "C" __global__ void neighbour_blocks(float* a) {
  int i = blockIdx.x * 32 + threadIdx.x;
  float left = i > 0 ? a[i - 1] : 0.0f;  // other
  __syncthreads();
  a[i] = left;  // here
}

extern "C" __global__ void transpose_in_place(float* a) {
  int x = threadIdx.x, y = threadIdx.y;
  float v = a[y * 16 + x];  // other
  a[x * 16 + y] = v;          // here
}

extern "C" __global__ void histogram_without_atomics(const int* keys, int* bins) {
  bins[keys[threadIdx.x]] += 1;  // here other
}

extern "C" __global__ void half_barrier(int* out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;  // other
  asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
  out[t] = s[127 - t];  // here
}

extern "C" __global__ void consumer_does_not_wait(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;  // other
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    out[t - 32] = s[t - 32];  // here
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

extern "C" __global__ void producer_overwrites(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    if (t < 32) {
      s[t] = t + round;  // here
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[round * 32 + t - 32] = s[t - 32];  // other
    }
  }
}

extern "C" __global__ void reused_without_barrier(const float* a, float* out) {
  __shared__ float buffer[64];
  int t = threadIdx.x;
  buffer[t] = a[t];
  __syncthreads();
  float v = buffer[63 - t];  // other
  int* again = (int*)buffer;
  again[t] = t;  // here
  __syncthreads();
  out[t] = v + again[t ^ 1];
}

extern "C" __global__ void traps(int* out, int n) {
  if (threadIdx.x >= n) __trap();  // here
  out[threadIdx.x] = 1;
}

extern "C" __global__ void syncwarp_across_warps(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // other
  __syncwarp();
  out[t] = s[t ^ 32];  // here
}

extern "C" __global__ void partial_syncwarp(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;  // other
  if (t < 16) {
    __syncwarp(0xffff);
    out[t] = s[t + 16];  // here
  }
}

extern "C" __global__ void one_stage_short(const float* a, float* out, int rounds) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  s[0][t] = a[t];
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    if (i + 1 < rounds) s[i & 1][t] = a[(i + 1) * 64 + t];  // here other
    sum += s[i & 1][63 - t];                                  // here other
  }
  out[t] = sum;
}
