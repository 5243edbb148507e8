// The patch explorer: a thread's TM x TN patch of C, what a step of k reads and computes, and what that may reach.
(() => {
  const G = window.gemmLadder;
  const REGISTERS = 65536, LARGEST = 255, OTHER = 32; // per SM; per thread; addresses and counters of a thread (assumed)

  // One step of k of one warp, with conflict-free scalar loads: a wavefront per load; an SM starts four multiply-adds a cycle.
  function step(TM, TN, BK, threads) {
    const loads = TM + TN, fmas = TM * TN, registers = fmas + loads + OTHER;
    const edge = Math.sqrt(threads), BM = edge * TM, BN = edge * TN, shared = 4 * BK * (BM + BN);
    const by = { threads: Math.floor(2048 / threads), registers: Math.floor(REGISTERS / (Math.ceil(registers / 8) * 8 * threads)), shared: Math.floor((228 * 1024) / (shared + 1024)) };
    const blocks = registers > LARGEST ? 0 : Math.min(32, by.threads, by.registers, by.shared);
    return { loads, fmas, registers, BM, BN, shared, blocks, intensity: (2 * fmas) / (4 * loads), share: Math.min(1, fmas / 4 / loads),
      bound: Object.keys(by).reduce((least, name) => (by[name] < by[least] ? name : least)) };
  }
  G.patchStep = step;

  function picture(TM, TN) {
    const cell = 18, gap = 6, edge = 16;
    const view = G.svg("svg", { viewBox: `0 0 ${cell * (edge + 1) + gap} ${cell * (edge + 1) + gap}`, style: "max-width: 330px", role: "img",
      "aria-label": `${TM} values of A and ${TN} of B make ${TM * TN} products` });
    const box = (x, y, fill, label, kind) => {
      view.append(G.svg("rect", { x, y, width: cell - 1, height: cell - 1, fill }));
      if (label) view.append(G.svg("text", { x: x + cell / 2 - 0.5, y: y + 12.5, "font-size": 9, "text-anchor": "middle", class: kind }, label));
    };
    const at = (n) => cell + gap + n * cell;
    for (let i = 0; i < TM; i++) box(0, at(i), "var(--gl-a)", `a${i}`, "gl-light");
    for (let j = 0; j < TN; j++) box(at(j), 0, "var(--gl-b)", `b${j}`, "gl-dark");
    for (let i = 0; i < edge; i++) for (let j = 0; j < edge; j++) box(at(j), at(i), i < TM && j < TN ? "var(--gl-c)" : "var(--idle)");
    return view;
  }

  function bar(share) {
    const view = G.svg("svg", { viewBox: "0 0 300 20", role: "img", "aria-label": `${Math.round(100 * share)} % of the FP32 lanes can be fed` });
    view.append(G.svg("rect", { x: 0, y: 2, width: 300, height: 16, fill: "var(--idle)" }),
      G.svg("rect", { x: 0, y: 2, width: 300 * share, height: 16, fill: share < 1 ? "var(--gl-problem)" : "var(--gl-c)" }));
    return view;
  }

  G.parts.patch = (root, data) => {
    const state = { TM: data.TM, TN: data.TN, BK: data.BK }, threads = data.threads;
    const picturePanel = G.el("div", { class: "gl-panel" }), facts = G.el("div", { class: "gl-panel" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const row = (name, value, more) => G.el("tr", {}, G.el("th", { scope: "row", style: "text-align:left;font-weight:400;padding:2px 10px 2px 0" }, name),
      G.el("td", { style: "padding:2px 0" }, G.el("b", {}, value), more ? ` ${more}` : ""));
    function render() {
      const { TM, TN, BK } = state, at = step(TM, TN, BK, threads);
      picturePanel.replaceChildren(picture(TM, TN));
      facts.replaceChildren(G.el("table", { style: "border:0;margin:0 0 8px;font-variant-numeric:tabular-nums" }, G.el("tbody", {},
        row("read per step of k", `${TM} + ${TN} = ${at.loads}`, "values"),
        row("multiply-adds per step", `${TM} · ${TN} = ${at.fmas}`),
        row("uses of a value", `${TN}`, `of A, ${TM} of B`),
        row("FLOP per shared byte", at.intensity.toPrecision(3)),
        row("registers, about", String(at.registers), `${at.fmas} sums + ${at.loads} values + ${OTHER}`),
        row("tile of the block", `${at.BM} × ${at.BN} × ${BK}`, `${(at.shared / 1024).toPrecision(3)} KB shared`),
        row("blocks per SM", at.registers > LARGEST ? "–" : String(at.blocks), at.blocks ? `limited by ${at.bound}` : ""))),
        G.el("p", { class: "gl-verdict" + (at.share < 1 ? " gl-bad" : "") }, "Shared memory feeds ", G.el("b", {}, `${Math.round(100 * at.share)} %`), " of the FP32 lanes"), bar(at.share));
      status.textContent = at.registers > LARGEST ? `A thread has at most ${LARGEST} registers: this patch spills.`
        : at.blocks === 0 ? "Not even one block fits on an SM." : `${at.blocks * threads / 32} of 64 warps resident.`;
    }
    const slide = (name, max) => G.slider({ label: name, min: 1, max, value: state[name], change: (v) => { state[name] = v; render(); } }).node;
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, slide("TM", 16), slide("TN", 16),
      G.choice({ label: "BK", value: String(state.BK), options: ["8", "16", "32"].map((v) => ({ value: v, text: v })), change: (v) => { state.BK = +v; render(); } }).node),
      G.el("div", { class: "gl-panels" }, picturePanel, facts), status,
      G.el("p", { class: "gl-note" }, `Modelled: ${threads} threads per block, scalar loads without conflicts, one wavefront and four warp-wide multiply-adds per cycle and SM, ${OTHER} registers for addresses (assumed), limits of an H200.`));
    render();
  };
})();
