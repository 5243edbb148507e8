"""Chapter 09, a study: the code of k09_wide_columns with a tile of 64 x 128, for matrices of few tiles.

Change: 4 x 8 elements of C per thread and 256 threads per block: at 1024 x 1024, 128 blocks of eight warps.
Limit:  three shared loads for 32 multiply-adds.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, 128), cdiv(M, 64)).
"""

from kernels.simt.patch_kernel import patch_kernel

small_tile = patch_kernel("small_tile", BM=64, BN=128, BK=16, WM=32, WN=32, TM=4, TN=8, blocks_per_sm=2)
