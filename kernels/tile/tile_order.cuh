// The order in which CTAs take tiles of C.
#pragma once

struct Tile {
  int m, n;
};

// Tile number t of rows x columns in groups of GROUP rows: down the group, then one column to the right, so that tiles
// which run at the same time share rows of A and columns of B in L2. Right for any rows and columns.
template <int GROUP>
__device__ __forceinline__ Tile grouped_tile(int t, int rows, int columns) {
  int first = t / (GROUP * columns) * GROUP, height = min(rows - first, GROUP), inside = t % (GROUP * columns);
  return {first + inside % height, inside / height};
}
