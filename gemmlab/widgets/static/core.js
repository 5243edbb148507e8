// Shared by the components: elements, controls, decoding of traces, mounting. No dependency, no network.
(() => {
  const G = (window.gemmLadder = window.gemmLadder || { parts: {} });
  if (G.mount) return;
  const SVG = "http://www.w3.org/2000/svg";
  let serial = 0;

  function build(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }
  const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

  // A labelled slider. `text(value)` is what the label shows and screen readers say.
  function slider({ label, min = 0, max, value = min, step = 1, text = String, change }) {
    const shown = el("b", { "aria-hidden": "true" }, text(value));
    const input = el("input", { type: "range", min, max, step, value, "aria-label": label, "aria-valuetext": text(value) });
    const say = () => { shown.textContent = text(+input.value); input.setAttribute("aria-valuetext", text(+input.value)); };
    input.addEventListener("input", () => { say(); change(+input.value); });
    const node = el("label", { class: "gl-control" }, el("span", {}, label + " ", shown), input);
    return {
      node, input,
      get: () => +input.value,
      set(v) { input.value = v; say(); },
      limit(top) { input.max = top; node.style.display = top > min ? "" : "none"; say(); },
    };
  }

  // A choice: a segmented row of radio buttons, or a menu when there are more than `menu` options.
  function choice({ label, options, value, change, menu = 4 }) {
    if (options.length > menu) {
      const select = el("select", { "aria-label": label, onchange: () => change(select.value) },
        options.map((o) => el("option", { value: o.value, selected: o.value === value }, o.text)));
      return { node: el("label", { class: "gl-control" }, el("span", {}, label), select), select };
    }
    const name = `gl-choice-${++serial}`;
    const radios = options.map((o) =>
      el("label", {}, el("input", { type: "radio", name, value: o.value, checked: o.value === value, onchange: () => change(o.value) }), o.text));
    return { node: el("fieldset", { class: "gl-control" }, el("legend", {}, label), el("div", { class: "gl-options" }, radios)) };
  }

  // A button that walks a slider to its end and stops there.
  function player(control, every = 350) {
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
    const button = el("button", { type: "button", onclick: () => {
      if (timer) return stop();
      if (control.get() >= +control.input.max) control.set(+control.input.min);
      button.textContent = "Stop";
      timer = setInterval(() => {
        if (!button.isConnected || control.get() >= +control.input.max) return stop();
        control.set(control.get() + 1);
        control.input.dispatchEvent(new Event("input"));
      }, every);
    } }, "Play");
    return button;
  }

  // Call draw(width) now and whenever the node's width changes.
  function responsive(node, draw) {
    let last = 0;
    const redraw = () => {
      const width = Math.round(node.clientWidth) || 600;
      if (width !== last) draw((last = width));
    };
    redraw();
    if (window.ResizeObserver) new ResizeObserver(redraw).observe(node);
  }

  // 32 byte addresses of one warp access; null where a lane is idle. See gemmlab/plots/export.py for the two forms.
  function addresses(step) {
    if (step.length === 32) return step;
    const [start, stride, mask] = step;
    return Array.from({ length: 32 }, (_, lane) => ((mask === undefined || (mask >>> lane) & 1) ? start + stride * lane : null));
  }

  const colour = (name) => `var(--gl-${{ A: "a", B: "b", C: "c" }[name] || "other"})`;
  const shade = (lane) => 0.5 + (0.5 * lane) / 31; // light for lane 0, full for lane 31
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  function mount(id) {
    const root = document.getElementById(id);
    if (!root || root.dataset.mounted) return;
    root.dataset.mounted = "yes";
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const body = el("div");
    G.parts[root.dataset.component](body, data);
    root.querySelector(".gl-fallback").replaceWith(body);
  }

  Object.assign(G, { el, svg, slider, choice, player, responsive, addresses, colour, shade, plural, mount });
})();
