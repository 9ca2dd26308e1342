// The conversation as it is typed, and the service asked about it.

import { all, at, copyOf, letter, made, show } from "./shown.js";

const PAUSE = 150; // ms without a key before it asks
const LONGEST_PAUSE = 500; // ms of typing without one before it asks all the same
const LONGEST_WAIT = 15_000; // ms between two attempts
const PATIENCE = 30_000; // ms for one answer
const MOST = 4; // replies side by side
const ROOM = 200_000; // characters of earlier turns with all that came before each, so that a long talk can be asked about
const REMEMBERED = 500; // records of earlier turns, which stay what they are while a reply is typed
const TOKEN = "rejoinder-token";

let offered = []; // the scorers of the service
let asking = new AbortController();
let timer = 0; // until it asks
let since = 0; // when the first thing changed that nothing was asked about
let waited = 0; // ms that it waited for a service that is away
let answered = null; // what was asked last, and what came of it
const remembered = new Map(); // records of earlier turns, by what was asked
let act = null; // what the button beside a message does

// --- the conversation -------------------------------------------------------------------------------------------

const EMPTY = { turns: [""], replies: [""], reference: "" };
const turnBoxes = () => all("#turns textarea");
const replyBoxes = () => all("#replies textarea");

function conversation() {
  const texts = (boxes) => boxes.map((box) => box.value);
  return { turns: texts(turnBoxes()), replies: texts(replyBoxes()), reference: at("reference").value };
}

const isEmpty = ({ turns, replies, reference }) => ![...turns, ...replies, reference].some((text) => text.trim());

function add(list, template, text) {
  const item = copyOf(template);
  item.querySelector("textarea").value = text;
  list.append(item);
  return item.querySelector("textarea");
}

function fill({ turns, replies, reference }) {
  at("turns").replaceChildren();
  at("replies").replaceChildren();
  for (const text of turns) add(at("turns"), "a-turn", text);
  for (const text of replies) add(at("replies"), "a-reply", text);
  at("reference").value = reference;
  referring(reference !== "");
  arranged();
}

// Names, sides and buttons, after boxes came or went; an answer on its way is of other boxes.
function arranged() {
  asking.abort();
  const turns = all(".turn");
  turns.forEach((item, place) => {
    item.classList.toggle("mine", (turns.length - place) % 2 === 0);
    item.querySelector("textarea").setAttribute("aria-label", `Turn ${place + 1}`);
    item.querySelector("textarea").placeholder = place ? "What is answered" : "What somebody says";
    item.querySelector(".remove").setAttribute("aria-label", `Remove turn ${place + 1}`);
  });
  const replies = all(".reply");
  const several = replies.length > 1;
  replies.forEach((item, place) => {
    const name = several ? `Reply ${letter(place)}` : "The reply to judge";
    item.querySelector("textarea").id = item.querySelector("label").htmlFor = `reply-${place}`;
    item.querySelector("label").textContent = name;
    for (const button of all("button", item)) {
      button.hidden = !several;
      button.setAttribute("aria-label", `${button.textContent === "×" ? "Remove" : button.textContent}: ${name}`);
    }
  });
  for (const list of [at("replies"), at("results")]) list.classList.toggle("several", several);
  at("go-on").hidden = several;
  at("another").hidden = replies.length >= MOST;
  all("#form textarea").forEach(fit);
  changed();
}

function fit(box) {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.setProperty("height", "auto");
  box.style.setProperty("height", `${box.scrollHeight + 2}px`);
}

// A reply becomes a turn, and a new one is to be judged.
function goOn(text) {
  at("replies").replaceChildren();
  add(at("turns"), "a-turn", text);
  const box = add(at("replies"), "a-reply", "");
  arranged();
  box.focus();
}

function compare() {
  const box = add(at("replies"), "a-reply", "");
  arranged();
  box.focus();
}

function remove(item) {
  const boxes = [...turnBoxes(), ...replyBoxes()];
  const place = boxes.indexOf(item.querySelector("textarea"));
  item.remove();
  (boxes[place - 1] || boxes[place + 1]).focus();
  arranged();
}

function referring(open) {
  at("reference-box").hidden = !open;
  at("refer").textContent = open ? "Remove the reference" : "Add a reference";
}

function say(text, button = "", then = null) {
  at("said").hidden = !text;
  at("said").firstElementChild.textContent = text;
  at("act").hidden = !button;
  at("act").textContent = button;
  act = then;
}

function replace(by, said) {
  const before = conversation();
  fill(by);
  if (isEmpty(before)) say(by.said || "");
  else say(said, "Undo", () => fill(before));
}

// A dialogue that was pasted into a box, as turns; the service knows the forms that it may have.
async function split(text, alone) {
  const { context, replies, references, sure } = await ask("v1/turns", text);
  const count = context.length + replies.length;
  if (count < 2) return;
  const found = { turns: context, replies: replies.slice(0, MOST), reference: references[0] || "" };
  const apply = () => replace(found, `Split into ${count} ${replies.length > 1 ? "turns and replies" : "turns"}.`);
  if (sure || alone) apply();
  else say(`${count} lines were pasted.`, "Make each a turn", apply);
}

// --- asking the service -----------------------------------------------------------------------------------------

class Refused extends Error {
  constructor({ status, headers }, said) {
    super(said.error?.message || "");
    this.status = status;
    this.after = 1000 * Number(headers.get("Retry-After"));
  }
}

async function ask(path, body, signal = null) {
  const token = sessionStorage.getItem(TOKEN);
  const limit = AbortSignal.timeout(PATIENCE);
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    body,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  if (!answer.ok) throw new Refused(answer, await answer.json().catch(() => ({})));
  return answer.json();
}

// What is to be judged: the replies, then the earlier turns of the same speaker, each with what came before it.
function wanted() {
  const { turns, replies, reference } = conversation();
  const kept = [...turns.keys()].filter((place) => turns[place].trim());
  const context = kept.map((place) => turns[place]);
  const references = reference.trim() ? { references: [reference] } : {};
  const items = [...replies.keys()]
    .filter((reply) => replies[reply].trim())
    .map((reply) => ({ reply, example: { context, response: replies[reply], ...references } }));
  if (!items.length) return [];
  let room = ROOM;
  for (let end = context.length - 2; end > 0; end -= 2) {
    const before = context.slice(0, end);
    room -= before.join("").length;
    if (room < 0) break;
    items.push({ turn: kept[end], example: { context: before, response: context[end] } });
  }
  return items;
}

// The records of what is to be judged; those of earlier turns are asked for once.
async function recordsOf(items, path, signal) {
  const keyOf = ({ example }) => path + JSON.stringify(example);
  const open = items.filter((item) => item.turn === undefined || !remembered.has(keyOf(item)));
  const { results } = await ask(path, JSON.stringify(open.map(({ example }) => example)), signal);
  const found = new Map(open.map((item, place) => [item, results[place]]));
  if (remembered.size > REMEMBERED) remembered.clear();
  const records = items.map((item) => found.get(item) || remembered.get(keyOf(item)));
  for (const [item, record] of found) if (item.turn !== undefined) remembered.set(keyOf(item), record);
  return records;
}

const chosen = () => all("#scorers input:checked").map((box) => box.value);

function changed() {
  since ||= performance.now();
  judgeIn(Math.min(PAUSE, Math.max(0, since + LONGEST_PAUSE - performance.now())));
}

function judgeIn(pause) {
  clearTimeout(timer);
  timer = setTimeout(judge, pause);
}

function asked(scorers) {
  const explain = scorers.some((name) => offered.find((one) => one.name === name).explains);
  return `v1/score?${new URLSearchParams([...scorers.map((name) => ["scorer", name]), ...(explain ? [["explain", "true"]] : [])])}`;
}

async function judge() {
  since = 0;
  asking.abort(); // what was asked before is no more of interest
  asking = new AbortController();
  const { signal } = asking;
  try {
    if (!offered.length) await learn(signal);
    const scorers = chosen();
    const items = scorers.length ? wanted() : [];
    const path = asked(scorers);
    document.body.classList.toggle("asking", items.length > 0);
    const records = items.length ? await recordsOf(items, path, signal) : [];
    if (signal.aborted) return;
    well();
    answered = { path, items: items.map((item, place) => ({ ...item, record: records[place] })) };
    at("copies").hidden = !items.length;
    show(answered.items, scorers, offered, replyBoxes().length > 1);
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

async function learn(signal) {
  offered = (await ask("v1/scorers", undefined, signal)).results;
  const before = chosen().filter((name) => offered.some((one) => one.name === name));
  const first = before.length ? before : [offered[0].name];
  const boxes = offered.map(({ name, summary }) => {
    const label = made("label", "", { title: summary });
    label.append(made("input", "", { type: "checkbox", value: name, checked: first.includes(name) }), made("span", name));
    return label;
  });
  at("scorers").lastElementChild.replaceChildren(...boxes);
  at("scorers").hidden = offered.length < 2;
}

// --- what can go wrong ------------------------------------------------------------------------------------------

function well() {
  waited = 0;
  document.body.classList.remove("asking", "stale");
  at("trouble").hidden = at("token-box").hidden = true;
}

function troubled(text) {
  if (at("trouble").textContent !== text) at("trouble").textContent = text;
  at("trouble").hidden = false;
  document.body.classList.remove("asking");
  document.body.classList.add("stale");
}

function failed({ status = 0, message, after }) {
  if (status === 0 || status === 400) offered = []; // it may come back as another
  if (status === 401) {
    locked();
  } else if (status === 0 || status === 503) {
    waited = after || Math.min(LONGEST_WAIT, 2 * waited || 1000);
    troubled(status ? "The service is busy. Asking again…" : "The service does not answer. Asking again…");
    judgeIn(waited);
  } else {
    troubled(message || `The service refused that (${status}).`);
  }
}

function locked() {
  const wrong = sessionStorage.getItem(TOKEN) !== null;
  sessionStorage.removeItem(TOKEN);
  troubled(wrong ? "That is not its token." : "This service asks for a token.");
  if (!at("token-box").hidden && !wrong) return;
  at("token-box").hidden = false;
  at("token").focus();
}

function enter() {
  const token = at("token").value.trim();
  if (!token) return;
  if (/[^\x20-\x7e]/.test(token)) {
    troubled("That is not its token."); // no header can hold it
    return;
  }
  sessionStorage.setItem(TOKEN, token);
  at("token").value = "";
  judgeIn(0);
}

// --- taking it away ---------------------------------------------------------------------------------------------

const judged = () => answered.items.filter(({ reply }) => reply !== undefined);
const oneOrAll = (list) => (list.length === 1 ? list[0] : list);

const asJson = () => JSON.stringify(oneOrAll(judged().map(({ record }) => record)), null, 2);

function asCurl() {
  const body = JSON.stringify(oneOrAll(judged().map(({ example }) => example))).replaceAll("'", "'\\''");
  const token = sessionStorage.getItem(TOKEN) ? ' -H "Authorization: Bearer $REJOINDER_TOKEN"' : "";
  return `curl '${new URL(answered.path, document.baseURI)}'${token} -d '${body}'`;
}

async function copy(text, button) {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = said; }, 1500);
  } catch { // a page that was not loaded safely may not write there: let the person do it
    at("copied").value = text;
    at("copied").hidden = false;
    at("copied").focus();
    at("copied").select();
  }
}

// --- what people do ---------------------------------------------------------------------------------------------

const DOES = {
  "go-on": () => goOn(replyBoxes()[0].value),
  another: compare,
  clear: () => replace(EMPTY, "Cleared."),
  act: () => { const then = act; say(""); then(); },
  enter,
  "copy-json": (button) => copy(asJson(), button),
  "copy-curl": (button) => copy(asCurl(), button),
  refer: () => {
    const open = at("reference-box").hidden;
    referring(open);
    if (open) at("reference").focus();
    else at("reference").value = "";
    changed();
  },
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const sample = button.dataset.sample && JSON.parse(button.dataset.sample);
  if (sample) replace(sample, sample.said);
  else if (button.classList.contains("remove")) remove(button.closest(".turn, .reply"));
  else if (button.classList.contains("on")) goOn(button.closest(".reply").querySelector("textarea").value);
  else DOES[button.id]?.(button);
});

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  enter();
});

at("form").addEventListener("input", ({ target }) => {
  if (target.matches("#token, #copied")) return;
  if (target.matches("textarea")) fit(target);
  at("act").hidden = true; // it would take back what is typed now too
  changed();
});

at("form").addEventListener("paste", ({ target, clipboardData }) => {
  const text = clipboardData.getData("text/plain");
  if (!target.matches(".turn textarea, .reply textarea") || !/[\n[{]/.test(text)) return;
  // What cannot be split stays in its box; of a service that is away (no message) its score says the rest.
  split(text, isEmpty(conversation())).catch((error) => say(error instanceof Refused ? error.message : ""));
});

at("form").addEventListener("keydown", (event) => {
  const item = event.target.closest(".turn, .reply");
  if (!item || event.isComposing) return;
  const several = replyBoxes().length > 1;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    goOn((several && item.matches(".reply") ? item.querySelector("textarea") : replyBoxes()[0]).value);
  } else if (event.key === "Backspace" && !event.repeat && event.target.value === "" && (several || item.matches(".turn"))) {
    remove(item);
  } else {
    return;
  }
  event.preventDefault();
});

// While the score is out of sight, a line at the bottom of the window keeps it in view.
new IntersectionObserver(([{ isIntersecting }]) => at("brief").classList.toggle("away", !isIntersecting), { rootMargin: "0px 0px -96px 0px" }).observe(at("verdict"));

fill(EMPTY);
