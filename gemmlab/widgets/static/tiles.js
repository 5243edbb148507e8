// Tiles: which part of A and B a block copies to shared memory, step by step along K, and what that costs in all.
(() => {
  const G = window.gemmLadder;
  const FLOAT = 4, THREADS = 1024, STATIC = 48 * 1024;
  const kib = (bytes) => (bytes % 1024 ? `${bytes.toLocaleString("en")} bytes` : `${(bytes / 1024).toLocaleString("en")} KiB`);

  G.parts.tiles = (root, data) => {
    const size = data.size, state = { BM: data.BM, BN: data.BN, BK: data.BK, step: 0, by: 0, bx: 0 };
    const view = G.svg("svg", { viewBox: "-14 -16 328 330", role: "img", style: "max-width: 430px; margin: 0 auto" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const totals = G.el("p", { class: "gl-verdict" }), limits = G.el("p", { class: "gl-verdict" });
    const step = G.slider({ label: "step along K", max: 1, text: (v) => String(v + 1), change: (v) => { state.step = v; render(); } });
    const edge = (name, low, high) => G.slider({ label: name, min: low, max: high, value: Math.log2(state[name]), text: (e) => String(2 ** e),
      change: (e) => { state[name] = 2 ** e; fit(); render(); } });
    const fit = () => {
      step.limit(size / state.BK - 1);
      state.step = Math.min(state.step, size / state.BK - 1);
      step.set(state.step);
      state.by = Math.min(state.by, size / state.BM - 1);
      state.bx = Math.min(state.bx, size / state.BN - 1);
    };
    const pixel = 140 / size, gap = 160; // A below left, B above right, C below right
    const at = { A: [0, gap], B: [gap, 0], C: [gap, gap] };
    const rect = (name, row, column, rows, columns, fill, more = {}) => G.svg("rect", { x: at[name][0] + column * pixel, y: at[name][1] + row * pixel,
      width: columns * pixel, height: rows * pixel, fill, "pointer-events": "none", ...more });
    const line = (x1, y1, x2, y2) => G.svg("line", { x1, y1, x2, y2, stroke: "var(--waste)", "stroke-width": 0.6, "pointer-events": "none" });
    const cuts = (every) => Array.from({ length: size / every - 1 }, (_, i) => (i + 1) * every * pixel);
    const lines = (name, rows, columns) => [
      ...cuts(rows).map((y) => line(at[name][0], at[name][1] + y, at[name][0] + size * pixel, at[name][1] + y)),
      ...cuts(columns).map((x) => line(at[name][0] + x, at[name][1], at[name][0] + x, at[name][1] + size * pixel)),
    ];

    function render() {
      const { BM, BN, BK, by, bx } = state, k0 = state.step * BK, m0 = by * BM, n0 = bx * BN;
      const c = rect("C", 0, 0, size, size, "var(--idle)", { "pointer-events": "all", style: "cursor: pointer" });
      c.addEventListener("pointerdown", (event) => {
        const box = c.getBoundingClientRect();
        state.by = Math.min(size / BM - 1, Math.floor(((event.clientY - box.top) / box.height) * (size / BM)));
        state.bx = Math.min(size / BN - 1, Math.floor(((event.clientX - box.left) / box.width) * (size / BN)));
        render();
      });
      view.replaceChildren(
        rect("A", 0, 0, size, size, "var(--idle)"), rect("B", 0, 0, size, size, "var(--idle)"), c,
        rect("A", m0, 0, BM, k0, "var(--gl-a)", { opacity: 0.3 }), rect("B", 0, n0, k0, BN, "var(--gl-b)", { opacity: 0.3 }),
        rect("A", m0, k0, BM, BK, "var(--gl-a)"), rect("B", k0, n0, BK, BN, "var(--gl-b)"),
        rect("C", m0, n0, BM, BN, "var(--gl-c)", { opacity: 0.35 + (0.65 * (k0 + BK)) / size }),
        ...lines("A", BM, BK), ...lines("B", BK, BN), ...lines("C", BM, BN),
        ...Object.entries(at).map(([name, [x, y]]) => G.svg("text", { x: x + 4, y: y - 4, "font-size": 13 }, name)));
      view.setAttribute("aria-label", `Block (${bx}, ${by}) at step ${state.step + 1}: tiles of A, B and C`);
      const words = BM * BK + BK * BN, threads = BM * BN, shared = words * FLOAT;
      const requested = FLOAT * size ** 3 * (1 / BM + 1 / BN), intensity = (2 * size ** 3) / requested;
      status.textContent = `Step ${state.step + 1} of ${size / BK}: block (${bx}, ${by}) copies A[${m0}…${m0 + BM - 1}, ${k0}…${k0 + BK - 1}] and ` +
        `B[${k0}…${k0 + BK - 1}, ${n0}…${n0 + BN - 1}], then each thread does ${BK} multiply-adds.`;
      totals.replaceChildren(G.el("b", {}, kib(requested)), ` requested by all blocks · `, G.el("b", {}, intensity.toFixed(1)),
        ` FLOP/byte · each element of A ${G.plural(size / BN, "time")}, of B ${G.plural(size / BM, "time")}`);
      const said = (text, broken, why) => G.el("span", { class: "gl-verdict" + (broken ? " gl-bad" : "") }, G.el("b", {}, text), broken ? why : "");
      limits.replaceChildren(said(`${threads.toLocaleString("en")} threads`, threads > THREADS, " · a block has at most 1,024"), " · ",
        said(`${kib(shared)} of shared memory`, shared > STATIC, " · a static array has at most 48 KiB"));
    }

    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, edge("BM", 2, 7).node, edge("BN", 2, 7).node,
      edge("BK", 2, 7).node, step.node, G.player(step, 500)), view, totals, limits, status,
      G.el("p", { class: "gl-note" }, `M = N = K = ${size}, FP32, one element of C per thread. Choose a block by clicking C. Derived from the tile sizes.`));
    fit();
    render();
  };
})();
