// SPDX-License-Identifier: MIT
//
// The search: finds sections of pages by their words. When the search page opens, lunr builds an index of search_text.js.
"use strict";

const most = 30;      // results that are shown
const around = 110;   // length of an excerpt, in characters, before and after the first word found

const wordsOf = (text) => text.toLowerCase().match(/\w+/g) ?? [];

// The order of results: pages for users first, then the reference (types and notions before functions), then tests, headers, sources, and
// members of structs of C, which have the names of what they point to.
function weightOf(address) {
  if (/^(page_(tests|CHANGELOG|ports_site)|source_)|_8hp*\.html|^structtinyattn__\w+\.html#/.test(address)) return 0.2;
  return /^(index|page_)/.test(address) ? 2 : /#/.test(address) ? 0.7 : 1;
}

const stemOf = (lunr, word) => lunr.stemmer(new lunr.Token(word, {})).toString();

// Indexes each word twice: as it is, so that `tokenizer` does not find `token`, and by its stem, so that `quantization` finds `quantized`.
function wordAndStem(lunr) {
  const both = (token) => {
    const stem = lunr.stemmer(token.clone());
    return stem.toString() === token.toString() ? token : [token, stem];
  };
  lunr.Pipeline.registerFunction(both, "word and stem");
  return both;
}

// Each section is [address, title, title of its page, text].
function makeIndex(lunr, sections) {
  return lunr(function () {
    this.tokenizer = (text) => wordsOf(String(text)).map((word) => new lunr.Token(word, {}));
    this.pipeline.reset();
    this.pipeline.add(lunr.stopWordFilter, wordAndStem(lunr));
    this.field("title", { boost: 4 });
    this.field("page", { boost: 2 });
    this.field("text");
    sections.forEach(([address, title, page, text], i) => this.add({ id: i, title, page, text }, { boost: weightOf(address) }));
  });
}

// Returns the words of a query without stop words such as `the` and `of`.
function wordsAsked(lunr, asked) {
  return wordsOf(asked).filter((word) => lunr.stopWordFilter(new lunr.Token(word, {})));
}

// Returns the sections that have all words of a query, the last of which may be incomplete: first those whose name is asked for, then by
// score. If no section has all words, returns those that have some.
function find(lunr, index, sections, asked) {
  const words = wordsAsked(lunr, asked);
  if (words.length === 0) return [];
  const { TRAILING, NONE } = lunr.Query.wildcard;
  const query = (presence) => index.query((terms) => words.forEach((word, i) => {
    terms.term(word, { boost: 10, usePipeline: false });
    terms.term(stemOf(lunr, word), { presence, wildcard: i === words.length - 1 ? TRAILING : NONE, usePipeline: false });
  }));
  const all = query(lunr.Query.presence.REQUIRED);
  const found = all.length > 0 ? all : query(lunr.Query.presence.OPTIONAL);
  const seen = new Set();  // several diagnostics may have one explanation
  const rows = found.map(({ ref }) => sections[ref]).filter(([address]) => !seen.has(address) && seen.add(address));
  const hasName = ([address, title]) => Number(words.length === 1 && wordsOf(title)[0] === words[0] &&
      /^\w+\(?\)?( \[.*)?$/.test(title) && weightOf(address) > 0.2);
  return rows.sort((a, b) => hasName(b) - hasName(a)).slice(0, most);
}

// --- The page ---

// Matches a word, or any word that begins with its stem.
function patternOf(lunr, asked) {
  const stems = wordsAsked(lunr, asked).map((word) => stemOf(lunr, word));
  return stems.length > 0 ? new RegExp(`\\b(?:${stems.join("|")})\\w*`, "gi") : /$^/g;
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

// Returns an excerpt around the first word found, in which all words are marked.
function excerpt(text, pattern) {
  const at = Math.max(0, text.search(pattern));
  const begin = at <= around ? 0 : text.indexOf(" ", at - around) + 1;
  const end = text.lastIndexOf(" ", Math.max(at, begin) + around + 1);
  const shown = at + around >= text.length ? text.slice(begin) : text.slice(begin, Math.max(end, at + 1));
  const parts = [];
  let last = 0;
  for (const hit of shown.matchAll(pattern)) {
    parts.push(shown.slice(last, hit.index), element("mark", hit[0]));
    last = hit.index + hit[0].length;
  }
  return [begin > 0 ? "… " : "", ...parts, shown.slice(last)];
}

function show(lunr, index, sections, asked) {
  const pattern = patternOf(lunr, asked);
  const found = find(lunr, index, sections, asked);
  const rows = found.map(([address, title, page, text]) => {
    const link = element("a", ...excerpt(title, pattern));
    link.href = address;
    return element("li", link, element("small", title === page ? "" : page), element("p", ...excerpt(text, pattern)));
  });
  const none = asked.trim() === "" ? "Words of a page, a name, or a diagnostic of the compiler." : "Nothing has one of these words.";
  document.getElementById("found").replaceChildren(...(rows.length > 0 ? [element("ol", ...rows)] : [element("p", none)]));
}

function start() {
  const field = document.getElementById("MSearchField");
  const index = makeIndex(lunr, searchText);
  const showAsked = () => show(lunr, index, searchText, field.value);
  field.value = new URLSearchParams(location.search).get("for") ?? "";
  field.addEventListener("input", () => {
    history.replaceState(null, "", `?for=${encodeURIComponent(field.value)}`);
    showAsked();
  });
  field.form.addEventListener("submit", (event) => event.preventDefault());
  field.focus();
  showAsked();
}

if (typeof document === "undefined") module.exports = { find, makeIndex };
else addEventListener("DOMContentLoaded", start);
