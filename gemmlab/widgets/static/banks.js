// The lane-bank grid: wavefronts of one warp request on 32 banks, from a trace or from a layout that the reader chooses.
(() => {
  const G = window.gemmLadder;

  // The active lanes in groups served one after the other: half-warps for 8 bytes per lane, quarter-warps for 16; a load serves
  // two neighbours together where all lanes i and i ^ 1, or all i and i ^ 2, want the same address; ldmatrix never does (ptxemu/counting.py).
  function groups(list, width, kind) {
    const size = 128 / Math.max(4, width), found = [];
    for (let first = 0; first < 32; first += 2 * size) {
      const lanes = [...Array(Math.min(32, first + 2 * size) - first).keys()].map((i) => i + first).filter((i) => list[i] !== null);
      const same = kind === "ld" && [1, 2].some((p) => lanes.every((i) => !lanes.includes(i ^ p) || list[i] === list[i ^ p]));
      const halves = same ? [lanes] : [lanes.filter((i) => i < first + size), lanes.filter((i) => i >= first + size)];
      found.push(...halves.filter((half) => half.length));
    }
    return found;
  }

  // The wavefronts of a request, [{bank: [lanes]}].
  function wavefronts(list, width, kind) {
    const fronts = [];
    for (const group of groups(list, width, kind)) {
      const banks = new Map();
      for (const lane of group) {
        for (let word = Math.floor(list[lane] / 4); word * 4 < list[lane] + width; word++) {
          const bank = banks.get(word % 32) || banks.set(word % 32, new Map()).get(word % 32);
          bank.set(word, [...(bank.get(word) || []), lane]);
        }
      }
      const deep = Math.max(0, ...[...banks.values()].map((bank) => bank.size));
      for (let row = 0; row < deep; row++) {
        const front = new Map();
        for (const [bank, words] of banks) if (row < words.size) front.set(bank, [...words.values()][row]);
        fronts.push(front);
      }
    }
    return fronts;
  }
  G.wavefronts = wavefronts;

  // The fewest wavefronts possible: one for each group.
  const ideal = (list, width, kind) => groups(list, width, kind).length || 1;

  function panel(title, list, width, kind, lane, pick) {
    const fronts = wavefronts(list, width, kind), best = ideal(list, width, kind), cell = 20, high = 16, passes = kind === "sectors", bad = !passes && fronts.length > best;
    const view = G.svg("svg", { viewBox: `-1 -1 ${32 * cell + 2} ${fronts.length * high + 30}`, role: "img",
      "aria-label": `${title}: ${G.plural(fronts.length, "wavefront")}, ideal ${best}` });
    fronts.forEach((front, row) => {
      for (let bank = 0; bank < 32; bank++) {
        const lanes = front.get(bank), chosen = lanes && lanes.includes(lane);
        const box = G.svg("rect", { x: bank * cell, y: row * high, width: cell - 1, height: high - 1, stroke: chosen ? "var(--fg)" : "none",
          "stroke-width": 3, fill: !lanes ? "var(--idle)" : bad && row >= best ? "var(--gl-problem)" : "var(--gl-roof)" });
        if (lanes) for (const event of ["pointerenter", "pointerdown"]) box.addEventListener(event, () => pick(lanes[0]));
        view.append(box);
        if (lanes) view.append(G.svg("text", { x: bank * cell + cell / 2, y: row * high + 12, "text-anchor": "middle", "font-size": 11,
          class: "gl-dark gl-cell", "pointer-events": "none" }, lanes.length === 1 ? String(lanes[0]) : `×${lanes.length}`));
      }
    });
    for (const bank of [0, 8, 16, 24, 31])
      view.append(G.svg("text", { x: bank * cell + cell / 2, y: fronts.length * high + 22, class: "gl-soft gl-axis",
        "text-anchor": bank === 31 ? "end" : bank ? "middle" : "start" }, bank ? String(bank) : "bank 0"));
    return { fronts, best, node: G.el("div", { class: "gl-panel" }, title ? G.el("h4", {}, title) : null,
      G.el("p", { class: "gl-verdict" + (bad ? " gl-bad" : "") }, G.el("b", {}, passes ? "Whole sectors" : G.plural(fronts.length, "wavefront")),
        passes ? " · no bank request" : bad ? (best === 1 ? ` · ${fronts.length}-way conflict` : ` · ${best} would do`) : " · no conflict"), view) };
  }

  const NOTE = "Row: one wavefront. Column: bank. Number: the lane served, ×n when n lanes share a word. ";

  // Traced kernels: one panel for each variant, with the instruction and its execution to choose.
  function traced(root, data) {
    const state = { site: 0, step: 0, lane: 0 };
    const panels = G.el("div", { class: "gl-panels" }), status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const sites = (variant) => variant.warps[0].sites;
    const longest = data.variants.reduce((a, b) => (sites(b).length > sites(a).length ? b : a));
    const step = G.slider({ label: "step", max: 0, change: (v) => { state.step = v; render(); } });
    const lane = G.slider({ label: "lane", max: 31, change: (v) => { state.lane = v; render(); } });
    const pick = (chosen) => { if (chosen !== state.lane) { state.lane = chosen; lane.set(chosen); render(); } };
    const access = G.choice({ label: "access", value: "0", options: sites(longest).map((s, i) => ({ value: String(i), text: s.label })),
      change: (v) => { state.site = +v; state.step = 0; step.set(0); limit(); render(); } });
    const limit = () => step.limit(Math.max(...data.variants.map((v) => (sites(v)[state.site] || { steps: [0] }).steps.length)) - 1);
    function render() {
      const said = [];
      panels.replaceChildren(...data.variants.map((variant) => {
        const one = sites(variant)[state.site];
        if (!one) return G.el("div", { class: "gl-panel" }, G.el("h4", {}, variant.title), "No such access.");
        const list = G.addresses(one.steps[Math.min(state.step, one.steps.length - 1)]);
        const address = list[state.lane];
        if (address !== null) said.push(`${variant.title || one.label}: byte ${address}, bank ${Math.floor(address / 4) % 32}`);
        return panel(variant.title, list, one.width, one.kind, state.lane, pick).node;
      }));
      status.textContent = `Lane ${state.lane} → ${said.join(" · ") || "idle"}`;
    }
    root.append(G.el("div", { class: "gl-controls" }, sites(longest).length > 1 ? access.node : null, step.node, lane.node), panels, status,
      G.el("p", { class: "gl-note" }, NOTE + (data.source || "")));
    limit();
    render();
  }

  // How a swizzle moves a column of row `row`, in a row of 2^n `words`. A chunk is 4 words, 16 bytes.
  const SWIZZLES = {
    none: { text: "nothing", move: (column) => column },
    word8: { text: "words: row % 8", move: (column, row, words) => column ^ (row & 7 & (words - 1)) },
    word32: { text: "words: row % 32", move: (column, row, words) => column ^ (row & 31 & (words - 1)) },
    chunk8: { text: "chunks: row % 8", move: (column, row, words) => column ^ (4 * (row & 7 & (words / 4 - 1))) },
    chunk4: { text: "chunks: row / 2 % 4", move: (column, row, words) => column ^ (4 * ((row >> 1) & 3 & (words / 4 - 1))) },
  };

  // A layout of the reader's choice: word (row, column) of a tile lies at row * (length + padding) + swizzled column.
  function chosen(root, data) {
    const state = { walk: "column", width: 1, length: 5, padding: 1, swizzle: "none", lane: 0 };
    const panels = G.el("div", { class: "gl-panels" }), status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const redo = (key) => (value) => { state[key] = value; render(); };
    const lane = G.slider({ label: "lane", max: 31, change: redo("lane") });
    const pick = (value) => { if (value !== state.lane) { lane.set(value); redo("lane")(value); } };
    const words = () => 2 ** state.length;
    const element = (i) => (state.walk === "column" ? [i, 0] : [Math.floor((i * state.width) / words()), (i * state.width) % words()]);
    const place = (row, column, padding, swizzle) => row * (words() + padding) + SWIZZLES[swizzle].move(column, row, words());
    // The lanes' byte addresses, or why one instruction of this width cannot read them.
    function request(padding, swizzle) {
      const list = [];
      for (let i = 0; i < 32; i++) {
        const [row, column] = element(i);
        const mine = Array.from({ length: state.width }, (_, j) => place(row, column + j, padding, swizzle));
        if (mine.some((word, j) => word !== mine[0] + j)) return { why: `Not one access: lane ${i}'s words lie at ${mine.join(", ")}.` };
        if (mine[0] % state.width) return { why: `Misaligned: lane ${i}'s address, ${4 * mine[0]}, is no multiple of ${4 * state.width}. The kernel stops.` };
        list.push(4 * mine[0]);
      }
      return { list };
    }
    function shown(title, padding, swizzle) {
      const { list, why } = request(padding, swizzle);
      if (list) return panel(title, list, 4 * state.width, "ld", state.lane, pick).node;
      return G.el("div", { class: "gl-panel" }, G.el("h4", {}, title), G.el("p", { class: "gl-verdict gl-bad" }, G.el("b", {}, why)));
    }
    function render() {
      const [row, column] = element(state.lane), here = place(row, column, state.padding, state.swizzle);
      panels.replaceChildren(shown("plain", 0, "none"), shown("your layout", state.padding, state.swizzle));
      status.textContent = `Lane ${state.lane} → tile[${row}, ${column}], word ${here} of your layout, bank ${here % 32}`;
    }
    root.append(G.el("div", { class: "gl-controls" },
      G.choice({ label: "a warp reads", value: "column", options: [{ value: "column", text: "down a column" }, { value: "row", text: "along rows" }], change: redo("walk") }).node,
      G.choice({ label: "bits per lane", value: "1", options: [1, 2, 4].map((n) => ({ value: String(n), text: String(32 * n) })), change: (v) => redo("width")(+v) }).node,
      G.slider({ label: "row length", min: 3, max: 6, value: 5, text: (e) => `${2 ** e} words`, change: redo("length") }).node,
      G.slider({ label: "padding", max: 8, value: 1, text: (n) => G.plural(n, "word"), change: redo("padding") }).node,
      G.choice({ label: "XOR the column by", value: "none", options: Object.entries(SWIZZLES).map(([value, { text }]) => ({ value, text })), change: redo("swizzle") }).node,
      lane.node), panels, status, G.el("p", { class: "gl-note" }, NOTE + "Modelled from the layout."));
    render();
  }

  G.parts.banks = (root, data) => {
    root.append(G.el("p", { class: "gl-title" }, data.title));
    if (data.explore) return chosen(root, data);
    const some = data.variants.filter((variant) => variant.warps.length && variant.warps[0].sites.length);
    if (some.length) return traced(root, { ...data, variants: some });
    root.append(G.el("p", { class: "gl-status" }, "No shared memory access: 0 bank conflicts."));
  };
})();
