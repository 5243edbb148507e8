// The address map: the matrix, and in it the 32-byte sectors that one warp request moves, for one or more kernels.
(() => {
  const G = window.gemmLadder;
  const SECTOR = 32;

  function touched(list, width) {
    const words = new Map(), sectors = new Set(), bytes = new Set();
    list.forEach((address, lane) => {
      if (address === null) return;
      for (let b = address; b < address + width; b++) { bytes.add(b); sectors.add(Math.floor(b / SECTOR)); }
      for (let w = Math.floor(address / 4); w * 4 < address + width; w++) words.set(w, [...(words.get(w) || []), lane]);
    });
    return { words, sectors: [...sectors].sort((a, b) => a - b), used: bytes.size };
  }

  // Where a word is drawn: matrix rows when the shape is known and small enough, else the touched 128-byte lines.
  function layout(site, shape, found) {
    const per = shape ? (shape.columns * shape.itemsize) / 4 : 0;
    if (per && per <= 128 && Number.isInteger(per) && shape.rows <= 128) {
      return { columns: per, rows: shape.rows, at: (word) => [word % per, Math.floor(word / per)] };
    }
    const lines = [...new Set(found.sectors.map((s) => Math.floor(s / 4)))];
    return { columns: 32, rows: lines.length, at: (word) => [word % 32, lines.indexOf(Math.floor(word / 32))] };
  }

  function draw(site, shape, step, lane, pick) {
    const list = G.addresses(site.steps[step]), found = touched(list, site.width);
    const place = layout(site, shape, found), cell = 10;
    const view = G.svg("svg", { viewBox: `-3 -3 ${place.columns * cell + 6} ${place.rows * cell + 6}`, role: "img",
      "aria-label": `${site.label}: ${G.plural(found.sectors.length, "sector")}` });
    view.append(G.svg("rect", { width: place.columns * cell, height: place.rows * cell, fill: "var(--idle)", stroke: "var(--line)" }));
    const box = (x, y, width, look) => G.svg("rect", { x: x * cell, y: y * cell, width: width * cell, height: cell, ...look });
    for (const sector of found.sectors) {
      for (let word = sector * 8; word < sector * 8 + 8; word++) { // a sector of a ragged matrix may end in the next row
        const [x, y] = place.at(word), lanes = found.words.get(word);
        if (y >= place.rows) continue;
        view.append(box(x, y, 1, { fill: "var(--waste)" }));
        if (!lanes) continue;
        const used = box(x, y, 1, { fill: G.colour(site.array), "fill-opacity": G.shade(lanes[0]) });
        for (const event of ["pointerenter", "pointerdown"]) used.addEventListener(event, () => pick(lanes[0]));
        view.append(used);
      }
      if (place.columns % 8 === 0) view.append(box(...place.at(sector * 8), 8, { fill: "none", stroke: "var(--card)", "pointer-events": "none" }));
    }
    const mine = list[lane];
    if (mine !== null) {
      const [x, y] = place.at(Math.floor(mine / 4));
      view.append(G.svg("rect", { x: x * cell - 1.5, y: y * cell - 1.5, width: Math.max(cell, (cell * site.width) / 4) + 3, height: cell + 3,
        fill: "none", stroke: "var(--fg)", "stroke-width": 2.5, "pointer-events": "none" }));
    }
    return { view, found, mine };
  }

  G.parts.sectors = (root, data) => {
    const state = { site: 0, step: 0, warp: 0, lane: 0 };
    const kinds = data.variants[0].warps[0].sites.map((site, index) => ({ value: String(index), text: site.label }));
    const warps = data.variants[0].warps.map((warp) => warp.warp);
    const panels = G.el("div", { class: "gl-panels" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const site = (variant) => variant.warps[Math.min(state.warp, variant.warps.length - 1)].sites[state.site];
    const depth = () => Math.max(...data.variants.map((variant) => (site(variant) ? site(variant).steps.length : 1))) - 1;

    const step = G.slider({ label: "step", max: depth(), change: (v) => { state.step = v; render(); } });
    const lane = G.slider({ label: "lane", max: 31, change: (v) => { state.lane = v; render(); } });
    const warp = G.slider({ label: "warp", max: warps.length - 1, text: (i) => String(warps[i]), change: (v) => { state.warp = v; render(); } });
    warp.limit(warps.length - 1);
    const play = G.player(step);
    const access = G.choice({ label: "access", options: kinds, value: "0", change: (v) => {
      state.site = +v; state.step = 0; step.set(0); limit(); render();
    } });
    function limit() { step.limit(depth()); play.style.display = depth() > 0 ? "" : "none"; }

    const pick = (chosen) => { if (chosen !== state.lane) { state.lane = chosen; lane.set(chosen); render(); } };

    function element(one, address) {
      const shape = data.shapes[one.array];
      if (!shape) return `byte ${address.toLocaleString("en")}`;
      const index = Math.floor(address / shape.itemsize);
      return `${one.array}[${Math.floor(index / shape.columns)}, ${index % shape.columns}]`;
    }

    function render() {
      const said = [];
      panels.replaceChildren(...data.variants.map((variant) => {
        const one = site(variant);
        if (!one) return G.el("div", { class: "gl-panel" }, G.el("h4", {}, variant.title), "no such access");
        const k = Math.min(state.step, one.steps.length - 1);
        const shape = data.shapes[one.array], size = shape ? `${one.array}: ${shape.rows} × ${shape.columns}` : "128-byte lines";
        const { view, found, mine } = draw(one, shape, k, state.lane, pick);
        const moved = found.sectors.length * SECTOR, bad = found.sectors.length > Math.ceil(found.used / SECTOR);
        said.push(`${variant.title || one.label}: ` + (mine === null ? "idle" : `${element(one, mine)}, sector ${Math.floor(mine / SECTOR)}`));
        return G.el("div", { class: "gl-panel" }, G.el("h4", {}, variant.title ? `${variant.title}, ${size}` : size),
          G.el("p", { class: "gl-verdict" + (bad ? " gl-bad" : "") }, G.el("b", {}, G.plural(found.sectors.length, "sector")),
            ` · ${found.used} of ${moved.toLocaleString("en")} B used` + (one.line ? ` · line ${one.line}` : "")),
          view);
      }));
      status.textContent = `Lane ${state.lane} → ${said.join(" · ")}`;
    }

    root.append(G.el("p", { class: "gl-title" }, data.title),
      G.el("div", { class: "gl-controls" }, kinds.length > 1 ? access.node : null, step.node, play, lane.node, warp.node), panels, status,
      G.el("p", { class: "gl-note" }, "Coloured: a word that a lane uses (light: lane 0, dark: lane 31). Grey: moved with its 32-byte sector and not used. " + (data.source || "")));
    limit();
    render();
  };
})();
