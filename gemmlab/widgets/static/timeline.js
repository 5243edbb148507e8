// The timeline: roles on rows, time on the x axis, a cursor that says who does what at that time.
(() => {
  const G = window.gemmLadder;
  const FILL = { load: "var(--gl-in-flight)", compute: "var(--gl-c)", store: "var(--gl-other)", issue: "var(--gl-issuing)", wait: "var(--waste)", barrier: "var(--gl-problem)" };

  G.parts.timeline = (root, data) => (data.explore ? explore(root, data) : show(root, data));

  // The stage model of gemmlab/stages.py: rows of spans for a number of tiles.
  G.pipeline = ({ load, compute, stages, producer, transfer = 0 }, tiles) => {
    const rows = Array.from({ length: stages }, (_, s) => ({ name: `load, buffer ${s}`, spans: [] })), multiply = [], wait = [], arrive = [];
    let served = 0;
    const issue = (tile, now) => {
      const begin = Math.max(now, served);
      served = begin + transfer;
      arrive[tile] = begin + Math.max(load, transfer);
      rows[tile % stages].spans.push({ start: now, end: arrive[tile], kind: "load", label: String(tile) });
    };
    const ahead = producer || stages === 1 ? stages : stages - 1;
    for (let tile = 0; tile < Math.min(ahead, tiles); tile++) issue(tile, 0);
    for (let tile = 0, free = 0; tile < tiles; tile++) {
      const start = Math.max(arrive[tile], free);
      if (start > free) wait.push({ start: free, end: start, kind: "wait", label: "" });
      multiply.push({ start, end: start + compute, kind: "compute", label: String(tile) });
      free = start + compute;
      if (tile + ahead < tiles) issue(tile + ahead, producer || stages === 1 ? free : start);
    }
    return [...rows, { name: "multiply", spans: multiply }, { name: "waiting", spans: wait }];
  };

  // That model with its times, buffers and order to choose.
  function explore(root, data) {
    const state = { ...data.explore }, area = G.el("div"), said = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const slide = (label, key, min, max, step) => G.slider({ label, min, max, step, value: state[key], change: (v) => { state[key] = v; render(); } }).node;
    const order = G.choice({
      label: "who loads", value: state.producer ? "producer" : "own",
      options: [{ value: "own", text: "the threads that multiply" }, { value: "producer", text: "a producer" }],
      change: (v) => { state.producer = v === "producer"; render(); },
    });

    function render() {
      const { load, compute, stages, producer, transfer = 0 } = state;
      const hidden = stages === 1 ? Math.max(load, transfer) + compute : producer ? (load + compute) / stages : load / (stages - 1);
      const tile = Math.max(compute, hidden, transfer), bound = transfer >= hidden ? "bandwidth" : "latency";
      said.textContent = `${+tile.toFixed(1)} per tile, of which ${+(tile - compute).toFixed(1)} without a multiply: `
        + (tile > compute ? `bound by ${bound}.` : "the loads are hidden.");
      const fresh = G.el("div");
      area.replaceChildren(fresh);
      show(fresh, { ...data, title: "", variants: [{ title: "", rows: G.pipeline(state, 8) }] });
    }
    root.append(G.el("p", { class: "gl-title" }, data.title),
      G.el("div", { class: "gl-controls" }, slide("load T_l", "load", 50, 600, 50), slide("multiply T_c", "compute", 50, 600, 50),
        slide("buffers S", "stages", 1, 6, 1), order.node,
        "transfer" in data.explore ? slide("memory busy per tile", "transfer", 0, 600, 50) : ""), said, area);
    render();
  }

  function show(root, data) {
    const end = Math.max(...data.variants.flatMap((v) => v.rows.flatMap((row) => row.spans.map((span) => span.end))));
    const state = { now: 0 };
    const plots = data.variants.map(() => G.el("div"));
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const cursor = G.slider({ label: data.unit || "time", max: end, change: (v) => { state.now = v; render(); } });
    const active = (row) => row.spans.filter((span) => span.start <= state.now && state.now < span.end);

    function draw(variant, width) {
      const longest = Math.max(...variant.rows.map((row) => row.name.length));
      const left = Math.min(8 + 6.4 * longest, width * 0.36), small = Math.min(12, (left - 4) / (0.54 * longest)), high = 26, gap = 6, x = (t) => left + (t / end) * (width - left - 8);
      const height = variant.rows.length * (high + gap) + 24;
      const view = G.svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${variant.title || data.title}: `
        + variant.rows.map((row) => `${row.name}: ${row.spans.map((s) => `${s.label || s.kind} ${s.start}–${s.end}`).join(", ")}`).join("; ") });
      variant.rows.forEach((row, i) => {
        const y = i * (high + gap);
        view.append(G.svg("text", { x: 0, y: y + 17, "font-size": small }, row.name),
          G.svg("rect", { x: left, y, width: width - left - 8, height: high, fill: "var(--idle)" }));
        for (const span of row.spans) {
          const wide = x(span.end) - x(span.start), label = span.label || "";
          view.append(G.svg("rect", { x: x(span.start), y, width: Math.max(1, wide - 1), height: high, rx: 3, fill: FILL[span.kind] || "var(--gl-roof)" },
            G.svg("title", {}, `${row.name}: ${label || span.kind}, ${span.start}–${span.end}`)));
          if (label && wide > 8 * label.length)
            view.append(G.svg("text", { x: x(span.start) + wide / 2, y: y + 17, "font-size": 12, "text-anchor": "middle", class: span.kind === "wait" ? "" : "gl-dark" }, label));
        }
      });
      const at = x(state.now), bottom = variant.rows.length * (high + gap);
      view.append(G.svg("line", { x1: at, x2: at, y1: 0, y2: bottom, stroke: "var(--fg)", "stroke-width": 2 }),
        G.svg("text", { x: left, y: bottom + 14, "font-size": 12, class: "gl-soft" }, "0"),
        G.svg("text", { x: width - 8, y: bottom + 14, "font-size": 12, "text-anchor": "end", class: "gl-soft" }, `${end} ${data.unit || ""}`));
      view.addEventListener("pointerdown", (event) => {
        const box = view.getBoundingClientRect(), t = (((event.clientX - box.left) / box.width) * width - left) / (width - left - 8);
        state.now = Math.round(Math.min(1, Math.max(0, t)) * end);
        cursor.set(state.now);
        render();
      });
      return view;
    }

    function render() {
      data.variants.forEach((variant, i) => plots[i].replaceChildren(draw(variant, Math.round(plots[i].clientWidth) || 600)));
      status.textContent = data.variants.map((variant) => (variant.title ? variant.title + ": " : "")
        + variant.rows.map((row) => `${row.name} ${active(row).map((s) => s.label || s.kind).join(" + ") || "idle"}`).join(", ")).join(" · ");
    }
    const kinds = [...new Set(data.variants.flatMap((v) => v.rows.flatMap((row) => row.spans.map((span) => span.kind))))];
    root.append(data.title ? G.el("p", { class: "gl-title" }, data.title) : "", G.el("div", { class: "gl-controls" }, cursor.node, G.player(cursor)),
      ...data.variants.map((variant, i) => G.el("div", { class: "gl-panel" }, variant.title ? G.el("h4", {}, variant.title) : null, plots[i])), status,
      G.el("p", { class: "gl-note" }, kinds.map((kind) => G.el("span", {}, G.el("span", { style: `color:${FILL[kind]}` }, "■ "), kind + "  ")), data.source || ""));
    render();
    G.responsive(root, render);
  }
})();
