#pragma once
// In which order CTAs take the tiles of C.

struct Tile {
    int m, n;
};

// Tile number `index` of tiles_m x tiles_n, GROUP rows of tiles at a time, down each column of the group: neighbours in
// time share rows of A and columns of B in L2. The last group has the rows that are left, so every grid is covered.
template <int GROUP>
__device__ __forceinline__ Tile grouped_tile(int index, int tiles_m, int tiles_n) {
    const int first = index / (GROUP * tiles_n) * GROUP, rows = min(GROUP, tiles_m - first);
    const int inside = index % (GROUP * tiles_n);
    return {first + inside % rows, inside / rows};
}

// The same order turned: groups of columns, along the row first.
__device__ __forceinline__ Tile across(Tile tile) { return {tile.n, tile.m}; }
