// One finding, read from its own script element only when it is opened.
let openMap = null;

function section(title, ...children) {
  const inside = children.flat().filter(Boolean);
  return inside.length ? el("section", {}, el("h3", {}, title), inside) : null;
}

function renderDetail(entry, back) {
  if (openMap) { openMap.stop(); openMap = null; }
  const f = json("finding-" + entry.n);
  const link = () => location.href.split("#")[0] + "#" + encodeURIComponent(entry.f);
  $("detail").replaceChildren(
    el("header", {},
      el("button", { type: "button", cls: "quiet back", on: { click: back } }, "← All findings"),
      el("div", { cls: "badges" },
        el("span", { cls: "sev " + entry.s }, entry.s + " " + entry.c),
        el("span", { cls: "chip " + entry.q }, entry.q),
        entry.x > 1 && el("span", { cls: "chip" }, count(entry.x, "equal call")),
        el("button", { type: "button", cls: "link", id: "copy-link", on: { click: () => copyText(link()) } }, "Copy link")),
      el("h2", { cls: "title" }, sentence(entry.r) + ": " + entry.k),
      el("p", { cls: "at" }, f.place ? [el("code", {}, f.place), f.function && el("span", {}, "in " + f.function), copyButton(f.place, "the place")] : "the dump names no Python line")),
    ...[
      el("section", {}, el("p", { cls: "lead" }, f.message), f.why && el("p", { cls: "why" }, f.why)),
      f.fix && section("How to mend it", el("p", { cls: "mend" }, f.fix), f.patch && el("pre", { cls: "patch" }, f.patch.map((line) => el("span", { cls: line[0] === "-" ? "out" : "in" }, line + "\n")))),
      memory(f),
      witness(f),
      replay(f),
      section("Proof", f.reason && el("p", {}, el("b", {}, entry.q), ": " + f.reason)),
      section("The call", facts(f, entry)),
      section("Related places", related(f).length > 0 && el("ul", { cls: "plainlist" }, related(f).map((r) => el("li", {}, el("b", {}, r.role), " ", r.place && el("code", {}, r.place), r.place && r.text ? " " : "", r.text)))),
      section("GPUs that it was compiled for", f.gpus && el("p", {}, f.gpus)),
      section("Equal calls are made at", f.callers && el("ul", { cls: "plainlist" }, f.callers.map((c) => el("li", {}, el("code", {}, c))))),
      section("Tests that run it", f.tests && el("ul", { cls: "plainlist" }, f.tests.map((t) => el("li", {}, el("code", {}, t))), f.more_tests > 0 && el("li", { cls: "muted" }, "and " + number.format(f.more_tests) + " more"))),
      section("To live with it", el("div", { cls: "snippet" }, el("pre", {}, f.silence), copyButton(f.silence, "the suppression"))),
      section("To replay it on a GPU", f.again && el("div", { cls: "snippet" }, el("pre", {}, f.again), copyButton(f.again, "the command"))),
      stack(f),
      doc(entry.c),
    ].filter(Boolean));
  if (openMap) openMap.draw();
}

// related leaves out the witness, which has its own place.
function related(f) {
  return (f.related || []).filter((r) => !f.witness || (r.role !== "reader" && r.role !== "writer"));
}

function sentence(rule) {
  const words = rule.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function memory(f) {
  if (f.map) {
    openMap = makeMap(f.map);
    const s = f.operand_slice, elsewhere = s && f.result_slice && s.allocation !== f.map.allocation;
    const node = section("Allocation " + f.map.allocation + " over the schedule: time runs to the right, y is the address", openMap.node,
      elsewhere && el("p", { cls: "note-line" }, "The operand lies in allocation " + s.allocation + ", bytes " + number.format(s.offset) + " to " + number.format(s.offset + s.size) + "."));
    node.classList.add("withmap");
    return node;
  }
  const slices = [[f.operand, f.operand_slice], [f.result, f.result_slice]].filter(([, s]) => s);
  return section("Memory", slices.map(([name, s]) => el("p", {}, name + ": allocation " + s.allocation + ", bytes " + number.format(s.offset) + " to " + number.format(s.offset + s.size) + " (" + bytes(s.size) + ")")));
}

function witness(f) {
  if (!f.witness) return null;
  const side = (who, a) => el("div", { cls: "side " + who },
    el("h4", {}, who === "reader" ? "The reader" : "The writer"),
    el("p", { cls: "src" }, a.place || "no Python line in the PTX"),
    el("p", { cls: "muted" }, "block (" + a.block.join(", ") + "), thread (" + a.thread.join(", ") + "), PTX line " + a.ptx_line));
  return section("Witness: byte " + number.format(f.witness.byte) + " of the result", el("div", { cls: "pair" }, side("reader", f.witness.reader), side("writer", f.witness.writer)));
}

function replay(f) {
  const runs = f.runs || [], wrong = f.wrong || [];
  if (!runs.length && !wrong.length && !f.replay_note) return null;
  const shareOf = (r) => (r.of ? " of " + number.format(r.of) + " (" + percent(r.most, r.of) + ")" : "");
  const table = runs.length && el("div", { cls: "scroll" }, el("table", { cls: "figures" },
    el("thead", {}, el("tr", {}, ["Where", "How", "Runs that differ", "Wrong elements, worst run"].map((h, i) => el("th", { scope: "col", cls: i > 1 ? "num" : "" }, h)))),
    el("tbody", {}, runs.map((r) => el("tr", {},
      el("td", {}, r.where), el("td", {}, r.how),
      r.reason ? el("td", { colspan: "2", cls: "muted" }, r.reason) : [
        el("td", { cls: "num" + (r.differing ? " bad" : "") }, number.format(r.differing) + " of " + number.format(r.runs)),
        el("td", { cls: "num" }, number.format(r.most) + shareOf(r))])))));
  return section(runs.length ? "Replay: buffers shared against buffers apart" : "What was run", table, wrong.map(wrongMap), f.replay_note && el("p", { cls: "note-line" }, f.replay_note));
}

function percent(n, of) {
  const p = 100 * n / of;
  return p > 0 && p < 0.01 ? "below 0.01%" : p.toFixed(p < 10 ? 2 : 1) + "%";
}

// wrongMap shows where in the buffer the wrong elements are, a cell for each 64th.
function wrongMap(d) {
  const cells = (d.map || []).slice(0, 64), each = Math.max(d.of / 64, 1);
  return el("div", { cls: "wrong" },
    el("p", {}, d.label + ": " + number.format(d.count) + " of " + number.format(d.of) + " " + d.unit + " wrong" + (d.first >= 0 ? ", the first is number " + number.format(d.first) : "") + (d.largest ? ", the largest difference " + d.largest.toPrecision(4) : "")),
    cells.length > 0 && el("div", { cls: "cells", role: "img", "aria-label": "Where the wrong elements are, from the first to the last 64th: " + cells.join(", ") }, cells.map((c, i) => {
      const cell = el("span", { title: number.format(c) + " wrong in part " + (i + 1) + " of 64" });
      cell.style.setProperty("--heat", c > 0 ? Math.min(1, 0.25 + 0.75 * c / each) : 0);
      return cell;
    })),
    cells.length > 0 && el("div", { cls: "ends" }, el("span", {}, "first element"), el("span", {}, "last element")));
}

function facts(f, entry) {
  const slice = (s) => (s ? "allocation " + s.allocation + ", bytes " + number.format(s.offset) + " to " + number.format(s.offset + s.size) + ", " + bytes(s.size) : "");
  const rows = [
    ["Kernel", f.kernel], ["Target", f.target], ["Instruction", f.instruction], ["Computation", f.computation], ["Module", f.module], ["Dump", f.path],
    f.operand && [f.operand, slice(f.operand_slice) || "no slice"], f.result && [f.result, slice(f.result_slice) || "no slice"], ["Fingerprint", entry.f],
  ];
  return el("dl", { cls: "facts" }, rows.filter((r) => r && r[1]).map(([k, v]) => [el("dt", {}, k), el("dd", {}, el("code", {}, v), k === "Fingerprint" && [" ", copyButton(v, "the fingerprint")])]));
}

function stack(f) {
  if (!f.stack) return null;
  return el("details", {}, el("summary", {}, "Python stack, " + count(f.stack.length, "frame") + ", innermost first"),
    el("ol", { cls: "stack" }, f.stack.map((s) => el("li", { cls: s.place === f.place ? "" : "lib" }, el("code", {}, s.place), s.function ? " " + s.function : ""))));
}

function doc(code) {
  const d = ruleDocs[code];
  if (!d) return null;
  return el("details", { cls: "doc" }, el("summary", {}, "About " + code),
    el("div", {}, [["What is wrong", d.what], ["Why it hurts", d.why], ["How to mend it", d.mend], ["When the rule is wrong", d.wrong]].filter((p) => p[1]).map(([h, t]) => [el("h4", {}, h), el("p", {}, t)])));
}
