// Stream-K: the k steps of the last tiles, dealt out evenly. Workers are clusters; all of them run at the same time.
#pragma once

struct Work {
  int tile, begin, end;  // k steps [begin, end) of the tile
};

// The tiles beyond the full rounds, and one full round with them, are a row of k steps that is cut into `workers` equal
// parts; then come whole tiles, one per worker and round. A part that does not start at step 0 is a contribution to a
// tile whose owner is the worker with step 0. Each worker contributes at most once, with its first part.
struct StreamK {
  int tiles, steps, worker, workers, shared;  // shared: tiles that are cut
  long long at, stop;                         // position in the row of k steps
  int round = 0;

  __device__ StreamK(int tiles, int steps, int worker, int workers)
      : tiles(tiles), steps(steps), worker(worker), workers(workers) {
    int rounds = tiles / workers - 1;
    shared = tiles % workers == 0 ? 0 : rounds > 0 ? tiles - rounds * workers : tiles;
    at = edge(worker), stop = edge(worker + 1);
  }

  __device__ long long edge(int w) const { return static_cast<long long>(shared) * steps * w / workers; }

  __device__ bool next(Work& work) {
    if (at < stop) {
      work.tile = at / steps, work.begin = at % steps;
      work.end = min(static_cast<long long>(steps), work.begin + stop - at);
      at += work.end - work.begin;
      return true;
    }
    work = {shared + worker + round++ * workers, 0, steps};
    return work.tile < tiles;
  }
};
