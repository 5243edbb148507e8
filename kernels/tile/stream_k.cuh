// Which k steps of which tiles a worker computes, where a whole number of tiles per worker would leave some of them
// idle. Workers are clusters, and all run at the same time. Whoever has step 0 of a tile owns it: it adds the parts of
// the others, in the order of k, and stores the tile. Each worker has at most one part of which it is not the owner.
#pragma once

struct Work {
  int tile, begin, end;  // k steps [begin, end) of the tile
};

// Stream-K: the tiles beyond the full rounds, and one full round with them, make a row of k steps that is cut into
// `workers` equal parts. Then come whole tiles, one per worker and round.
struct StreamK {
  int tiles, steps, worker, workers, shared, round = 0;  // shared: tiles that are cut
  int at, stop;                                          // this worker's part of the row of k steps

  __device__ StreamK(int tiles, int steps, int worker, int workers)
      : tiles(tiles), steps(steps), worker(worker), workers(workers) {
    int rounds = tiles / workers - 1;
    shared = tiles % workers == 0 ? 0 : rounds > 0 ? tiles - rounds * workers : tiles;
    at = edge(worker), stop = edge(worker + 1);
  }

  __device__ int edge(int w) const { return static_cast<long long>(shared) * steps * w / workers; }

  __device__ bool next(Work& work) {
    if (at < stop) {
      work.tile = at / steps, work.begin = at % steps;
      work.end = min(steps, work.begin + stop - at);
      at += work.end - work.begin;
      return true;
    }
    work = {shared + worker + round++ * workers, 0, steps};
    return work.tile < tiles;
  }

  // How many other workers have parts of a tile that this one owns: `step` apart, the first one `step` after it.
  __device__ int helpers(const Work& work, int& step) const {
    int count = step = 1;
    if (work.end == steps) return 0;
    while (edge(worker + count + 1) < (work.tile + 1) * steps) ++count;
    return count;
  }
};

// Split tail: whole tiles in full rounds, and before them the remaining tiles, each in as many equal parts as there are
// workers for. Neighbours work on the same k at the same time, so they ask L2 for the same bytes at the same time.
struct SplitTail {
  int tiles, steps, worker, workers, rest, parts, round = -1;

  __device__ SplitTail(int tiles, int steps, int worker, int workers)
      : tiles(tiles), steps(steps), worker(worker), workers(workers), rest(tiles % workers) {
    parts = rest ? min(workers / rest, steps) : 0;
  }

  __device__ bool next(Work& work) {
    if (++round == 0) {
      int part = rest ? worker / rest : 0;
      int cuts = max(parts, 1);
      work = {tiles - rest + (rest ? worker % rest : 0), steps * part / cuts, steps * (part + 1) / cuts};
      if (part < parts) return true;
      round = 1;
    }
    work = {worker + (round - 1) * workers, 0, steps};
    return work.tile < tiles - rest;
  }

  __device__ int helpers(const Work& work, int& step) const {
    step = rest;
    return work.tile >= tiles - rest ? parts - 1 : 0;
  }
};
