// Small tools. Text from the report only ever becomes text nodes: nothing here
// parses it as markup.
const $ = (id) => document.getElementById(id);

function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    else node.setAttribute(key === "cls" ? "class" : key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false && child !== "") node.append(child);
  }
  return node;
}

function json(id) {
  const node = $(id);
  return node ? JSON.parse(node.textContent) : null;
}

const number = new Intl.NumberFormat("en");
const count = (n, what) => number.format(n) + " " + what + (n === 1 ? "" : "s");

function bytes(n) {
  if (n < 1024) return count(n, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = -1;
  do { n /= 1024; u++; } while (n >= 1024 && u < units.length - 1);
  return (Number.isInteger(n) ? n : n.toFixed(1)) + " " + units[u];
}

let toastTimer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("on"), 1600);
}

// copyText works without the clipboard API too, which pages from files may lack.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return toast("This browser does not let the page copy");
  }
  toast("Copied");
}

function copyButton(text, what) {
  return el("button", { type: "button", cls: "copy", "aria-label": "Copy " + what, on: { click: () => copyText(text) } }, "Copy");
}

// theme follows the system until its button is used; the choice is kept where the
// browser keeps anything for a page from a file.
function startTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const changed = () => dispatchEvent(new Event("themechange"));
  try { const kept = localStorage.getItem("aliascheck-theme"); if (kept === "dark" || kept === "light") root.dataset.theme = kept; } catch { /* no storage */ }
  system.addEventListener("change", changed);
  $("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("aliascheck-theme", root.dataset.theme); } catch { /* no storage */ }
    changed();
  });
}
