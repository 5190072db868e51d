// The list of findings and its filters. Rows are made as they are scrolled to.
function makeList(index, open) {
  const box = $("list");
  const batch = 60;
  const selects = { s: $("by-severity"), c: $("by-code"), k: $("by-kernel"), m: $("by-module"), u: $("by-test"), q: $("by-confirmation") };
  const names = { s: "severity", c: "code", k: "kernel", m: "module", u: "test", q: "confirmation" };
  let shown = index, made = 0, current = -1;

  // Of tests a finding has several, or none.
  const values = (e, key) => (key === "u" ? (e.u && e.u.length ? e.u : [""]) : [e[key]]);
  const searchable = index.map((e) => [e.c, e.r, e.k, e.m, e.p, e.t, e.f, ...(e.u || [])].join("\n").toLowerCase());

  for (const [key, select] of Object.entries(selects)) {
    const counts = new Map();
    for (const e of index) for (const v of values(e, key)) counts.set(v, (counts.get(v) || 0) + 1);
    select.hidden = key === "u" && counts.size < 2; // nobody ran tests
    select.append(el("option", { value: "" }, "Any " + names[key]));
    const order = key === "s" ? ["error", "warning", "note"].filter((s) => counts.has(s)) : [...counts.keys()].sort();
    for (const value of order) select.append(el("option", { value: "=" + value }, (value || "(none)") + " (" + number.format(counts.get(value)) + ")"));
    select.addEventListener("change", filter);
  }
  $("search").addEventListener("input", filter);
  $("reset").addEventListener("click", () => { clear(); filter(); $("search").focus(); });

  function clear() {
    $("search").value = "";
    for (const select of Object.values(selects)) select.value = "";
  }

  function filter() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = Object.entries(selects).filter(([, s]) => s.value).map(([key, s]) => [key, s.value.slice(1)]);
    for (const s of Object.values(selects)) s.classList.toggle("set", s.value !== "");
    shown = index.filter((e) => wanted.every(([key, value]) => values(e, key).includes(value)) && words.every((w) => searchable[e.n].includes(w)));
    $("reset").hidden = !words.length && !wanted.length;
    const of = shown.length === index.length ? "" : number.format(shown.length) + " of ";
    $("count").textContent = of + count(index.length, "finding");
    box.replaceChildren();
    made = 0;
    more();
    if (!shown.length) box.append(el("p", { cls: "nothing" }, "No finding fits these filters."));
    mark();
  }

  function more() {
    const sentinel = box.querySelector(".sentinel");
    if (sentinel) sentinel.remove();
    const end = Math.min(made + batch, shown.length);
    const rows = [];
    for (; made < end; made++) rows.push(row(shown[made], made));
    box.append(...rows);
    if (made < shown.length) {
      const next = el("div", { cls: "sentinel" });
      box.append(next);
      watch.observe(next);
    }
  }
  const watch = new IntersectionObserver((seen) => {
    for (const s of seen) if (s.isIntersecting) { watch.unobserve(s.target); more(); }
  }, { rootMargin: "600px" });

  function row(e, at) {
    return el("div", {
      cls: "row", role: "option", id: "row-" + e.n, "aria-setsize": shown.length, "aria-posinset": at + 1,
      "aria-selected": e.n === current ? "true" : "false",
      on: { click: () => { open(e.n, true); } },
    },
    el("div", { cls: "line" }, el("span", { cls: "sev " + e.s }, e.c), el("span", { cls: "what" }, e.r), el("span", { cls: "calls" }, e.x > 1 ? number.format(e.x) + " calls" : "")),
    el("div", { cls: "kernel", title: e.k }, e.k),
    el("div", { cls: "place", title: e.p }, e.p));
  }

  function mark() {
    for (const r of box.querySelectorAll('[aria-selected="true"]')) r.setAttribute("aria-selected", "false");
    const r = $("row-" + current);
    if (r) {
      r.setAttribute("aria-selected", "true");
      box.setAttribute("aria-activedescendant", r.id);
    } else box.removeAttribute("aria-activedescendant");
    return r;
  }

  // select marks a finding; one that the filters hide takes them away.
  function select(n, scroll) {
    current = n;
    if (!shown.some((e) => e.n === n)) { clear(); filter(); }
    while (made < shown.length && !$("row-" + n)) more();
    const r = mark();
    if (r && scroll) reveal(r);
  }

  // reveal scrolls the list, and never the page.
  function reveal(r) {
    if (r.offsetTop < box.scrollTop) box.scrollTop = r.offsetTop;
    else if (r.offsetTop + r.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = r.offsetTop + r.offsetHeight - box.clientHeight;
  }

  function step(by) {
    if (!shown.length) return;
    const at = shown.findIndex((e) => e.n === current);
    const to = at < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, at + by));
    open(shown[to].n, false);
  }

  box.addEventListener("keydown", (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -shown.length, End: shown.length }[e.key];
    if (by) { e.preventDefault(); step(by); }
    if ((e.key === "Enter" || e.key === " ") && current >= 0) { e.preventDefault(); open(current, true); }
  });

  function setCode(code) {
    clear();
    selects.c.value = "=" + code;
    filter();
    if (shown.length) open(shown[0].n, false);
  }

  filter();
  return { select, step, setCode, first: () => (shown.length ? shown[0].n : -1) };
}
