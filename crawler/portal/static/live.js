"use strict";
// Replaces the sections of the page that have changed. Without it the page can be reloaded.
(() => {
  const main = document.getElementById("main");
  const stateOf = () => document.querySelector("#status .state")?.textContent;
  const firstState = stateOf();
  const connection = document.getElementById("connection");
  let seen = main.dataset.seen;
  let source = null;
  let ended = false;
  let waiting = {};

  const localize = (root) => {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      const clock = time.dataset.kind === "clock";
      time.title = clock ? at.toLocaleString() : time.textContent;
      time.textContent = clock
        ? at.toLocaleTimeString([], {
            hour: "2-digit",
            minute: "2-digit",
            second: "2-digit",
            fractionalSecondDigits: 3,
            hour12: false,
          })
        : at.toLocaleString();
    }
  };

  const keysOfOpen = (section) =>
    [...section.querySelectorAll("details[open]")].map((one) => one.dataset.key);

  const scrolled = (section) =>
    [...section.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);

  const replace = (section, html) => {
    const open = keysOfOpen(section);
    const positions = scrolled(section);
    const focused = section.contains(document.activeElement) && document.activeElement;
    const selector = focused && focusSelector(focused);
    section.innerHTML = html;
    for (const one of section.querySelectorAll("details")) {
      one.open = open.includes(one.dataset.key);
    }
    section.querySelectorAll(".scroll").forEach((one, number) => {
      [one.scrollLeft, one.scrollTop] = positions[number] || [0, 0];
    });
    localize(section);
    if (selector) {
      const next = section.querySelector(selector);
      if (next) next.focus({ preventScroll: true });
    }
  };

  // Links are found again by where they lead, other elements by their kind.
  const focusSelector = (element) => {
    const href = element.getAttribute("href");
    return href ? `a[href="${CSS.escape(href)}"]` : element.tagName.toLowerCase();
  };

  const say = (text) => {
    if (!connection) return;
    connection.hidden = !text;
    connection.textContent = text;
  };

  const update = (event) => {
    seen = event.lastEventId;
    say("");
    Object.assign(waiting, JSON.parse(event.data));
    // Selected text stays until it is copied.
    if (!window.getSelection().isCollapsed) return;
    for (const [name, html] of Object.entries(waiting)) {
      const section = document.getElementById(name);
      if (section) replace(section, html);
    }
    waiting = {};
    document.title = document.title.replace(/ · .*/, ` · ${stateOf()}`);
    // The buttons of a portal's page are made for its session: a new state needs new ones.
    if (main.dataset.reload && stateOf() !== firstState) location.reload();
  };

  const disconnect = () => {
    if (source) source.close();
    source = null;
  };

  const connect = () => {
    if (source || ended || document.hidden) return;
    source = new EventSource(`events?seen=${encodeURIComponent(seen)}`);
    source.addEventListener("sections", update);
    source.addEventListener("end", () => {
      ended = true;
      disconnect();
      if (main.dataset.reload) location.reload();
      say("The crawl has ended; these are its last figures.");
    });
    source.addEventListener("error", () => {
      say("No connection to the crawl: the figures are old.");
    });
  };

  // Appends new lines to a log, and keeps the last ones in sight if they are.
  const tail = (list) => {
    const address = () => `log/events?after=${list.dataset.after}&${list.dataset.query}`;
    const lines = new EventSource(address());
    lines.addEventListener("lines", (event) => {
      const page = document.documentElement;
      const atEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 80;
      const fresh = document.createElement("template");
      fresh.innerHTML = JSON.parse(event.data);
      localize(fresh.content);
      list.append(fresh.content);
      while (list.children.length > 2000) list.firstElementChild.remove();
      document.getElementById("no-lines")?.remove();
      if (atEnd) page.scrollTop = page.scrollHeight;
      say("");
    });
    lines.addEventListener("end", () => {
      lines.close();
      say("The run is over; this is its whole log.");
    });
    lines.addEventListener("error", () => say("No connection to the portal: the log is old."));
    window.addEventListener("pagehide", () => lines.close());
    document.documentElement.scrollTop = document.documentElement.scrollHeight;
  };

  // Times that are typed are of the reader's zone; the server needs its offset.
  for (const field of document.querySelectorAll("input[name=zone]")) {
    field.value = new Date().getTimezoneOffset();
    for (const label of document.querySelectorAll(".zone")) label.hidden = true;
  }
  localize(document);
  const log = document.querySelector("#log[data-after]");
  if (log) tail(log);
  if (!firstState || main.dataset.follow === "") return;
  // A page that nobody looks at costs the crawl nothing.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);
  connect();
})();
