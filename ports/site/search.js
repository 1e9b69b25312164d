// SPDX-License-Identifier: MIT
//
// The search: finds sections of pages by their words. When the search page opens, lunr builds an index of search_text.js.
"use strict";

const most = 30;      // results that are shown
const around = 110;   // length of an excerpt, in characters, before the first word found, and after it

const wordsOf = (text) => text.toLowerCase().match(/\w+/g) ?? [];

// The order of results: pages for users first, then the reference (notions and types before functions), then tests, headers, sources, and
// members of structs of C, which have the names of what they point to.
function weightOf(address) {
  if (/^(page_(tests|CHANGELOG|ports_site)|source_)|_8hp*\.html|^structtinyattn__\w+\.html#/.test(address)) return 0.2;
  return /^(index|page_)|^group__\w+\.html$/.test(address) ? 2.1 : /#/.test(address) ? 0.6 : 0.9;
}

// Each section is [address, title, title of its page, text].
function makeIndex(lunr, sections) {
  lunr.tokenizer.separator = /\W+/;
  return lunr(function () {
    this.field("title", { boost: 4 });
    this.field("page", { boost: 2 });
    this.field("text");
    sections.forEach(([address, title, page, text], i) => this.add({ id: i, title, page, text }, { boost: weightOf(address) }));
  });
}

// Returns the sections that have all words of a query, or words that begin with them, or else some: first those whose name is asked for,
// then by score.
function find(lunr, index, sections, asked) {
  const words = wordsOf(asked).filter(lunr.stopWordFilter);
  const queries = [words.map((word) => `+${word}`), words.map((word) => `+${word}*`), words];
  const found = queries.map((query) => index.search(query.join(" "))).find((results) => results.length > 0) ?? [];
  const rows = words.length > 0 ? found.map(({ ref }) => sections[ref]) : [];
  const hasName = ([address, title]) => Number(wordsOf(title).join(" ") === words.join(" ") && weightOf(address) > 0.2);
  return rows.sort((a, b) => hasName(b) - hasName(a)).slice(0, most);
}

// --- The page ---

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

// Returns an excerpt around the first word found, in which all words are marked.
function excerpt(text, pattern) {
  const begin = Math.max(0, text.search(pattern) - around);
  const shown = text.slice(begin, begin + 2 * around);
  const marked = shown.split(pattern).map((part, i) => i % 2 === 1 ? element("mark", part) : part);
  return [begin > 0 ? "… " : "", ...marked, begin + 2 * around < text.length ? " …" : ""];
}

function show(index, asked) {
  const stems = wordsOf(asked).map((word) => lunr.stemmer(new lunr.Token(word, {})).toString());
  const pattern = new RegExp(`\\b((?:${stems.join("|")})\\w*)`, "gi");
  const rows = find(lunr, index, searchText, asked).map(([address, title, page, text]) => {
    const link = element("a", ...excerpt(title, pattern));
    link.href = address;
    return element("li", link, element("small", title === page ? "" : page), element("p", ...excerpt(text, pattern)));
  });
  const none = asked.trim() === "" ? "Words of a page, a name, or a diagnostic of the compiler." : "Nothing has one of these words.";
  document.getElementById("found").replaceChildren(rows.length > 0 ? element("ol", ...rows) : element("p", none));
}

function start() {
  const field = document.getElementById("MSearchField");
  const index = makeIndex(lunr, searchText);
  field.value = new URLSearchParams(location.search).get("for") ?? "";
  field.addEventListener("input", () => show(index, field.value));
  field.focus();
  show(index, field.value);
}

if (typeof document === "undefined") module.exports = { find, makeIndex };
else addEventListener("DOMContentLoaded", start);
