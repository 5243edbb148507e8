// Chapter 08: the vectorised kernel in CUDA C++, with float4 for what load4 and store4 do in Numba.
//
// Change: k08_vectorised, compiled by NVRTC.
// Limit:  as k08_vectorised: the block waits for the loads of each tile before it multiplies.
// Needs:  any GPU. A (M, K), B (K, N), C (M, N), float, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).

// region: kernel
constexpr int BM = 128, BN = 128, BK = 8, WM = 64, WN = 32, PITCH = BM + 4;

// Four neighbours of a row: one 128-bit load where `wide` says that they exist and are
// aligned, else one by one.
__device__ float4 fetch(
    const float* src, int rows, int cols, int row, int col, bool wide) {
    const float* from = src + (size_t)row * cols + col;
    if (wide) return *reinterpret_cast<const float4*>(from);
    float x[4];
    for (int i = 0; i < 4; ++i) x[i] = row < rows && col + i < cols ? from[i] : 0.0f;
    return make_float4(x[0], x[1], x[2], x[3]);
}

extern "C" __global__ void vectorised(
    const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
    int M, int N, int K) {
    __shared__ alignas(16) float smem_a[BK][PITCH], smem_b[BK][BN];
    float acc[8][8] = {};
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int row = warp % (BM / WM) * WM + lane / 4 * 4;
    int col = warp / (BM / WM) * WN + lane % 4 * 4;
    int am = tid / 2, ak = tid % 2 * 4, bk = tid / 32, bn = lane * 4;
    bool wide = N % 4 == 0 && K % BK == 0 && m0 + BM <= M && n0 + BN <= N;

    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 a = fetch(A, M, K, m0 + am, k0 + ak, wide);
        float4 b = fetch(B, K, N, k0 + bk, n0 + bn, wide);
        smem_a[ak][am] = a.x;
        smem_a[ak + 1][am] = a.y;
        smem_a[ak + 2][am] = a.z;
        smem_a[ak + 3][am] = a.w;
        *reinterpret_cast<float4*>(&smem_b[bk][bn]) = b;
        __syncthreads();

        // Multiply: four 128-bit shared loads feed 64 multiply-adds.
        for (int k = 0; k < BK; ++k) {
            float frag_a[8], frag_b[8];
            for (int h = 0; h < 2; ++h) {
                auto x = *reinterpret_cast<const float4*>(&smem_a[k][row + 32 * h]);
                auto y = *reinterpret_cast<const float4*>(&smem_b[k][col + 16 * h]);
                float *a4 = frag_a + 4 * h, *b4 = frag_b + 4 * h;
                a4[0] = x.x, a4[1] = x.y, a4[2] = x.z, a4[3] = x.w;
                b4[0] = y.x, b4[1] = y.y, b4[2] = y.z, b4[3] = y.w;
            }
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) acc[i][j] += frag_a[i] * frag_b[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < 8; ++i) {
        int m = m0 + row + i / 4 * 32 + i % 4;
        for (int j = 0; j < 8; j += 4) {
            int n = n0 + col + j * 4;
            float *x = acc[i] + j, *to = C + (size_t)m * N + n;
            if (wide) {
                *reinterpret_cast<float4*>(to) = make_float4(x[0], x[1], x[2], x[3]);
            } else {
                for (int e = 0; e < 4; ++e)
                    if (m < M && n + e < N) to[e] = x[e];
            }
        }
    }
}
// endregion
