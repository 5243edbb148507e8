// The swizzle explorer: a box, and where its 16-byte chunks lie in shared memory. Places come from the emulator's rule.
(() => {
  const G = window.gemmLadder;
  const ROWS = 16, GROUPS = 8, PHASE = 8;

  // data.places[span][i % 64]: where the swizzle puts chunk i of shared memory, in a pattern of 1024 bytes. Under a
  // swizzle every row of the box takes the whole span, however short it is.
  G.swizzlePlace = (places, span, index) => index - (index % 64) + places[span][index % 64];

  G.parts.swizzle = (root, data) => {
    const state = { span: data.span, bytes: data.span || 128, chunk: 0, first: 0, row: 0 };
    const panels = G.el("div", { class: "gl-panels" }), verdict = G.el("p", { class: "gl-verdict" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const per = () => state.bytes / 16;
    const pitch = () => (state.span || state.bytes) / 16;
    const place = (row, chunk) => G.swizzlePlace(data.places, state.span, row * pitch() + chunk);

    const span = G.choice({ label: "swizzle", value: String(state.span), options: [0, 32, 64, 128].map((n) => ({ value: String(n), text: n ? `${n} B` : "none" })),
      change: (v) => { state.span = +v; width.set(Math.min(state.bytes, state.span || 128)); render(); } });
    const width = (() => {
      const slider = G.slider({ label: "box row", min: 4, max: 7, value: Math.log2(state.bytes), text: (e) => `${2 ** e} bytes`, change: (e) => {
        state.bytes = Math.min(2 ** e, state.span || 128);
        slider.set(Math.log2(state.bytes));
        render();
      } });
      return { node: slider.node, set(bytes) { state.bytes = bytes; slider.set(Math.log2(bytes)); } };
    })();
    const chunk = G.slider({ label: "chunk read", max: 7, change: (v) => { state.chunk = v; render(); } });
    const first = G.slider({ label: "from row", max: ROWS - PHASE, change: (v) => { state.first = v; state.row = v; render(); } });

    function grid(title, columns, rows, cellOf, label) {
      const cell = 36, high = 22;
      const view = G.svg("svg", { viewBox: `-26 -1 ${columns * cell + 28} ${rows * high + 20}`, role: "img", "aria-label": title, style: `max-width: ${columns * 44 + 28}px` });
      for (let y = 0; y < rows; y++) {
        view.append(G.svg("text", { x: -5, y: y * high + 15, "font-size": 11, "text-anchor": "end", class: "gl-faint" }, String(y)));
        for (let x = 0; x < columns; x++) {
          const found = cellOf(x, y), read = found && found.chunk === state.chunk && found.row >= state.first && found.row < state.first + PHASE;
          const picked = found && found.chunk === state.chunk && found.row === state.row;
          const box = G.svg("rect", { x: x * cell, y: y * high, width: cell - 1, height: high - 1, fill: !found ? "var(--idle)" : read ? strong : "var(--gl-a)",
            "fill-opacity": !found || read ? 1 : 0.12 + (0.25 * found.chunk) / per(), stroke: picked ? "var(--fg)" : "none", "stroke-width": 2.5 });
          view.append(box);
          if (!found) continue;
          view.append(G.svg("text", { x: x * cell + cell / 2, y: y * high + 15, "font-size": 11, "text-anchor": "middle", "pointer-events": "none",
            class: read ? (strong === "var(--gl-a)" ? "gl-light" : "gl-dark") : "" }, `${found.row}.${found.chunk}`));
          for (const event of ["pointerdown", "pointerenter"]) box.addEventListener(event, () => {
            if (state.row === found.row && state.chunk === found.chunk) return;
            state.row = found.row; state.chunk = found.chunk; chunk.set(found.chunk);
            if (found.row < state.first || found.row >= state.first + PHASE) { state.first = Math.min(found.row, ROWS - PHASE); first.set(state.first); }
            render();
          });
        }
      }
      view.append(G.svg("text", { x: 0, y: rows * high + 14, "font-size": 11, class: "gl-faint" }, label));
      return G.el("div", { class: "gl-panel" }, G.el("h4", {}, title), view);
    }

    let strong = "var(--gl-a)";
    function render() {
      state.chunk = Math.min(state.chunk, per() - 1);
      chunk.limit(per() - 1);
      const groups = Array.from({ length: PHASE }, (_, i) => place(state.first + i, state.chunk) % GROUPS);
      const waves = Math.max(...groups.map((g) => groups.filter((other) => other === g).length));
      strong = waves === 1 ? "var(--gl-a)" : "var(--gl-problem)";
      const at = new Map();
      for (let row = 0; row < ROWS; row++) for (let c = 0; c < per(); c++) at.set(place(row, c), { row, chunk: c });
      panels.replaceChildren(
        grid("The box", per(), ROWS, (x, y) => ({ row: y, chunk: x }), "chunks of 16 bytes"),
        grid("Shared memory", GROUPS, (ROWS * pitch()) / GROUPS, (x, y) => at.get(y * GROUPS + x), "lines of 128 bytes; columns: four banks each"));
      verdict.className = "gl-verdict" + (waves > 1 ? " gl-bad" : "");
      verdict.replaceChildren(G.el("b", {}, G.plural(waves, "wavefront")), ` for chunk ${state.chunk} of rows ${state.first} to ${state.first + PHASE - 1}` + (waves > 1 ? ", where 1 would do" : ", no conflict"));
      const plain = state.row * pitch() + state.chunk, now = place(state.row, state.chunk);
      status.textContent = `Row ${state.row}, chunk ${state.chunk}: without swizzle at byte ${16 * plain}; now at byte ${16 * now}, line ${now >> 3}, ` +
        `column ${plain % GROUPS}` + (state.span ? ` XOR ${(plain % GROUPS) ^ (now % GROUPS)} = ${now % GROUPS}.` : ".");
    }
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, span.node, width.node, chunk.node, first.node), verdict, panels, status,
      G.el("p", { class: "gl-note" }, "r.c: row and chunk of the box, which starts at a multiple of 1024 bytes. Strong: eight rows that one phase of ldmatrix reads. Choose a cell, or move the sliders. " + data.source));
    render();
  };
})();
