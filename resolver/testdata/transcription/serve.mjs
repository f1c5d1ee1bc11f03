// Answers questions of other programs: one JSON object a line on standard input,
// {"ruleset": {...}, "options": {...}, "requests": ["https://...", ...]}, one a line on standard output,
// {"results": [...]} with what resolve answers for each request, in order, or {"invalid": [...]} with
// what validate answers when the ruleset is not valid.

import { resolve } from "./resolve.mjs";
import { validate } from "./validate.mjs";

for await (const line of lines(process.stdin)) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}

function answer({ ruleset, options = {}, requests = [] }) {
  const invalid = validate(ruleset, options);
  if (invalid.length > 0) return { invalid };
  return { results: requests.map((request) => resolve(request, ruleset, options)) };
}

// lines cuts a stream at its line feeds. (The readline module would also cut at U+2028, which may stand
// in a JSON string.)
async function* lines(stream) {
  let rest = "";
  for await (const text of stream.setEncoding("utf8")) {
    const complete = (rest + text).split("\n");
    rest = complete.pop();
    yield* complete;
  }
  if (rest !== "") yield rest;
}
