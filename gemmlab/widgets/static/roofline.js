// The roofline explorer: GPU, data type and shape of a GEMM; its intensity by ideal bytes, its limits and time floors.
(() => {
  const G = window.gemmLadder;
  const PLAIN = { float64: "FP64", float32: "FP32", tf32: "TF32", bfloat16: "BF16", float16: "FP16", fp8: "FP8", int8: "INT8", fp4: "FP4" };

  // All limits of one GEMM: the model of gemmlab/roofline.py, each of A, B and C moved once.
  function limits(gpu, bytes, dtype, M, N, K) {
    const flops = 2 * M * N * K, moved = bytes * (M * K + K * N + M * N), peak = gpu.rates[dtype];
    const compute = flops / (peak * 1e12), memory = moved / (gpu.bandwidth * 1e9);
    return { flops, moved, peak, compute, memory, intensity: flops / moved, ridge: (peak * 1e3) / gpu.bandwidth,
      reach: Math.min(peak, ((flops / moved) * gpu.bandwidth) / 1e3), bound: compute >= memory ? "compute" : "memory" };
  }
  G.limits = limits;

  function quantity(value, unit) {
    const scale = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]].find(([size]) => value >= size) || [1, ""];
    return `${(value / scale[0]).toPrecision(3)} ${scale[1]}${unit}`;
  }
  const short = (v) => (v >= 1000 ? `${v / 1000}k` : String(v));
  const time = (s) => (s >= 1e-3 ? `${(s * 1e3).toPrecision(3)} ms` : `${(s * 1e6).toPrecision(3)} µs`);

  function picture(width, gpu, dtype, at) {
    const height = Math.max(220, Math.min(340, width * 0.55)), left = 46, right = 12, top = 16, bottom = 40;
    const span = { x: [0.1, 10000], y: [0.1, 20000] };
    const px = (v) => left + (Math.log(v / span.x[0]) / Math.log(span.x[1] / span.x[0])) * (width - left - right);
    const py = (v) => height - bottom - (Math.log(v / span.y[0]) / Math.log(span.y[1] / span.y[0])) * (height - top - bottom);
    const view = G.svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label":
      `Roofline of the ${gpu.name}, ${PLAIN[dtype]}: this GEMM has ${at.intensity.toPrecision(3)} FLOP per byte, its limit is ${at.reach.toPrecision(3)} TFLOP/s` });
    const text = (x, y, said, more = {}) => G.svg("text", { x, y, "font-size": 12, ...more }, said);
    for (const v of [0.1, 1, 10, 100, 1000, 10000]) {
      view.append(G.svg("line", { x1: px(v), x2: px(v), y1: top, y2: height - bottom, stroke: "var(--line)" }),
        text(px(v), height - bottom + 16, short(v), { "text-anchor": v === 10000 ? "end" : "middle", class: "gl-soft" }),
        G.svg("line", { x1: left, x2: width - right, y1: py(v), y2: py(v), stroke: "var(--line)" }),
        text(left - 6, py(v) + 4, short(v), { "text-anchor": "end", class: "gl-soft" }));
    }
    view.append(text(left + (width - left - right) / 2, height - 6, "FLOP per byte", { "text-anchor": "middle", class: "gl-soft" }),
      text(4, 11, "TFLOP/s", { class: "gl-soft" }));
    const edge = (span.x[0] * gpu.bandwidth) / 1e3, first = edge < span.y[0] ? (span.y[0] * 1e3) / gpu.bandwidth : span.x[0];
    const points = [[first, (first * gpu.bandwidth) / 1e3], [at.ridge, at.peak], [span.x[1], at.peak]].map(([x, y]) => `${px(x)},${py(y)}`);
    view.append(G.svg("polyline", { points: points.join(" "), fill: "none", stroke: "var(--gl-roof)", "stroke-width": 3 }),
      G.svg("line", { x1: px(at.ridge), x2: px(at.ridge), y1: py(at.peak), y2: height - bottom, stroke: "var(--gl-roof)", "stroke-dasharray": "2 4" }),
      text(px(at.ridge) + 4, height - bottom - 6, `ridge ${at.ridge.toPrecision(3)}`, { class: "gl-soft" }),
      text(left + 8, top + 18, `roof: ${at.peak.toLocaleString("en")} TFLOP/s, ${gpu.bandwidth.toLocaleString("en")} GB/s`, { class: "gl-soft" }));
    const x = px(Math.min(Math.max(at.intensity, span.x[0]), span.x[1])), y = py(Math.max(at.reach, span.y[0]));
    const color = at.bound === "memory" ? "var(--gl-problem)" : "var(--gl-c)";
    view.append(G.svg("line", { x1: x, x2: x, y1: y, y2: height - bottom, stroke: color, "stroke-width": 1.5 }),
      G.svg("rect", { x: -7, y: -7, width: 14, height: 14, fill: color, stroke: "var(--fg)", "stroke-width": 1.5, transform: `translate(${x} ${y}) rotate(45)` }),
      text(x, y + 26, at.reach.toPrecision(3), { "text-anchor": x > width - 60 ? "end" : "middle", "font-weight": 700 }));
    return view;
  }

  G.parts.roofline = (root, data) => {
    const state = { gpu: data.gpu, dtype: data.dtype, M: data.M, N: data.N, K: data.K };
    const plot = G.el("div"), status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const kinds = G.el("select", { "aria-label": "data type", onchange: () => { state.dtype = kinds.value; render(); } });
    let width = 600;
    const card = () => data.gpus.find((gpu) => gpu.key === state.gpu);
    function fill() {
      const names = Object.keys(card().rates);
      if (!names.includes(state.dtype)) state.dtype = names.includes("float16") ? "float16" : names[0];
      kinds.replaceChildren(...names.map((name) => G.el("option", { value: name, selected: name === state.dtype }, PLAIN[name] || name)));
    }
    function render() {
      const { M, N, K } = state, at = limits(card(), data.bytes[state.dtype], state.dtype, M, N, K);
      plot.replaceChildren(picture(width, card(), state.dtype, at));
      status.replaceChildren(
        `${quantity(at.flops, "FLOP")} over ${quantity(at.moved, "B")} = `, G.el("b", {}, `${at.intensity.toPrecision(4)} FLOP/byte`),
        `. Time floors: arithmetic ${time(at.compute)}, memory ${time(at.memory)}. `, G.el("b", {}, `Bound by ${at.bound}.`));
    }
    const size = (name) => G.slider({ label: name, max: 14, value: Math.log2(state[name]), text: (e) => String(2 ** e),
      change: (e) => { state[name] = 2 ** e; render(); } }).node;
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" },
      G.choice({ label: "GPU", value: state.gpu, menu: 1, options: data.gpus.map((gpu) => ({ value: gpu.key, text: gpu.name })),
        change: (key) => { state.gpu = key; fill(); render(); } }).node,
      G.el("label", { class: "gl-control" }, G.el("span", {}, "data type"), kinds), size("M"), size("N"), size("K")),
      plot, status, G.el("p", { class: "gl-note" }, "Modelled: published dense rates, FP32 accumulation (INT32 for INT8); A, B and C each moved once at the size of the data type."));
    fill();
    render();
    G.responsive(plot, (w) => { width = w; render(); });
  };
})();
