// What is open is in the address: #FINGERPRINT.
const index = json("index"), ruleDocs = json("rules");
startTheme();

if ($("list")) {
  const byFingerprint = new Map(index.map((e) => [e.f, e.n]));
  const narrow = matchMedia("(max-width: 820px)");
  let opened = -1;

  const wanted = () => {
    try { const f = decodeURIComponent(location.hash.slice(1)); return byFingerprint.has(f) ? byFingerprint.get(f) : -1; } catch { return -1; }
  };
  const back = () => {
    document.body.classList.remove("reading");
    history.pushState(null, "", location.pathname + location.search);
    const row = $("row-" + opened);
    if (row) row.scrollIntoView({ block: "center" });
    $("list").focus({ preventScroll: true });
  };
  // open shows a finding. One that was asked for is read: on a narrow screen it
  // takes the list's place, on a wide one it gets the focus.
  const open = (n, read) => {
    if (n < 0) return;
    const hash = "#" + encodeURIComponent(index[n].f);
    if (location.hash !== hash) history[read ? "pushState" : "replaceState"](null, "", hash);
    show(n, read);
  };
  const show = (n, read) => {
    if (read || !narrow.matches) document.body.classList.toggle("reading", read || document.body.classList.contains("reading"));
    if (n !== opened) { opened = n; renderDetail(index[n], back); }
    list.select(n, true);
    if (read) {
      $("detail").focus({ preventScroll: true });
      if (narrow.matches) scrollTo(0, 0);
    }
  };
  const list = makeList(index, open);

  const follow = () => {
    const n = wanted();
    if (n >= 0) {
      show(n, true);
      if (!narrow.matches) $("findings").scrollIntoView(); // whoever follows a link wants the finding
    }
    else { document.body.classList.remove("reading"); if (!narrow.matches && opened < 0 && list.first() >= 0) show(list.first(), false); }
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
  for (const b of document.querySelectorAll(".code-filter")) b.addEventListener("click", () => { list.setCode(b.dataset.code); $("findings").scrollIntoView(); });
  addEventListener("keydown", (e) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    if (e.key === "Escape") { if (typing) e.target.blur(); $("list").focus(); if (narrow.matches && document.body.classList.contains("reading")) back(); return; }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/") { e.preventDefault(); $("search").focus(); }
    if (e.key === "j") list.step(1);
    if (e.key === "k") list.step(-1);
  });
  follow();
}
