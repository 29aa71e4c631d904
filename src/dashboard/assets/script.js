// Optional features of pages: theme, copying, relative times, and reloading what changed. All pages also work without
// this script.
"use strict";

const root = document.documentElement;

// Before the first paint, so that colours do not change afterwards.
const chosen = (() => {
  try { return localStorage.getItem("theme"); } catch { return null; }
})();
if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function wireTheme() {
  const button = document.getElementById("theme");
  if (!button) return;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  name();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this page only */ }
    name();
  });
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Over plain HTTP there is no clipboard API, only copying a selection.
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function wireCopy(within) {
  for (const element of within.querySelectorAll("[data-copy]")) {
    if (element.nextElementSibling?.classList.contains("copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy ${element.dataset.copy.slice(0, 60)}`);
    button.addEventListener("click", async () => {
      try { await copy(element.dataset.copy); button.textContent = "copied"; } catch { button.textContent = "failed"; }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    element.after(button);
  }
}

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function ago(seconds) {
  if (Math.abs(seconds) < 10) return "now";
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size);
  const count = Math.floor(Math.abs(seconds) / size);
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}

function tellTimes() {
  for (const element of document.querySelectorAll("[data-time]")) {
    const words = ago((Date.now() - Date.parse(element.dataset.time)) / 1000);
    if (element.textContent !== words) element.textContent = words;
  }
}

// A form that requires a confirmation has the question as data; without scripts its check box is used.
function wireForms(within) {
  for (const hint of within.querySelectorAll("[data-scripted]")) hint.hidden = false;
  for (const slider of within.querySelectorAll("[data-follows]")) {
    const target = document.getElementById(slider.dataset.follows);
    if (target) slider.addEventListener("input", () => { target.textContent = slider.value; });
  }
  for (const form of within.querySelectorAll("form[method=post]")) {
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    form.addEventListener("submit", () => {
      leaving = true;
      setTimeout(() => { for (const button of form.querySelectorAll("button")) button.disabled = true; });
    });
  }
  for (const select of within.querySelectorAll("[data-submits]")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
}

// Entered text is lost only if the visitor agrees.
let leaving = false;

function isUnsaved(form) {
  return form.hasAttribute("data-unsaved") || [...form.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);
}

addEventListener("beforeunload", (event) => {
  if (!leaving && [...document.querySelectorAll("form[method=post]")].some(isUnsaved)) event.preventDefault();
});

// Do not reload while the visitor is typing or has details open.
function isBusy(live) {
  const active = document.activeElement;
  const types = active && live.contains(active) && active.matches("input, textarea, select, button");
  const isEntered = (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  return types || live.querySelector("details[open][data-keeps]") !== null
    || [...live.querySelectorAll("form[method=post] input, form[method=post] textarea")].some(isEntered);
}

let loading = false;
let again = false;

async function refresh() {
  const live = document.getElementById("live");
  if (!live) return;
  if (loading) { again = true; return; }
  loading = true;
  try {
    const address = new URL(location.href);
    address.searchParams.delete("done");
    if (live.dataset.version) address.searchParams.set("since", live.dataset.version);
    const response = await fetch(address, { headers: { accept: "text/html" } });
    if (!response.ok || response.redirected) return offer("This page has changed.");
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.getElementById("live");
    if (!next || next.textContent === live.textContent && next.dataset.version === live.dataset.version) return;
    if (live.hasAttribute("data-keeps")) return tell(next.querySelector("#meanwhile"));
    replaceTabs(page);
    if (isBusy(live)) return offer("There is something new.");
    live.replaceWith(next);
    wire(next);
    if (next.dataset.said) say(next.dataset.said);
  } catch {
    // The next event triggers another attempt.
  } finally {
    loading = false;
    if (again) { again = false; refresh(); }
  }
}

// The tabs have the number of proposals that wait.
function replaceTabs(page) {
  const [tabs, next] = [document, page].map((from) => from.querySelector(".tabs"));
  if (tabs && next && tabs.textContent !== next.textContent && !tabs.contains(document.activeElement)) tabs.replaceWith(next);
}

// A form keeps what was entered; that something changed is told above it.
function tell(note) {
  if (!note) return;
  say("");
  document.getElementById("fresh").append(...note.childNodes);
}

function say(words) {
  const place = document.getElementById("fresh");
  place.textContent = words;
  place.className = "notice flash";
}

function offer(words) {
  const place = document.getElementById("fresh");
  say(`${words} `);
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Load the page again";
  place.append(link);
}

function listen() {
  const address = document.body.dataset.live;
  if (!address || !document.getElementById("live")) return;
  const kinds = ["version", "update", "handoff", "memory_deleted", "redacted", "items", "proposed", "approved", "rejected", "reset"];
  let source = null;
  const open = () => {
    source = new EventSource(address);
    source.onopen = () => { document.body.dataset.listens = "yes"; };
    for (const kind of kinds) source.addEventListener(kind, refresh);
  };
  // A hidden tab holds no stream; when it becomes visible again, the page is reloaded if it changed.
  const follow = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      open();
      refresh();
    }
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => { source?.close(); source = null; });
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
  if (!document.hidden) open();
}

function wire(within) {
  wireCopy(within);
  wireForms(within);
  tellTimes();
}

// A page restored from the back/forward cache has its buttons enabled again.
addEventListener("pageshow", (event) => {
  leaving = false;
  if (event.persisted) for (const button of document.querySelectorAll("button:disabled")) button.disabled = false;
});

document.addEventListener("DOMContentLoaded", () => {
  wireTheme();
  // In a narrow window the row of tabs is scrolled.
  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.closest("ul").scrollLeft = tab.offsetLeft - 60;
  wire(document);
  listen();
  setInterval(tellTimes, 20000);
});
