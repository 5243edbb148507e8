// The descriptor decoder: the 64-bit word of a wgmma operand, and the 16-byte chunks of shared memory that it names.
(() => {
  const G = window.gemmLadder;
  const SWIZZLE = [0, 128, 64, 32], MASK = (1 << 18) - 1;
  const FIELDS = [ // name, first bit, bits
    ["start", 0, 14], ["", 14, 2], ["LBO", 16, 14], ["", 30, 2], ["SBO", 32, 14], ["", 46, 3], ["base", 49, 3], ["", 52, 10], ["swizzle", 62, 2],
  ];

  // The rules of ptxemu/wgmma_descriptor.py.
  G.descriptor = {
    encode: ({ start, lbo, sbo, swizzle, base }) => BigInt(start >> 4) | (BigInt(lbo >> 4) << 16n) | (BigInt(sbo >> 4) << 32n) | (BigInt(base) << 49n) |
      (BigInt(SWIZZLE.indexOf(swizzle)) << 62n),
    decode(word) {
      return { start: Number(word & 0x3fffn) << 4, lbo: Number((word >> 16n) & 0x3fffn) << 4, sbo: Number((word >> 32n) & 0x3fffn) << 4,
        base: Number((word >> 49n) & 7n), swizzle: SWIZZLE[Number(word >> 62n)] };
    },
    // Chunks as {row, k, at}: K-major rows 0 … rows - 1 with 2 chunks each; MN-major groups of eight elements with 16 k each.
    chunks({ start, lbo, sbo, swizzle, base }, major, rows) {
      const found = [], w = swizzle || 16, each = w / 16;
      for (let row = 0; row < rows; row++) {
        for (let k = 0; k < (major === "K" ? 2 : 16); k++) {
          let at = major === "K" ? (row % 8) * w + Math.floor(row / 8) * sbo + k * (swizzle ? 16 : lbo)
            : swizzle ? 16 * (row % each) + Math.floor(row / each) * lbo + (k % 8) * w + Math.floor(k / 8) * sbo
              : row * sbo + (k % 8) * 16 + Math.floor(k / 8) * lbo;
          at = (start + at) & MASK;
          if (swizzle) at ^= (((at >> 7) - base) & (each - 1)) << 4;
          found.push({ row, k, at });
        }
      }
      return found;
    },
  };
  const D = G.descriptor;

  G.parts.descriptor = (root, data) => {
    const state = { ...data.choice };
    const area = G.el("div"), bits = G.el("div"), verdict = G.el("p", { class: "gl-verdict" });
    const status = G.el("p", { class: "gl-status", role: "status", "aria-live": "polite" });
    const size = (n) => (n < 1024 || n % 1024 ? `${n} B` : `${n / 1024} KB`);
    const input = G.el("input", { type: "text", size: 20, spellcheck: "false", "aria-label": "descriptor, a hexadecimal number",
      style: "font: 13px/1.6 ui-monospace, monospace; color: var(--fg); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 3px 6px; max-width: 100%",
      onchange: () => { try { Object.assign(state, D.decode(BigInt(input.value.trim()) & 0xffffffffffffffffn)); } catch { status.textContent = "Write a number such as 0x4000004000010000."; return; } render(); } });
    const menus = {}, menu = (label, key, values, text) => {
      menus[key] = G.el("select", { "aria-label": label, onchange: () => { state[key] = +menus[key].value; render(); } });
      menus[key].values = values; menus[key].text = text;
      return G.el("label", { class: "gl-control" }, G.el("span", {}, label), menus[key]);
    };
    const fill = () => Object.entries(menus).forEach(([key, select]) => { // a value typed as a word joins the menu
      const values = [...new Set([...select.values, state[key]])].sort((a, b) => a - b);
      select.replaceChildren(...values.map((v) => G.el("option", { value: v, selected: v === state[key] }, select.text(v))));
    });
    const major = G.choice({ label: "operand", value: state.major, options: [{ value: "K", text: "K-major" }, { value: "MN", text: "MN-major" }], change: (v) => { state.major = v; render(); } });
    const steps = [0, 32, 64, 96, 128, 1024, 2048, 4096], strides = [0, 16, 128, 256, 512, 1024, 2048, 4096, 8192];

    function word(width) {
      const value = D.encode(state), cell = width / 64, view = G.svg("svg", { viewBox: `0 0 ${width} 46`, role: "img", "aria-label": `bits 63 to 0: 0x${value.toString(16)}` });
      for (const [name, first, length] of FIELDS) {
        const x = (64 - first - length) * cell;
        view.append(G.svg("rect", { x: x + 0.5, y: 16, width: length * cell - 1, height: 16, fill: name ? "var(--gl-a)" : "var(--idle)", "fill-opacity": name === "swizzle" ? 1 : name ? 0.3 : 1 }));
        if (name) view.append(G.svg("text", { x: x + (length * cell) / 2, y: 11, "font-size": length > 3 ? 11 : 10, "text-anchor": first === 62 ? "start" : "middle", ...(first === 62 ? { x: 0 } : {}) }, name),
          G.svg("text", { x: x + (length * cell) / 2, y: 43, "font-size": 9.5, "text-anchor": first === 62 ? "start" : "middle", ...(first === 62 ? { x: 0 } : {}), class: "gl-faint" }, length > 1 ? `${first + length - 1}–${first}` : String(first)));
      }
      for (let bit = 0; bit < 64; bit++) if ((value >> BigInt(bit)) & 1n) view.append(G.svg("rect", { x: (63 - bit) * cell + 1, y: 18, width: Math.max(1, cell - 2), height: 12, fill: "var(--fg)" }));
      return view;
    }

    function memory() {
      const rows = state.major === "K" ? 16 : 2, chunks = D.chunks(state, state.major, rows), first = Math.min(...chunks.map((c) => c.at)) >> 7;
      const lines = [...new Set(chunks.map((c) => c.at >> 7))].sort((a, b) => a - b), cell = 48, high = 20, gaps = lines.map((line, i) => i > 0 && line > lines[i - 1] + 1);
      const at = new Map(chunks.map((c) => [c.at >> 4, c])), label = 64;
      const view = G.svg("svg", { viewBox: `0 0 ${label + 8 * cell} ${(lines.length + gaps.filter(Boolean).length * 0.6) * high + 18}`, role: "img", style: "max-width: 560px",
        "aria-label": `${chunks.length} chunks in ${lines.length} lines of shared memory from byte ${first * 128}` });
      let y = 0;
      lines.forEach((line, i) => {
        if (gaps[i]) { view.append(G.svg("text", { x: label - 6, y: y + 8, "font-size": 11, "text-anchor": "end", class: "gl-faint" }, "…")); y += 0.6 * high; }
        view.append(G.svg("text", { x: label - 6, y: y + 14, "font-size": 11, "text-anchor": "end", class: "gl-faint" }, `0x${(line * 128).toString(16)}`));
        for (let column = 0; column < 8; column++) {
          const found = at.get(line * 8 + column), matrix = found && (state.major === "K" ? 2 * (found.row >> 3) + found.k : 2 * found.row + (found.k >> 3));
          view.append(G.svg("rect", { x: label + column * cell, y, width: cell - 1, height: high - 1, fill: found ? "var(--gl-a)" : "var(--idle)", "fill-opacity": found ? [1, 0.7, 0.45, 0.22][matrix] : 1 },
            found ? G.svg("title", {}, `${state.major === "K" ? `row ${found.row}, bytes ${16 * found.k} to ${16 * found.k + 15} along K` : `elements ${8 * found.row} to ${8 * found.row + 7}, k = ${found.k}`}: byte 0x${found.at.toString(16)}`) : ""));
          if (found) view.append(G.svg("text", { x: label + column * cell + cell / 2 - 0.5, y: y + 14, "font-size": 11, "text-anchor": "middle", "pointer-events": "none", class: matrix < 2 ? "gl-light" : "" }, `${found.row}.${found.k}`));
        }
        y += high;
      });
      view.append(G.svg("text", { x: label, y: y + 13, "font-size": 11, class: "gl-faint" }, "lines of 128 bytes; a column is four banks"));
      const groups = [0, 1, 2, 3].map((m) => chunks.filter((c) => (state.major === "K" ? 2 * (c.row >> 3) + c.k : 2 * c.row + (c.k >> 3)) === m).map((c) => (c.at >> 4) % 8));
      const worst = Math.max(...groups.map((g) => Math.max(...g.map((column) => g.filter((other) => other === column).length))));
      const twice = new Set(chunks.map((c) => c.at)).size < chunks.length;
      return { view, worst, twice };
    }

    function render() {
      const value = D.encode(state);
      input.value = "0x" + value.toString(16).padStart(16, "0");
      fill();
      bits.replaceChildren(word(Math.round(bits.clientWidth) || 600));
      const { view, worst, twice } = memory();
      area.replaceChildren(view);
      verdict.className = "gl-verdict" + (worst > 1 || twice ? " gl-bad" : "");
      verdict.replaceChildren(G.el("b", {}, twice ? "Chunks are read twice" : worst > 1 ? `${worst} of 8 chunks share their banks` : "8 chunks on 32 banks"),
        twice ? ": an offset is too small." : " in each core matrix");
      status.textContent = `Start 0x${state.start.toString(16)}, LBO ${state.lbo} B${state.swizzle && state.major === "K" ? " (not used)" : ""}, SBO ${state.sbo} B, ` +
        `${state.swizzle ? `${state.swizzle}-byte swizzle` : "no swizzle"}, base offset ${state.base}.`;
    }
    root.append(G.el("p", { class: "gl-title" }, data.title), G.el("div", { class: "gl-controls" }, major.node,
      menu("swizzle", "swizzle", [0, 32, 64, 128], (v) => (v ? `${v} B` : "none")), menu("start", "start", steps, (v) => `0x${v.toString(16)}`),
      menu("LBO", "lbo", strides, size), menu("SBO", "sbo", strides, size), menu("base offset", "base", [0, 1, 2, 3, 4, 5, 6, 7], String),
      G.el("label", { class: "gl-control" }, G.el("span", {}, "the word"), input)), bits, verdict, area, status,
      G.el("p", { class: "gl-note" }, "r.c: K-major, row and chunk along K of the first 16 rows; MN-major, group of eight elements and k. Four shades: core matrices of 8 × 16 bytes. " + data.source));
    render();
    G.responsive(bits, render);
  };
})();
