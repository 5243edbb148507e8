// The barrier stepper: the emulator's events one by one; phase, missing arrivals and bytes, and who waits, for each mbarrier.
(() => {
  const G = window.gemmLadder;

  // The state of every barrier after the first `count` events: {phase, pending, tx, expected, most, waiting: Set of warps}.
  G.barrierStates = (data, count) => {
    const states = data.barriers.map(() => null);
    data.events.slice(0, count).forEach(({ b, kind, phase, pending, tx, warps }) => {
      if (b === undefined) return;
      const old = states[b] || { waiting: new Set(), most: 0 };
      const waiting = new Set(old.waiting);
      for (const warp of warps || []) { if (kind === "wait") waiting.add(warp); if (kind === "pass") waiting.delete(warp); }
      const timed = kind === "wait" || kind === "pass"; // these tell of the phase that is waited for
      states[b] = { phase: timed ? old.phase || 0 : phase, pending: timed && old.pending !== undefined ? old.pending : pending, tx: timed && old.tx !== undefined ? old.tx : tx,
        most: kind === "init" ? pending : old.most, waiting };
    });
    return states;
  };

  G.parts.phases = (root, data) => {
    const area = G.el("div"), status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const most = Math.max(1, ...data.events.map((event) => event.tx || 0));
    const step = G.slider({ label: "event", min: 1, max: data.events.length, value: data.start, change: () => render() });
    const move = (by) => { step.set(Math.max(1, Math.min(data.events.length, step.get() + by))); render(); };

    function draw(width) {
      const states = G.barrierStates(data, step.get()), now = data.events[step.get() - 1];
      const left = 62, high = 40, unit = width - left, columns = [left, left + unit * 0.2, left + unit * 0.46, left + unit * 0.76];
      const view = G.svg("svg", { viewBox: `0 0 ${width} ${data.barriers.length * high + 22}`, role: "img", "aria-label": status.textContent });
      ["phase", "arrivals missing", "bytes missing", "waiting"].forEach((name, i) => view.append(G.svg("text", { x: columns[i], y: 13, "font-size": 11, class: "gl-faint" },
        width < 460 ? ["phase", "arrivals", "bytes", "waiting"][i] : name)));
      states.forEach((state, b) => {
        const y = 22 + b * high, here = now.b === b;
        view.append(G.svg("rect", { x: 0, y, width, height: high - 4, rx: 4, fill: "var(--idle)", stroke: here ? "var(--fg)" : "none", "stroke-width": 2 }),
          G.svg("text", { x: 7, y: y + 22, "font-size": 12.5, "font-weight": here ? 700 : 400 }, data.barriers[b]));
        if (!state) return;
        view.append(G.svg("rect", { x: columns[0], y: y + 6, width: 44, height: 24, rx: 4, fill: "var(--gl-c)", "fill-opacity": state.phase % 2 ? 0.35 : 1 }),
          G.svg("text", { x: columns[0] + 22, y: y + 22, "font-size": 12, "text-anchor": "middle", class: state.phase % 2 ? "" : "gl-dark" }, `${state.phase} (${state.phase % 2})`));
        const dots = Math.min(state.most, 8), gap = Math.min(18, (columns[2] - columns[1] - 26) / Math.max(dots, 1));
        for (let i = 0; i < dots; i++)
          view.append(G.svg("circle", { cx: columns[1] + 7 + i * gap, cy: y + 18, r: Math.min(6, gap * 0.42), fill: i < (state.pending * dots) / state.most ? "var(--gl-problem)" : "none", stroke: "var(--gl-problem)" }));
        view.append(G.svg("text", { x: columns[1] + 7 + dots * gap, y: y + 22, "font-size": 12 }, String(state.pending)));
        const bar = columns[3] - columns[2] - 12;
        view.append(G.svg("rect", { x: columns[2], y: y + 10, width: bar, height: 16, fill: "var(--card)" }),
          G.svg("rect", { x: columns[2], y: y + 10, width: (bar * Math.max(0, state.tx)) / most, height: 16, fill: "var(--gl-in-flight)" }),
          G.svg("text", { x: columns[2] + bar / 2, y: y + 22, "font-size": 11, "text-anchor": "middle" }, state.tx ? state.tx.toLocaleString("en") : "0"));
        const some = [...state.waiting].sort((p, q) => p - q);
        view.append(G.svg("text", { x: columns[3], y: y + 22, "font-size": 11 }, some.length > 3 ? `${width < 460 ? "" : "warps "}${some[0]}…${some[some.length - 1]}` : some.length ? `warp ${some.join(", ")}` : "–"));
      });
      return view;
    }

    function render() {
      const now = data.events[step.get() - 1];
      status.textContent = `${step.get()} of ${data.events.length}: ${now.text}.`;
      area.replaceChildren(draw(Math.round(area.clientWidth) || 600));
    }
    const button = (text, by, label) => G.el("button", { type: "button", onclick: () => move(by), "aria-label": label }, text);
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, step.node, button("◀", -1, "event before"), button("▶", 1, "next event"), G.player(step, 700)),
      status, area, G.el("p", { class: "gl-note" }, "phase (parity); filled dots: arrivals still missing in this phase; bar: bytes still missing. One event per step: the emulator's order, not a time. " + data.source));
    render();
    G.responsive(area, render);
  };
})();
