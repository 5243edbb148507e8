// The fragment map: which lane holds which element of an operand, and under which name.
(() => {
  const G = window.gemmLadder;

  // operand.cells[row][column] = [lane, element name]. Cells are found by their data when a finger slides over them.
  // Of the 64 rows of a warpgroup those of the chosen lane's warp are shown.
  function grid(operand, pick) {
    const rows = operand.cells.length, columns = operand.cells[0].length, cell = 24, boxes = [], labels = [];
    const high = rows > 32 ? 16 : rows, width = columns * cell + 26;
    const view = G.svg("svg", { role: "img", style: `max-width: ${columns * 26 + 26}px` }), head = G.svg("g", {});
    for (let c = 0; c < columns; c += columns > 8 ? 4 : 1)
      head.append(G.svg("text", { x: c * cell + cell / 2, y: -5, "font-size": 11, "text-anchor": "middle", class: "gl-faint" }, String(c)));
    view.append(head);
    for (let r = 0; r < rows; r++) {
      labels.push(G.svg("text", { x: -5, y: r * cell + 16, "font-size": 11, "text-anchor": "end", class: "gl-faint" }, String(r)));
      view.append(labels[r]);
      for (let c = 0; c < columns; c++) {
        const [owner, name] = operand.cells[r][c];
        const box = G.svg("rect", { x: c * cell, y: r * cell, width: cell - 1, height: cell - 1, "data-lane": owner },
          G.svg("title", {}, `${operand.name}[${r}, ${c}]: lane ${owner}, ${name}`));
        const text = G.svg("text", { x: c * cell + cell / 2 - 0.5, y: r * cell + 15.5, "text-anchor": "middle", "pointer-events": "none" });
        boxes.push({ box, text, owner, name, row: r });
        view.append(box, text);
      }
    }
    const under = (event) => {
      const at = document.elementFromPoint(event.clientX, event.clientY), lane = at && at.getAttribute("data-lane");
      if (lane !== null && view.contains(at)) pick(+lane);
    };
    for (const event of ["pointerdown", "pointermove"]) view.addEventListener(event, under);
    const show = (lane) => {
      const top = high < rows ? high * Math.floor(lane / 32) : 0;
      const display = (row) => (row >= top && row < top + high ? "inline" : "none");
      view.setAttribute("viewBox", `-24 ${top * cell - 18} ${width} ${high * cell + 20}`);
      head.setAttribute("transform", `translate(0 ${top * cell})`);
      labels.forEach((label, row) => label.setAttribute("display", display(row)));
      for (const { box, text, owner, name, row } of boxes) {
        const mine = owner === lane;
        for (const one of [box, text]) one.setAttribute("display", display(row));
        box.setAttribute("fill", mine ? G.colour(operand.name) : "var(--idle)");
        text.textContent = mine ? name : String(owner);
        text.setAttribute("class", mine ? (operand.name === "A" ? "gl-light" : "gl-dark") : "gl-faint");
        text.setAttribute("font-size", mine ? (name.length > 3 ? 9.5 : 11.5) : 10);
        text.setAttribute("font-weight", mine ? 700 : 400);
      }
      view.setAttribute("aria-label", `${operand.name}, ${rows} by ${columns}: lane ${lane} holds ${held(operand, lane).join(", ") || "nothing"}`);
    };
    return { view, show };
  }

  function held(operand, lane) {
    const found = [];
    operand.cells.forEach((row, r) => row.forEach(([owner, name], c) => { if (owner === lane) found.push([`${operand.name}[${r}, ${c}]`, name]); }));
    found.sort((a, b) => a[1].localeCompare(b[1], "en", { numeric: true }));
    return found.map(([place, name]) => `${place} as ${name}`);
  }

  G.parts.fragments = (root, data) => {
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    let chosen = -1;
    const choose = (lane) => {
      if (lane === chosen) return;
      chosen = lane;
      grids.forEach((one) => one.show(lane));
      status.textContent = `Lane ${lane} holds ` + data.operands.map((operand) => {
        const all = held(operand, lane);
        return all.slice(0, 8).join(", ") + (all.length > 8 ? ` and ${all.length - 8} more of ${operand.name}` : "");
      }).join("; ");
    };
    const lane = G.slider({ label: "lane", max: data.lanes - 1, value: data.lane || 0, change: choose });
    const grids = data.operands.map((operand) => grid(operand, (picked) => { lane.set(picked); choose(picked); }));
    const panels = G.el("div", { class: "gl-seats" }, data.operands.map((operand, i) =>
      G.el("div", { class: "gl-panel", style: `flex: ${operand.cells[0].length} 1 ${Math.min(300, operand.cells[0].length * 16)}px` },
        G.el("h4", {}, operand.title || operand.name), grids[i].view)));
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, lane.node, G.player(lane)), panels, status,
      G.el("p", { class: "gl-note" }, "Number: the lane that holds the element; the chosen lane's cells show the element's name. Slide over the cells or move the slider. " + (data.source || "")));
    choose(data.lane || 0);
  };
})();
