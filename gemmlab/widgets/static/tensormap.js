// The tensor-map explorer: array, box and coordinates; what arrives, and why a map is refused. Refusals come from gl.tensor_map.
(() => {
  const G = window.gemmLadder;

  // How many of `length` positions from `start` on lie in 0 … extent - 1.
  const inside = (extent, start, length) => Math.max(0, Math.min(extent, start + length) - Math.max(0, start));
  G.inside = inside;

  G.parts.tensormap = (root, data) => {
    const state = { ...data.choice };
    const area = G.el("div"), verdict = G.el("p", { class: "gl-verdict" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const pick = (label, key, values, text = String) => G.choice({ label, value: String(state[key]), menu: 3, options: values.map((v) => ({ value: String(v), text: text(v) })),
      change: (v) => { state[key] = typeof values[0] === "number" ? +v : v; render(); } });
    const x = G.slider({ label: "coordinate 0: column", min: -64, max: 128, step: 8, value: state.x, change: (v) => { state.x = v; render(); } });
    const y = G.slider({ label: "coordinate 1: row", min: -32, max: data.rows, step: 8, value: state.y, change: (v) => { state.y = v; render(); } });

    function picture(width) {
      const low = -64, right = 224, top = -32, bottom = data.rows + 40, scale = width / (right - low);
      const px = (v) => (v - low) * scale, py = (v) => (v - top) * scale;
      const rect = (l, t, w, h, look) => G.svg("rect", { x: px(l), y: py(t), width: w * scale, height: h * scale, ...look });
      const view = G.svg("svg", { viewBox: `0 0 ${width} ${(bottom - top) * scale}`, role: "img", "aria-label": status.textContent });
      const hatch = G.svg("pattern", { id: `${uid}-hatch`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        G.svg("rect", { width: 3, height: 8, fill: "var(--gl-problem)" }));
      view.append(G.svg("defs", {}, hatch), rect(0, 0, state.columns, data.rows, { fill: "var(--gl-a)", "fill-opacity": 0.18, stroke: "var(--gl-a)" }));
      const kept = [inside(state.columns, state.x, state.box), inside(data.rows, state.y, state.high)];
      view.append(rect(state.x, state.y, state.box, state.high, { fill: `url(#${uid}-hatch)` }));
      if (kept[0] && kept[1]) view.append(rect(Math.max(0, state.x), Math.max(0, state.y), ...kept, { fill: "var(--gl-a)" }));
      view.append(rect(state.x, state.y, state.box, state.high, { fill: "none", stroke: "var(--fg)", "stroke-width": 2 }),
        G.svg("text", { x: px(0), y: py(0) - 5, "font-size": 12 }, `A: ${data.rows} × ${state.columns}`));
      const move = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        const at = view.getBoundingClientRect(), unit = (value, slider) => Math.max(+slider.input.min, Math.min(+slider.input.max, Math.round(value / 8) * 8));
        const column = ((event.clientX - at.left) / at.width) * (right - low) + low, row = ((event.clientY - at.top) / at.height) * (bottom - top) + top;
        state.x = unit(column - state.box / 2, x); state.y = unit(row - state.high / 2, y);
        x.set(state.x); y.set(state.y);
        render();
      };
      for (const event of ["pointerdown", "pointermove"]) view.addEventListener(event, move);
      return view;
    }

    function render() {
      const size = data.sizes[state.dtype], why = data.reasons[data.refusals[[state.dtype, state.columns, state.box, state.swizzle].join()] ?? -1];
      const kept = inside(state.columns, state.x, state.box) * inside(data.rows, state.y, state.high), all = state.box * state.high;
      verdict.className = "gl-verdict" + (why ? " gl-bad" : "");
      verdict.replaceChildren(G.el("b", {}, why ? "Refused: " : "Accepted. "), why || `A row of the box is ${state.box * size} bytes, the box ${(all * size).toLocaleString("en")}.`);
      status.textContent = why ? "No copy: the driver makes no map of this." :
        `Coordinates (${state.x}, ${state.y}): ${kept.toLocaleString("en")} of ${all.toLocaleString("en")} elements come from A, ` +
        `${(all - kept).toLocaleString("en")} are filled. The barrier counts ${(all * size).toLocaleString("en")} bytes either way.`;
      area.replaceChildren(picture(Math.round(area.clientWidth) || 600));
    }
    const uid = `gl-map-${Math.random().toString(36).slice(2, 8)}`;
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" },
      pick("type", "dtype", Object.keys(data.sizes)).node, pick("columns of A", "columns", data.columns).node, pick("box columns", "box", data.boxes).node,
      pick("box rows", "high", data.heights).node, pick("swizzle", "swizzle", [0, 32, 64, 128], (n) => (n ? `${n} B` : "none")).node, x.node, y.node), verdict, area, status,
      G.el("p", { class: "gl-note" }, "Blue: comes from A. Hatched: outside, arrives as zeros. Drag the box, or move the sliders. " + data.source));
    render();
    G.responsive(area, render);
  };
})();
