for (const th of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...th.childNodes);
  th.append(button);
  button.onclick = () => {
    const up = th.getAttribute("aria-sort") === "descending", body = th.closest("table").tBodies[0], at = th.cellIndex;
    for (const other of th.parentNode.cells) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => { const cell = row.cells[at]; return "v" in cell.dataset ? +cell.dataset.v : cell.textContent; };
    const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? 1 : -1;
    body.append(...[...body.rows].sort((a, b) => order(key(a), key(b)) * (up ? 1 : -1)));
  };
}
for (const scroll of document.querySelectorAll(".scroll")) {
  const look = () => {
    const left = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft > 1, table = scroll.closest(".table");
    table.classList.toggle("more", left);
    table.classList.toggle("scrolled", scroll.scrollLeft > 1);
    table.querySelector(".cue").hidden = !left && scroll.scrollLeft < 1;
  };
  scroll.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(scroll);
}
for (const filter of document.querySelectorAll(".filter")) {
  filter.parentNode.hidden = false;
  filter.oninput = () => {
    const words = filter.value.toLowerCase();
    for (const line of filter.closest(".blocks").querySelectorAll(".case")) {
      line.hidden = !line.textContent.toLowerCase().includes(words);
      if (words && !line.hidden) line.closest("details").open = true;
    }
  };
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
