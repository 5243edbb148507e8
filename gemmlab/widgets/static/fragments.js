// The fragment map: which lane holds which element of an operand, and in which register.
(() => {
  const G = window.gemmLadder;

  // operand.cells[row][column] = [lane, register]
  function grid(operand, lane, pick) {
    const rows = operand.cells.length, columns = operand.cells[0].length, cell = 24;
    const view = G.svg("svg", { viewBox: `-22 -18 ${columns * cell + 24} ${rows * cell + 20}`, role: "img",
      style: `max-width: ${columns * 26 + 24}px`,
      "aria-label": `${operand.name}, ${rows} by ${columns}: lane ${lane} holds ${held(operand, lane).join(", ") || "nothing"}` });
    for (let c = 0; c < columns; c += columns > 8 ? 4 : 1)
      view.append(G.svg("text", { x: c * cell + cell / 2, y: -5, "font-size": 11, "text-anchor": "middle", class: "gl-soft" }, String(c)));
    for (let r = 0; r < rows; r++) {
      view.append(G.svg("text", { x: -5, y: r * cell + 16, "font-size": 11, "text-anchor": "end", class: "gl-soft" }, String(r)));
      for (let c = 0; c < columns; c++) {
        const [owner, register] = operand.cells[r][c], chosen = owner === lane;
        const box = G.svg("rect", { x: c * cell, y: r * cell, width: cell - 1, height: cell - 1, fill: chosen ? G.colour(operand.name) : "var(--idle)" },
          G.svg("title", {}, `${operand.name}[${r}, ${c}]: lane ${owner}, ${register}`));
        for (const event of ["pointerenter", "pointerdown"]) box.addEventListener(event, () => pick(owner));
        view.append(box, G.svg("text", { x: c * cell + cell / 2 - 0.5, y: r * cell + 15.5, "font-size": 11, "text-anchor": "middle",
          class: chosen ? (operand.name === "A" ? "gl-light" : "gl-dark") : "gl-faint", "pointer-events": "none" }, chosen ? register : String(owner)));
      }
    }
    return view;
  }

  function held(operand, lane) {
    const found = [];
    operand.cells.forEach((row, r) => row.forEach(([owner, register], c) => { if (owner === lane) found.push(`${operand.name}[${r}, ${c}] in ${register}`); }));
    return found;
  }

  G.parts.fragments = (root, data) => {
    const state = { lane: 0 };
    const panels = G.el("div", { class: "gl-panels" }), status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const lane = G.slider({ label: "lane", max: data.lanes - 1, change: (v) => { state.lane = v; render(); } });
    const pick = (chosen) => { if (chosen !== state.lane) { lane.set(chosen); state.lane = chosen; render(); } };
    function render() {
      panels.replaceChildren(...data.operands.map((operand) => G.el("div", { class: "gl-panel" }, G.el("h4", {}, operand.title || operand.name), grid(operand, state.lane, pick))));
      status.textContent = `Lane ${state.lane} holds ` + data.operands.map((operand) => held(operand, state.lane).join(", ")).join("; ");
    }
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, lane.node, G.player(lane)), panels, status,
      G.el("p", { class: "gl-note" }, "Each cell shows the lane that holds the element; the chosen lane's cells show the register. " + (data.source || "")));
    render();
  };
})();
