// What came of a conversation, drawn. All texts go in as text, never as elements.

const SETTLED = 1000; // ms without a change before it is read aloud

export const at = (id) => document.getElementById(id);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const letter = (place) => String.fromCharCode(65 + place);
const GROUPS = JSON.parse(document.body.dataset.groups);
const WARNINGS = JSON.parse(document.body.dataset.warnings);
const { outside: OUTSIDE, instead: INSTEAD, facts: FACTS } = JSON.parse(document.body.dataset.words);

const SURE = "The intervals do not meet: hardly anybody would have it the other way round.";
const UNSURE = "The intervals overlap: some people would have it the other way round. Many replies tell more than two.";

let offered = []; // the scorers of the service
let reading = 0; // until it is read aloud

export function made(name, text = "", more = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more });
}

// A copy of a template; as many of them in a list as there are things to show, so that what stays can move.
export const copyOf = (template) => at(template).content.firstElementChild.cloneNode(true);

function listed(list, count, template) {
  while (list.children.length > count) list.lastElementChild.remove();
  while (list.children.length < count) list.append(copyOf(template));
  return [...list.children];
}

const scorerOf = (name) => offered.find((one) => one.name === name);
const isJudge = (name) => scorerOf(name).kind === "judge";
const readsNoFacts = (name) => scorerOf(name)?.unread.includes("facts") ?? false;
const ranks = (name) => scorerOf(name).higher_is_better === true; // of others none is the best, and none the worst
const share = (value, [low, high]) => Math.min(1, Math.max(0, (value - low) / (high - low)));
const percent = (part) => `${(100 * part).toFixed(2)}%`;

// The ends of the scale that a scorer's numbers are drawn on; null where they have no bounds.
function scaleOf(name) {
  const { scale, range } = scorerOf(name);
  return scale || (range.includes(null) ? null : range);
}

function written(value, scale) {
  if (scale) return value.toFixed(scale[1] - scale[0] >= 2 ? 1 : 2);
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function meaning(value, scale) {
  const ends = [0.25, 0.45, 0.6, 0.8];
  return ["poor", "weak", "middling", "good", "very good"][ends.filter((end) => share(value, scale) >= end).length];
}

function placed(track, value, scale, ends, average) {
  track.hidden = value === null || !scale;
  if (track.hidden) return;
  const [low, high] = ends || [value, value];
  for (const [name, one] of Object.entries({ value, low, high, average: average ?? value })) {
    track.style.setProperty(`--${name}`, percent(share(one, scale)));
  }
  track.classList.toggle("alone", !ends);
  track.classList.toggle("lonely", average === undefined);
}

/* Show what was answered.
   items: what was judged, each with the `record` that the service made of it, and `reply` or `turn`: which box it is.
   names: the scorers, the first of which is shown in full. scorers: what the service says of them.
   several: whether there are several replies to choose from. */
export function show(items, names, scorers, several) {
  offered = scorers;
  const [name, ...others] = names;
  const replies = items.filter(({ reply }) => reply !== undefined);
  const domain = domainOf(replies.map(({ record }) => record.explained?.[name]).filter(Boolean));
  const nodes = listed(at("results"), replies.length, "a-result");
  replies.forEach(({ reply, record }, place) => {
    nodes[place].querySelector("h3").hidden = !several;
    nodes[place].querySelector("h3").textContent = `Reply ${letter(reply)}`;
    showResult(nodes[place], record, name, domain);
    showOthers(nodes[place].querySelector(".others"), record, others);
  });
  at("nothing").hidden = replies.length > 0;
  showBetween(replies, name);
  warn(nodes, replies, name);
  showTurns(items, name);
  showBrief(replies, name);
  aloud();
}

function showResult(node, { scores, unscored, warnings, intervals, explained }, name, domain) {
  const value = scores[name];
  const scale = scaleOf(name);
  const told = explained?.[name];
  const [number, words] = node.querySelector(".headline").children;
  node.classList.toggle("none", value === null);
  number.textContent = value === null ? "–" : written(value, scale);
  const outside = unscored[name] === OUTSIDE;
  const none = outside ? WARNINGS[OUTSIDE] : `No score: ${unscored[name]}.`;
  words.textContent = value === null ? none : headlineOf(name, value, scale);
  const sure = value === null ? "" : sureOf(name, value, scale, intervals?.[name], told?.base);
  node.querySelector(".sure").textContent = outside ? insteadOf(name) : sure;
  placed(node.querySelector(".scale"), value, scale, intervals?.[name], told?.base);
  const [low, average, high] = node.querySelector(".ends").children;
  [low.textContent, high.textContent] = scale || [];
  average.hidden = told === undefined;
  const shown = (warnings[name] || []).filter((warning) => warning !== OUTSIDE);
  const said = shown.map((warning) => made("li", WARNINGS[warning] || warning));
  node.querySelector(".warnings").replaceChildren(...said);
  node.querySelector(".warnings").hidden = !said.length;
  showWhy(node.querySelector(".why"), told, domain);
}

function headlineOf(name, value, scale) {
  if (scale && isJudge(name)) return `People would probably find it ${meaning(value, scale)}.`;
  return `${name}: ${scorerOf(name).summary}.`;
}

// What a judge can judge, and what to use for a reply that it cannot judge.
function insteadOf(name) {
  const { domain } = scorerOf(name);
  return `${domain ? `It judges ${domain}. ` : ""}${INSTEAD}`;
}

// Warn that facts were not checked: once at the comparison of replies, else at each score.
function warn(nodes, replies, name) {
  const compared = !at("between").hidden;
  at("between").querySelector(".facts").textContent = readsNoFacts(name) ? FACTS : "";
  replies.forEach(({ record }, place) => {
    const line = nodes[place].querySelector(".facts");
    line.hidden = compared || record.scores[name] === null || !readsNoFacts(name);
    line.textContent = FACTS;
  });
}

function sureOf(name, value, scale, ends, base) {
  const range = scale ? ` on a scale from ${scale[0]} to ${scale[1]}` : "";
  const average = base === undefined ? "" : `; the average reply gets ${written(base, scale)}`;
  const between = ends && ends.map((end) => written(end, scale)).join(" and ");
  const sure = ends ? ` Nine in ten ratings of a reply like this should lie between ${between}.` : "";
  const beyond = scale && (value < scale[0] || value > scale[1]) ? " A prediction may go a little beyond the scale." : "";
  return `${isJudge(name) ? "Predicted rating" : "Score"} ${written(value, scale)}${range}${average}.${sure}${beyond}`;
}

// The steps from the average reply to this one: name, points, where the step begins and ends.
function stepsOf({ base, moved }) {
  let here = base;
  return Object.entries(moved).map(([name, points]) => ({ name, points, from: here, to: (here += points) }));
}

// One scale for all explanations beside each other, never so small that a breath looks like a storm.
function domainOf(told) {
  const ends = told.flatMap((one) => [one.base, ...stepsOf(one).map(({ to }) => to)]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const more = Math.max(0, 1 - (high - low)) / 2 + 0.05;
  return [low - more, high + more];
}

function showWhy(box, told, domain) {
  box.hidden = !told;
  if (!told) return;
  const steps = stepsOf(told);
  const total = steps.length ? steps[steps.length - 1].to : told.base;
  const rows = [
    { name: "average reply", points: told.base, from: told.base, to: told.base, end: true },
    ...steps,
    { name: "this reply", points: total, from: total, to: total, end: true },
  ];
  const nodes = listed(box.querySelector("tbody"), rows.length, "a-step");
  rows.forEach((row, place) => showStep(nodes[place], row, domain));
}

function showStep(node, { name, points, from, to, end }, domain) {
  const size = Math.abs(points).toFixed(2);
  const sign = end || size === "0.00" ? "" : points < 0 ? "−" : "+";
  node.className = end ? "end" : points < 0 ? "down" : "up";
  node.querySelector("b").textContent = name;
  node.querySelector("small").textContent = GROUPS[name] || "";
  node.querySelector(".points").textContent = `${sign}${size}`;
  const bar = node.querySelector("i");
  bar.style.setProperty("--from", percent(share(Math.min(from, to), domain)));
  bar.style.setProperty("--to", percent(share(Math.max(from, to), domain)));
}

function showOthers(table, { scores, unscored, intervals }, names) {
  table.hidden = !names.length;
  const nodes = listed(table.querySelector("tbody"), names.length, "an-other");
  names.forEach((name, place) => {
    const [node, value, scale] = [nodes[place], scores[name], scaleOf(name)];
    node.querySelector("th").textContent = name;
    node.querySelector(".points").textContent = value === null ? "–" : written(value, scale);
    node.querySelector("small").textContent = value === null ? unscored[name] : readsNoFacts(name) ? FACTS : "";
    placed(node.querySelector(".track"), value, scale, intervals?.[name]);
  });
}

// Which reply is ahead, and that this proves nothing where the intervals overlap.
function showBetween(replies, name) {
  const ranked = replies.filter(({ record }) => record.scores[name] !== null);
  ranked.sort((one, other) => other.record.scores[name] - one.record.scores[name]);
  at("between").hidden = ranked.length < 2 || !ranks(name);
  if (at("between").hidden) return;
  const [first, second] = ranked.map(({ reply, record }) => ({
    name: `Reply ${letter(reply)}`,
    ends: record.intervals?.[name],
    said: written(record.scores[name], scaleOf(name)),
  }));
  const even = first.said === second.said;
  const apart = first.ends && second.ends && first.ends[0] > second.ends[1];
  at("ahead").textContent = even
    ? `${first.name} and ${second.name} score the same.`
    : `${first.name} is ahead, ${first.said} to ${second.said}.`;
  at("surely").textContent = even || !first.ends ? "" : apart ? SURE : UNSURE;
}

function showTurns(items, name) {
  for (const label of all(".turn .own")) label.replaceChildren();
  const scored = items.filter(({ turn, record }) => turn !== undefined && record.scores[name] !== null);
  const [only, ...more] = items.filter(({ reply }) => reply !== undefined);
  const judged = [...scored, ...(only && !more.length && only.record.scores[name] !== null ? [only] : [])];
  const values = judged.map(({ record }) => record.scores[name]);
  const lowest = Math.min(...values);
  const scale = scaleOf(name);
  const turns = all(".turn");
  for (const { turn, record } of scored) {
    const value = record.scores[name];
    const worst = value === lowest && judged.length > 1 && ranks(name);
    const words = isJudge(name) && scale ? meaning(value, scale) : name;
    const label = turns[turn].querySelector(".own");
    label.classList.toggle("worst", worst && ["poor", "weak"].includes(words));
    label.append(made("b", written(value, scale)), ` ${words}${worst ? ", the worst turn" : ""}`);
  }
  for (const { turn } of items.filter(({ turn, record }) => turn !== undefined && record.unscored[name] === OUTSIDE)) {
    const label = turns[turn].querySelector(".own");
    label.classList.remove("worst");
    label.append(OUTSIDE);
  }
  const facts = scored.length && readsNoFacts(name) ? FACTS : "";
  const several = judged.length > 1 && ranks(name);
  at("whole").hidden = !several && !facts;
  at("whole").textContent = facts;
  if (!several) return;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const worst = judged[values.indexOf(lowest)];
  const which = worst.turn === undefined ? "this reply" : `turn ${worst.turn + 1}`;
  const said = (value) => written(value, scale);
  at("whole").textContent = `The ${judged.length} turns of this speaker score ${said(mean)} on average; the worst is ${which}, with ${said(lowest)}. ${facts}`.trim();
}

function showBrief(replies, name) {
  const lines = replies.map(({ reply, record }) => {
    const value = record.scores[name];
    const line = made("span");
    const track = made("i", "", { className: "track" });
    track.append(made("i", "", { className: "interval" }), made("i", "", { className: "dot" }));
    const scale = scaleOf(name);
    placed(track, value, scale, record.intervals?.[name]);
    line.append(made("b", `${replies.length > 1 ? `${letter(reply)} ` : ""}${value === null ? "–" : written(value, scale)}`), track);
    return line;
  });
  const warned = readsNoFacts(name) && replies.some(({ record }) => record.scores[name] !== null);
  at("brief").firstElementChild.replaceChildren(...lines, ...(warned ? [made("small", FACTS)] : []));
  at("brief").classList.toggle("filled", lines.length > 0);
}

// What a screen reader says, once the typing rests.
function aloud() {
  clearTimeout(reading);
  reading = setTimeout(() => {
    const said = all(".result").map((node) => {
      const [name, headline, sure] = ["h3", ".headline span", ".sure"].map((part) => node.querySelector(part));
      return `${name.hidden ? "" : `${name.textContent}: `}${headline.textContent} ${sure.textContent}`;
    });
    const between = at("between").hidden ? "" : `${at("ahead").textContent} ${at("surely").textContent}`;
    const facts = all("#between:not([hidden]) .facts, .result .facts:not([hidden])")[0]?.textContent ?? "";
    at("live").textContent = [between, facts, ...said].join(" ").trim();
  }, SETTLED);
}
