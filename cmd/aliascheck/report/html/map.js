// The memory map: time runs from left to right in steps of the schedule, the
// address grows downwards. Everything is drawn on one canvas: an allocation may
// hold tens of thousands of values.
const roles = ["", "operand", "result", "overwritten", "other"];

function makeMap(map) {
  const canvas = el("canvas", { tabindex: "0", role: "img" });
  const readout = el("span", { cls: "readout" });
  const tip = el("p", { cls: "tip", role: "status" });
  const n = map.o.length;
  const whole = { x0: 0, x1: Math.max(map.steps, 1), y0: 0, y1: Math.max(map.size, 1) };
  const near = closeUp();
  let view = { ...near }, hot = -1, colors = {}, mono = "", named = [], hatched = [], w = 0, h = 0;
  const pad = { left: 76, top: 8, right: 10, bottom: 26 };

  // closeUp shows the call's slices with some room around them.
  function closeUp() {
    let y0 = Infinity, y1 = -Infinity, x0 = map.at, x1 = map.until;
    for (let i = 0; i < n; i++) if (map.r[i] > 0 && map.r[i] < 4) {
      y0 = Math.min(y0, map.o[i]); y1 = Math.max(y1, map.o[i] + map.s[i]);
      x0 = Math.min(x0, map.f[i]); x1 = Math.max(x1, map.t[i]);
    }
    if (y0 > y1) return { ...whole };
    const room = Math.max((y1 - y0) * 0.35, 1), steps = Math.max((x1 - x0) * 0.1, 2);
    return clamp({ x0: x0 - steps, x1: x1 + 1 + steps, y0: y0 - room, y1: y1 + room });
  }

  function clamp(v) {
    const sx = Math.min(v.x1 - v.x0, whole.x1), sy = Math.min(v.y1 - v.y0, whole.y1);
    const x0 = Math.max(0, Math.min(v.x0, whole.x1 - sx)), y0 = Math.max(0, Math.min(v.y0, whole.y1 - sy));
    return { x0, x1: x0 + sx, y0, y1: y0 + sy };
  }

  const X = (step) => pad.left + (step - view.x0) / (view.x1 - view.x0) * (w - pad.left - pad.right);
  const Y = (addr) => pad.top + (addr - view.y0) / (view.y1 - view.y0) * (h - pad.top - pad.bottom);

  function box(i) {
    const x = X(map.f[i]), y = Y(map.o[i]);
    return [x, y, Math.max(X(map.t[i] + 1) - x, 1.5), Math.max(Y(map.o[i] + map.s[i]) - y, 1.5)];
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    w = canvas.clientWidth; h = canvas.clientHeight;
    if (!w || !h) return;
    canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
    const g = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    for (const name of ["card", "sunk", "line", "ink", "soft", "plain", "plain-edge", "operand", "result", "overwritten", "other", "conflict"]) colors[name] = style.getPropertyValue("--" + name).trim();
    mono = style.getPropertyValue("--mono");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = colors.card; g.fillRect(0, 0, w, h);
    g.save();
    g.beginPath(); g.rect(pad.left, pad.top, w - pad.left - pad.right, h - pad.top - pad.bottom); g.clip();
    g.fillStyle = colors.sunk; g.fillRect(0, 0, w, h);
    for (const role of [0, 4, 3, 1, 2]) for (let i = 0; i < n; i++) if (map.r[i] === role) value(g, i);
    hatched = [];
    conflict(g);
    call(g);
    named = [];
    for (const role of [2, 1, 3, 4, 0]) for (let i = 0; i < n; i++) if (map.r[i] === role) label(g, i);
    if (hot >= 0) { const [x, y, bw, bh] = box(hot); g.strokeStyle = colors.ink; g.lineWidth = 2; g.strokeRect(x, y, bw, bh); }
    g.restore();
    axes(g);
    readout.textContent = bytes(Math.round(view.y1 - view.y0)) + " × " + count(Math.round(view.x1 - view.x0), "step");
  }

  function value(g, i) {
    const [x, y, bw, bh] = box(i);
    if (x > w || y > h || x + bw < pad.left || y + bh < 0) return;
    const role = roles[map.r[i]];
    g.fillStyle = role ? colors[role] : colors.plain;
    g.globalAlpha = role === "other" ? 0.75 : 1;
    g.fillRect(x, y, bw, bh);
    g.globalAlpha = 1;
    if (bw > 4 && bh > 4) { g.strokeStyle = role ? colors.card : colors["plain-edge"]; g.lineWidth = 1; g.strokeRect(x + 0.5, y + 0.5, bw - 1, bh - 1); }
  }

  // label names a value where its box has room, beside the hatching, and where no
  // other name and no value of the call is in the way.
  function label(g, i) {
    const [x, y, bw, bh] = box(i), role = map.r[i];
    if (bw < 40 || bh < 16 || x > w || y + bh < pad.top || y > h - pad.bottom) return;
    let left = Math.max(x, pad.left) + 6, right = Math.min(x + bw, w - pad.right) - 6;
    for (const o of hatched) {
      if (o[1] > y + 20 || o[3] < y || o[0] > right || o[2] < left) continue;
      if (o[0] - left > right - o[2]) right = o[0] - 6;
      else left = o[2] + 6;
    }
    const fits = Math.floor((right - left) / 6.7), text = map.n[i];
    if (fits < 5) return;
    const middle = Math.min(y + bh / 2, Math.max(y, pad.top) + 14), shown = text.length > fits ? text.slice(0, fits - 1) + "…" : text;
    const words = [left, middle - 7, left + shown.length * 6.7, middle + 7];
    if (named.length > 400 || named.some((o) => o[0] < words[2] && words[0] < o[2] && o[1] < words[3] && words[1] < o[3])) return;
    named.push(role ? [x, y, x + bw, y + bh] : words);
    g.font = "11px " + mono;
    g.fillStyle = role ? colors.card : colors.soft;
    g.textBaseline = "middle";
    g.fillText(shown, left, middle);
  }

  // conflict hatches the bytes that operand or overwritten value and result share.
  function conflict(g) {
    const results = [], others = [];
    for (let i = 0; i < n; i++) { if (map.r[i] === 2) results.push(i); if (map.r[i] === 1 || map.r[i] === 3) others.push(i); }
    for (const r of results) for (const o of others) {
      const y0 = Math.max(map.o[r], map.o[o]), y1 = Math.min(map.o[r] + map.s[r], map.o[o] + map.s[o]);
      if (y0 < y1) hatch(g, Math.max(map.f[r], map.f[o], 0), Math.min(map.t[r], map.t[o]) + 1, y0, y1, roles[map.r[o]]);
    }
  }

  // hatch paints the shared bytes: what was there on the left, what comes on the right.
  function hatch(g, from, to, y0, y1, role) {
    let xa = X(from), xb = X(Math.max(to, from + 1));
    if (xb - xa < 16) { const mid = (xa + xb) / 2; xa = mid - 8; xb = mid + 8; }
    const ya = Y(y0), yb = Math.max(Y(y1), ya + 3), mid = (xa + xb) / 2;
    hatched.push([xa, ya, xb, yb]);
    g.save();
    g.beginPath(); g.rect(xa, ya, xb - xa, yb - ya); g.clip();
    g.fillStyle = colors[role]; g.fillRect(xa, ya, mid - xa, yb - ya);
    g.fillStyle = colors.result; g.fillRect(mid, ya, xb - mid, yb - ya);
    g.fillStyle = colors.card; g.globalAlpha = 0.62; g.fillRect(xa, ya, xb - xa, yb - ya); g.globalAlpha = 1;
    g.strokeStyle = colors.conflict; g.lineWidth = 2; g.beginPath();
    const top = Math.max(ya, -10), bottom = Math.min(yb, h + 10), left = Math.max(xa, -10), right = Math.min(xb, w + 10);
    for (let x = left - (bottom - top); x < right; x += 7) { g.moveTo(x, bottom); g.lineTo(x + (bottom - top), top); }
    g.stroke();
    g.restore();
    g.strokeStyle = colors.conflict; g.lineWidth = 1.5; g.strokeRect(xa, ya, xb - xa, yb - ya);
  }

  function call(g) {
    const x = (X(map.at) + X(map.until + 1)) / 2;
    g.strokeStyle = colors.ink; g.lineWidth = 1; g.setLineDash([3, 3]);
    g.beginPath(); g.moveTo(x, pad.top); g.lineTo(x, h - pad.bottom); g.stroke();
    g.setLineDash([]);
  }

  function axes(g) {
    g.font = "11px " + getComputedStyle(document.documentElement).getPropertyValue("--sans");
    g.fillStyle = colors.soft; g.strokeStyle = colors.line; g.lineWidth = 1;
    g.textBaseline = "middle"; g.textAlign = "right";
    for (const a of ticks(view.y0, view.y1, 5, 2)) { const y = Y(a); g.fillText(bytes(Math.round(a)).replace(" bytes", " B").replace(" byte", " B"), pad.left - 8, y); }
    g.textAlign = "center"; g.textBaseline = "top";
    const mid = (X(map.at) + X(map.until + 1)) / 2, named = mid >= pad.left && mid <= w - pad.right;
    for (const s of ticks(view.x0, view.x1, Math.max(2, Math.floor(w / 140)), 10)) {
      const x = X(s + 0.5);
      if (x < w - pad.right - 12 && (!named || Math.abs(x - mid) > 40)) g.fillText(number.format(Math.round(s)), x, h - pad.bottom + 7);
    }
    if (named) { g.fillStyle = colors.ink; g.fillText("call", mid, h - pad.bottom + 7); }
    g.textAlign = "left";
  }

  // ticks are round numbers: powers of two for bytes, of ten for steps.
  function ticks(from, to, most, base) {
    const raw = (to - from) / most;
    let unit = Math.pow(base, Math.ceil(Math.log(raw) / Math.log(base)));
    if (base === 10) for (const part of [5, 2.5, 2]) if (unit / part >= raw && unit / part >= 1) { unit /= part; break; }
    unit = Math.max(unit, 1);
    const out = [];
    for (let v = Math.ceil(from / unit) * unit; v <= to && out.length < 50; v += unit) out.push(v);
    return out;
  }

  function hit(px, py) {
    let best = -1, area = Infinity;
    for (let i = 0; i < n; i++) {
      const [x, y, bw, bh] = box(i);
      if (px < x - 1 || px > x + bw + 1 || py < y - 1 || py > y + bh + 1) continue;
      const a = bw * bh - (map.r[i] ? 1e7 : 0);
      if (a < area) { area = a; best = i; }
    }
    return best;
  }

  function show(i) {
    if (i === hot) return;
    hot = i;
    tip.textContent = i < 0 ? "" : map.n[i] + (map.r[i] ? " (" + roles[map.r[i]].replace("other", "another value of the call") + ")" : "") + ": bytes " + number.format(map.o[i]) + " to " + number.format(map.o[i] + map.s[i]) + " (" + bytes(map.s[i]) + "), steps " + number.format(map.f[i]) + " to " + number.format(map.t[i]);
    draw();
  }

  function zoom(by, fx, fy) {
    const sx = Math.max((view.x1 - view.x0) * by, 4), sy = Math.max((view.y1 - view.y0) * by, 64);
    const cx = view.x0 + fx * (view.x1 - view.x0), cy = view.y0 + fy * (view.y1 - view.y0);
    view = clamp({ x0: cx - fx * sx, x1: cx + (1 - fx) * sx, y0: cy - fy * sy, y1: cy + (1 - fy) * sy });
    pressed(); draw();
  }
  function pan(dx, dy) {
    const sx = view.x1 - view.x0, sy = view.y1 - view.y0;
    view = clamp({ x0: view.x0 + dx * sx, x1: view.x1 + dx * sx, y0: view.y0 + dy * sy, y1: view.y1 + dy * sy });
    pressed(); draw();
  }
  function go(v) { view = { ...v }; pressed(); draw(); }

  let drag = null;
  const at = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  canvas.addEventListener("pointerdown", (e) => { drag = { p: at(e), moved: false }; if (e.pointerType === "mouse") canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    const p = at(e);
    if (drag && e.buttons) {
      drag.moved = true;
      pan((drag.p[0] - p[0]) / (w - pad.left - pad.right), (drag.p[1] - p[1]) / (h - pad.top - pad.bottom));
      drag.p = p;
    } else show(hit(p[0], p[1]));
  });
  canvas.addEventListener("pointerup", (e) => { if (drag && !drag.moved) show(hit(...at(e))); drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!drag) show(-1); });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const p = at(e);
    zoom(e.deltaY < 0 ? 0.8 : 1.25, Math.max(0, (p[0] - pad.left) / (w - pad.left - pad.right)), Math.max(0, (p[1] - pad.top) / (h - pad.top - pad.bottom)));
  }, { passive: false });
  const lit = [];
  for (let i = 0; i < n; i++) if (map.r[i]) lit.push(i);
  canvas.addEventListener("keydown", (e) => {
    const key = { ArrowLeft: () => pan(-0.2, 0), ArrowRight: () => pan(0.2, 0), ArrowUp: () => pan(0, -0.2), ArrowDown: () => pan(0, 0.2), "+": () => zoom(0.7, 0.5, 0.5), "=": () => zoom(0.7, 0.5, 0.5), "-": () => zoom(1.4, 0.5, 0.5), "0": () => go(whole),
      n: () => { if (lit.length) show(lit[(lit.indexOf(hot) + 1) % lit.length]); } }[e.key];
    if (key) { e.preventDefault(); e.stopPropagation(); key(); }
  });

  const button = (text, f, label) => el("button", { type: "button", cls: "quiet", "aria-label": label, on: { click: f } }, text);
  const toCall = button("The call", () => go(near)), toWhole = button("Whole allocation", () => go(whole));
  function pressed() {
    toCall.setAttribute("aria-pressed", same(near, view)); toWhole.setAttribute("aria-pressed", same(whole, view));
  }
  function same(a, b) {
    return Math.abs(a.x0 - b.x0) + Math.abs(a.x1 - b.x1) < 1e-6 && Math.abs(a.y0 - b.y0) + Math.abs(a.y1 - b.y1) < 1e-3;
  }
  canvas.setAttribute("aria-label", "Memory map of allocation " + map.allocation + ": " + count(n, "value") + " over " + count(map.steps, "step") + " of the schedule. " + lit.slice(0, 8).map((i) => roles[map.r[i]] + " " + map.n[i] + ", bytes " + map.o[i] + " to " + (map.o[i] + map.s[i])).join("; ") + ". Arrow keys move, plus and minus zoom, n names the call's values.");

  const used = new Set(map.r);
  const legend = el("div", { cls: "legend" },
    used.has(1) && el("span", {}, el("i", { cls: "operand" }), "operand"),
    used.has(2) && el("span", {}, el("i", { cls: "result" }), "result"),
    used.has(3) && el("span", {}, el("i", { cls: "overwritten" }), "overwritten value"),
    used.has(4) && el("span", {}, el("i", { cls: "other" }), "other values of the call"),
    used.has(0) && el("span", {}, el("i", { cls: "plain" }), "other values"),
    overlaps() && el("span", {}, el("i", { cls: "conflict" }), "the same bytes"));
  function overlaps() {
    for (let r = 0; r < n; r++) if (map.r[r] === 2) for (let o = 0; o < n; o++) {
      if ((map.r[o] === 1 || map.r[o] === 3) && map.o[o] < map.o[r] + map.s[r] && map.o[r] < map.o[o] + map.s[o]) return true;
    }
    return false;
  }
  const node = el("div", {},
    el("div", { cls: "map" }, el("div", { cls: "tools" }, toCall, toWhole, button("+", () => zoom(0.7, 0.5, 0.5), "Zoom in"), button("−", () => zoom(1.4, 0.5, 0.5), "Zoom out"), readout), canvas),
    legend, tip,
    map.left > 0 && el("p", { cls: "muted" }, count(map.left, "value") + " of this allocation " + (map.left === 1 ? "is" : "are") + " left out, to keep this file small."));
  const resize = new ResizeObserver(draw);
  resize.observe(canvas);
  const recolor = () => draw();
  addEventListener("themechange", recolor);
  toCall.hidden = same(near, whole);
  if (n <= 8) canvas.classList.add("low");
  pressed();
  return { node, stop() { resize.disconnect(); removeEventListener("themechange", recolor); }, draw, count: n };
}
