// Answers questions of other programs: one JSON object a line on standard input,
// {"ruleset": {...}, "options": {...}, "requests": ["https://...", ...]}, one a line on standard output,
// {"results": [...]} with what resolve answers for each request, in order, or {"invalid": [...]} with
// what validate answers when the ruleset is not valid.

import { createInterface } from "node:readline";
import { resolve } from "./resolve.mjs";
import { validate } from "./validate.mjs";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}

function answer({ ruleset, options = {}, requests = [] }) {
  const invalid = validate(ruleset, options);
  if (invalid.length > 0) return { invalid };
  return { results: requests.map((request) => resolve(request, ruleset, options)) };
}
