// Chapter 03: the obvious kernel in CUDA C++, twin of k03_naive.py.
//
// Change: the first rung; each thread reads one row of A and one column of B and stores one element of C.
// Limit:  the 32 lanes of a warp hold 32 different rows, so that each load of A touches 32 memory sectors.
// Needs:  any GPU. A (M, K), B (K, N), C (M, N), float, row-major. Block (32, 8), grid (cdiv(M, 32), cdiv(N, 8)).

// region: kernel
extern "C" __global__ void naive(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;  // NOTE: x counts rows
    int n = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[(size_t)m * K + k] * B[(size_t)k * N + n];
        C[(size_t)m * N + n] = acc;
    }
}
// endregion
