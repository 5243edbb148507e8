"""Chapter 09, a study: the code of k09_wide_columns with a tile of 128 x 128, between the wide and the small one.

Change: a patch of 8 x 8 per thread: twice as many blocks, two of which share an SM.
Limit:  four shared loads feed 64 multiply-adds, where k09_wide_columns has six for 128.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, 128), cdiv(M, 128)).
"""

from kernels.simt.patch_kernel import patch_kernel

square_tile = patch_kernel("square_tile", BM=128, BN=128, BK=8, WM=64, WN=32, TM=8, TN=8, blocks_per_sm=2)
