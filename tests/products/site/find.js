// SPDX-License-Identifier: MIT
//
// What the search of a site finds: find.js SITE WORDS... prints a list of addresses for each WORDS, as JSON.
"use strict";
const fs = require("fs");
const path = require("path");

const [site, ...asked] = process.argv.slice(2);
const lunr = require(path.join(site, "lunr.min.js"));
const { find, makeIndex } = require(path.join(site, "search.js"));
const sections = new Function(`${fs.readFileSync(path.join(site, "search_text.js"), "utf8")}; return searchText;`)();
const index = makeIndex(lunr, sections);
console.log(JSON.stringify(asked.map((words) => find(lunr, index, sections, words).map(([address]) => address))));
