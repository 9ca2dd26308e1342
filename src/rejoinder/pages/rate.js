"use strict";
// Keys, and the time that the page is in sight. Everything works without this too.

const form = document.querySelector("form[data-rate]");
const questions = [...document.querySelectorAll("[data-question]")];
const ON_ITS_OWN = "textarea, summary, a, button";

let seen = 0;
let since = document.visibilityState === "visible" ? performance.now() : null;

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    since = performance.now();
  } else if (since !== null) {
    seen += performance.now() - since;
    since = null;
  }
});

const answered = (question) => question.querySelector("input:checked") !== null;

// The question that a key answers: that with the focus, else the first that is open, else the only one.
function current() {
  const focused = document.activeElement.closest("[data-question]");
  if (focused && !(answered(focused) && questions.some((one) => !answered(one)))) return focused;
  return questions.find((one) => !answered(one)) || (questions.length === 1 ? questions[0] : focused);
}

// What was typed of an answer that has several characters, as 10 and -2.
let typed = { question: null, text: "", at: 0 };
const QUICK = 1000;

const options = (question) => [...question.querySelectorAll("input")];
const begins = (question, text) => options(question).some((one) => one.value.length > text.length && one.value.startsWith(text));

function check(option) {
  option.checked = true;
  option.focus({ focusVisible: true, preventScroll: form.classList.contains("sticky") });
}

// A key that goes on with what was typed before means the longer answer. Where it comes late it may mean either, so
// that neither is chosen.
function goesOn(key) {
  const { question, text, at } = typed;
  if (!question || !text) return false;
  const longer = options(question).find((one) => one.value === text + key);
  if (!longer && !begins(question, text + key)) return false;
  if (performance.now() - at > QUICK) {
    typed = { question: null, text: "", at: 0 };
    options(question).forEach((one) => { one.checked = false; });
    return true;
  }
  typed = { question, text: text + key, at: performance.now() };
  if (longer) check(longer);
  return true;
}

function choose(key) {
  if (goesOn(key)) return true;
  const question = current();
  if (!question) return false;
  const first = /[-0-9]/.test(key) && begins(question, key);
  typed = first ? { question, text: key, at: performance.now() } : { question: null, text: "", at: 0 };
  const option = options(question).find((one) => one.dataset.key === key);
  if (option) check(option);
  return first || Boolean(option);
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) link.click();
  return link !== null;
}

document.addEventListener("keydown", (event) => {
  const place = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (place.matches("textarea")) {
    if (event.key === "Escape") place.blur();
    return;
  }
  let used = false;
  if (event.key === "Backspace") {
    used = follow("[data-back]");
  } else if (event.key === "Enter" && !place.matches(ON_ITS_OWN)) {
    used = form ? (form.requestSubmit(), true) : follow("[data-go]");
  } else if (event.key === "c" && form && form.querySelector("details")) {
    form.querySelector("details").open = true;
    form.querySelector("textarea").focus();
    used = true;
  } else if (form && event.key.length === 1) {
    used = choose(event.key.toLowerCase());
  }
  if (used) event.preventDefault();
});

// On a small window the reply may begin below what stays at the bottom: show as much of it as fits.
function reveal() {
  const last = [...document.querySelectorAll(".reply")].pop();
  const below = last.getBoundingClientRect().bottom + 12 - form.getBoundingClientRect().top;
  const above = document.querySelector(".reply").getBoundingClientRect().top - document.querySelector(".bar").offsetHeight - 12;
  if (form.classList.contains("sticky") && below > 0) window.scrollBy(0, Math.min(below, above));
}

if (form) {
  reveal();
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    const all = seen + (since === null ? 0 : performance.now() - since);
    form.elements.seconds.value = (all / 1000).toFixed(2);
  });
  // A page that comes back out of the browser's memory can be sent again.
  window.addEventListener("pageshow", () => { delete form.dataset.sent; });
}
