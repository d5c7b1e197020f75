// Parts of a page that change: sent by the server, or asked for while something is typed.
"use strict";

function put(id, html) {
  const target = document.getElementById(id);
  // Don't disturb a person who is about to use a button or a field.
  if (!target || target.innerHTML === html || target.contains(document.activeElement)) return;
  target.innerHTML = html;
}

for (const source of document.querySelectorAll("[data-events]")) {
  new EventSource(source.dataset.events).onmessage = (message) => {
    const { id, html } = JSON.parse(message.data);
    put(id, html);
  };
}

// A form whose answer is a part of the page: it is asked for again whenever a field changes.
for (const form of document.querySelectorAll("form[data-shows]")) {
  const target = document.getElementById(form.dataset.shows);
  let timer = 0;
  let asked = null;
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(`${form.getAttribute("action")}?${query}`, { signal: asked.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const shown = answer.ok ? page.body : page.querySelector("main .problem") || page.body;
      target.replaceChildren(...shown.childNodes);
      target.dataset.tokens = form.elements.tokens.value;
    } catch (error) {
      if (error.name !== "AbortError") target.textContent = "brim ui has ended: start it again, and load the page.";
    }
  };
  form.addEventListener("input", (event) => {
    if (event.target.name === "tokens") form.querySelector("output").value = Number(event.target.value).toLocaleString("en");
    clearTimeout(timer);
    timer = setTimeout(ask, event.target.type === "range" ? 40 : 200);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
}

// Fields that only matter while a table is looked at.
for (const field of document.querySelectorAll("input[data-filters]")) {
  const rows = document.querySelectorAll(`#${field.dataset.filters} tbody tr`);
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
