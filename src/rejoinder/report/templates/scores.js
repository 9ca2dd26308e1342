const form = document.querySelector(".filters");
const lines = [...document.querySelectorAll(".line")].map((node) => ({
  node, score: +node.dataset.score, groups: JSON.parse(node.dataset.groups), text: node.textContent.toLowerCase(),
}));
const visible = () => lines.filter((line) => !line.node.hidden);

function filter() {
  const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const low = form.low.value === "" ? -Infinity : +form.low.value;
  const high = form.high.value === "" ? Infinity : +form.high.value;
  const chosen = [...form.querySelectorAll("select")].filter((select) => select.value !== "" && select.selectedIndex > 0);
  for (const line of lines) {
    line.node.hidden = !(line.score >= low && line.score <= high
      && chosen.every((select) => line.groups[select.dataset.place] === select.value)
      && words.every((word) => line.text.includes(word)));
  }
  form.querySelector("output").textContent = `${visible().length} of ${lines.length} lines.`;
}

function move(step) {
  const shown = visible();
  if (!shown.length) return;
  const at = shown.findIndex((line) => line.node.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + step, 0), shown.length - 1);
  shown[next].node.querySelector("summary").focus();
  shown[next].node.scrollIntoView({ block: "nearest" });
}

form.hidden = !lines.length;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing) return;
  if (event.key === "/") { event.preventDefault(); form.text.focus(); }
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
});
filter();
