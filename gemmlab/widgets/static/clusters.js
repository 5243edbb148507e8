// A cluster of CTAs on C: which strips of A and B each needs, which part of them it asks for, and what multicast saves.
(() => {
  const G = window.gemmLadder;

  G.parts.clusters = (root, data) => {
    const state = { ...data.choice, chosen: 0 }, area = G.el("div");
    const said = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const cta = G.slider({ label: "CTA", max: 15, change: (v) => { state.chosen = v; render(); } });
    const kilobytes = (rows) => (2 * state.bk * rows) / 1024;
    const show = (n) => `${+n.toFixed(2)} KB`;
    const pick = (label, key, values) => G.choice({
      label, value: String(state[key]), options: values.map((v) => ({ value: String(v), text: String(v) })),
      change: (v) => { state[key] = +v; state.chosen = Math.min(state.chosen, state.rows * state.columns - 1); render(); },
    }).node;

    function box(view, x, y, width, height, fill, text, mine, rank) {
      const cell = G.svg("g", rank === undefined ? {} : { "data-rank": rank, style: "cursor: pointer" },
        G.svg("rect", { x, y, width: width - 2, height: height - 2, fill: mine ? fill : "var(--idle)", rx: 2 }));
      if (text !== "") cell.append(G.svg("text", { x: x + width / 2 - 1, y: y + height / 2 + 4, "font-size": 12, "text-anchor": "middle",
        class: mine ? (fill === "var(--gl-a)" ? "gl-light" : "gl-dark") : "gl-faint", "pointer-events": "none" }, text));
      view.append(cell);
    }

    function draw() {
      const { rows, columns, chosen } = state, cell = 56, strip = 72, left = 24, top = 22;
      const row = Math.floor(chosen / columns), column = chosen % columns, x0 = left + strip + 8, y0 = top + strip + 8;
      const view = G.svg("svg", { viewBox: `0 0 ${x0 + columns * cell + 4} ${y0 + rows * cell + 4}`, role: "img",
        style: `max-width: ${x0 + columns * cell + 4}px`, "aria-label": `CTA ${chosen} of ${rows} by ${columns}` });
      view.append(G.svg("text", { x: left, y: y0 - 10, "font-size": 13, fill: "var(--gl-a)" }, "A"),
        G.svg("text", { x: x0, y: top - 8, "font-size": 13, fill: "var(--gl-b)" }, "B"));
      for (let r = 0; r < rows; r++)
        for (let c = 0; c < columns; c++) {
          const rank = r * columns + c;
          box(view, x0 + c * cell, y0 + r * cell, cell, cell, "var(--gl-c)", `CTA ${rank}`, rank === chosen, rank);
          box(view, left + (c * strip) / columns, y0 + r * cell, strip / columns, cell, "var(--gl-a)", String(rank), r === row);
          box(view, x0 + c * cell, top + (r * strip) / rows, cell, strip / rows, "var(--gl-b)", String(rank), c === column);
        }
      const choose = (event) => {
        const hit = event.target.closest && event.target.closest("[data-rank]");
        if (hit && +hit.dataset.rank !== state.chosen) { state.chosen = +hit.dataset.rank; render(); }
      };
      view.addEventListener("pointerdown", choose);
      view.addEventListener("pointermove", choose);
      return view;
    }

    function render() {
      const { rows, columns, bm, bn, chosen } = state, a = kilobytes(bm), b = kilobytes(bn);
      const asks = a / columns + b / rows, whole = a + b, ctas = rows * columns;
      cta.limit(ctas - 1);
      cta.set(chosen);
      area.replaceChildren(draw());
      said.textContent = `CTA ${chosen} asks L2 for ${show(a / columns)} of A and ${show(b / rows)} of B, and receives ${show(whole)}. ` +
        `The cluster asks for ${show(ctas * asks)} instead of ${show(ctas * whole)} per step: ${Math.round(100 * (1 - asks / whole))} % less.` +
        (ctas > 8 ? " More than 8 CTAs are not portable." : "");
    }
    root.append(G.el("p", { class: "gl-title" }, data.title),
      G.el("div", { class: "gl-controls" }, pick("CTAs along M", "rows", [1, 2, 4]), pick("CTAs along N", "columns", [1, 2, 4]),
        pick("BM", "bm", [64, 128, 256]), pick("BN", "bn", [64, 128, 256]), cta.node),
      area, said, G.el("p", { class: "gl-note" }, "Number on A or B: the CTA that asks for that part. Coloured: what the chosen CTA receives. " + data.source));
    render();
  };
})();
