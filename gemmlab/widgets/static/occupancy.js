// The occupancy explorer: threads, registers and shared memory of a block -> how many blocks an SM holds, and why.
// The arithmetic is that of gemmlab/occupancy.py, whose limits come with the data.
(() => {
  const G = window.gemmLadder;

  G.parts.occupancy = (root, data) => {
    const state = { ...data.choice }, L = data.limits, area = G.el("div");
    const said = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const slide = (label, key, min, max, step, text) =>
      G.slider({ label, min, max, step, value: state[key], text, change: (v) => { state[key] = v; render(); } }).node;

    function held() {
      const warps = Math.ceil(state.threads / 32), shared = state.shared * 1024;
      const perWarp = Math.ceil((state.registers * 32) / L.register_unit) * L.register_unit;
      const limits = {
        registers: Math.floor((Math.floor(L.registers / perWarp / L.warp_unit) * L.warp_unit) / warps),
        threads: Math.floor(L.threads / (32 * warps)),
        blocks: L.blocks,
      };
      const taken = shared + L.reserved;
      if (shared) limits["shared memory"] = Math.floor(L.shared / taken);
      const blocks = Math.min(...Object.values(limits));
      const used = {
        registers: (blocks * warps * perWarp) / L.registers,
        threads: (blocks * warps * 32) / L.threads,
        blocks: blocks / L.blocks,
        "shared memory": shared ? (blocks * taken) / L.shared : 0,
      };
      return { blocks, warps: blocks * warps, limits, used };
    }

    function draw(width) {
      const { blocks, limits, used } = held(), left = 112, high = 24, gap = 8;
      const names = Object.keys(used), room = width - left - 130;
      const view = G.svg("svg", { viewBox: `0 0 ${width} ${names.length * (high + gap)}`, role: "img",
        "aria-label": names.map((name) => `${name}: ${Math.round(100 * used[name])} % used`).join("; ") });
      names.forEach((name, i) => {
        const y = i * (high + gap), full = limits[name] === blocks;
        view.append(G.svg("text", { x: 0, y: y + 17, "font-size": 13 }, name),
          G.svg("rect", { x: left, y, width: room, height: high, fill: "var(--idle)" }),
          G.svg("rect", { x: left, y, width: room * used[name], height: high, rx: 3, fill: full ? "var(--gl-problem)" : "var(--gl-c)" }),
          G.svg("text", { x: left + room + 8, y: y + 17, "font-size": 12, "font-weight": full ? "bold" : "normal" },
            `${Math.round(100 * used[name])} %` + (limits[name] === undefined ? "" : `, allows ${limits[name]}`)));
        for (let b = 1; b < blocks && blocks <= 32; b++) {
          const x = left + (room * used[name] * b) / blocks;
          if (used[name]) view.append(G.svg("line", { x1: x, x2: x, y1: y, y2: y + high, stroke: "var(--bg, white)", "stroke-width": 1.5 }));
        }
      });
      return view;
    }

    function render() {
      const { blocks, warps, limits } = held(), most = L.threads / 32;
      const why = Object.keys(limits).filter((name) => limits[name] === blocks).join(", ");
      area.replaceChildren(draw(Math.round(area.clientWidth) || 600));
      said.textContent = blocks
        ? `${G.plural(blocks, "block")}, ${warps} of ${most} warps (${Math.round((100 * warps) / most)} %), limited by ${why}`
        : "no block fits: too many registers for one block";
    }
    root.append(G.el("p", { class: "gl-title" }, data.title),
      G.el("div", { class: "gl-controls" }, slide("threads", "threads", 32, 1024, 32, String),
        slide("registers per thread", "registers", 16, 248, 8, String), slide("shared memory", "shared", 0, L.block_kb, 1, (v) => `${v} KB`)),
      said, area, G.el("p", { class: "gl-note" }, data.source));
    render();
    G.responsive(root, render);
  };
})();
