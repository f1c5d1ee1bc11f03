// Runs the vectors of the draft against another implementation:
//
//   node run.mjs MODULE [EXPORT]
//
// MODULE is a file or the name of a package, EXPORT the name of the function in it, by default its
// default export or its only function. The function takes the request URL, as a URL, and the
// ruleset, an object from key to value. It returns the destination as a URL, the request's where
// there is none, and throws where the outcome is an error; it may return a promise of all that.
//
// Extensions are left out, and so are the vectors of rulesets that are refused, since a function of
// this kind cannot tell. What it answers otherwise is printed by reading, or by section of the
// draft where a vector names no reading. Exit status: 0 if all agree, 1 if not, 2 for wrong usage.
//
// Node 24 or later has the URL of the URL Standard (R1), and reads TypeScript.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [module, name, ...more] = process.argv.slice(2);
if (module === undefined || more.length > 0) fail("write: node run.mjs MODULE [EXPORT]");
const implementation = await load(module, name);

const differences = new Map(); // by reading or section
let agreed = 0;
let asked = 0;
for (const vector of vectors()) {
  const expected = expectation(vector);
  const answer = await ask(vector);
  asked++;
  if (answer === expected) {
    agreed++;
    continue;
  }
  const why = vector.reading ?? `section ${vector.section}`;
  differences.set(why, [...(differences.get(why) ?? []), { vector, expected, answer }]);
}
print();
process.exitCode = agreed === asked ? 0 : 1;

// load returns the function that is meant.
async function load(module, name) {
  const loaded = await import(existsSync(module) ? pathToFileURL(resolve(module)).href : module)
    .catch((error) => fail(`${module}: ${error.message}`));
  const functions = Object.keys(loaded).filter((name) => typeof loaded[name] === "function");
  const only = functions.length === 1 ? functions[0] : undefined;
  const meant = name ?? (functions.includes("default") ? "default" : only);
  if (functions.includes(meant)) return loaded[meant];
  if (functions.length === 0) fail(`${module} exports no function`);
  fail(`${module} has ${meant === undefined ? "several functions" : `no function ${meant}`}; ` +
    `write one of these behind it: ${functions.join(", ")}`);
}

// vectors returns those that the draft alone decides, and that ask for a destination.
function* vectors() {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".json")).sort();
  for (const file of files) {
    const suite = JSON.parse(readFileSync(resolve(import.meta.dirname, file), "utf8"));
    if (!suite.extension) yield* suite.vectors.filter((vector) => vector.request !== undefined);
  }
}

// expectation says in a line what a vector expects.
function expectation({ expect }) {
  return expect.destination ?? expect.outcome;
}

// ask says in a line what the implementation answers.
async function ask({ request, ruleset, expect }) {
  try {
    const answer = new URL(await implementation(new URL(request), written(ruleset)));
    const passes = expect.outcome === "pass" && isSame(answer, new URL(request));
    return passes ? "pass" : answer.href;
  } catch {
    return "error";
  }
}

// isSame compares as R15 does, in which a bare "?" or "#" is none.
function isSame(a, b) {
  return ["origin", "pathname", "search", "hash"].every((part) => a[part] === b[part]);
}

// written returns a ruleset of its own, with a chain that is described written out.
function written(ruleset) {
  const { length, to } = ruleset.chain ?? {};
  if (typeof ruleset.chain !== "object") return JSON.parse(JSON.stringify(ruleset));
  const rules = {};
  for (let i = 0; i < length; i++) rules[`c${i}`] = i + 1 < length ? `/c${i + 1}` : to;
  return rules;
}

function print() {
  console.log(`${agreed} of ${asked} vectors agree`);
  const sorted = [...differences].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  if (sorted.length > 0) {
    console.log("differences: " + sorted.map(([why, list]) => `${why} ${list.length}`).join(", "));
  }
  for (const [why, list] of sorted) {
    console.log(`\n${why}`);
    for (const { vector, expected, answer } of list) {
      console.log(`  ${vector.name}`);
      console.log(`    request  ${vector.request}`);
      console.log(`    ruleset  ${shortened(JSON.stringify(vector.ruleset))}`);
      console.log(`    expected ${shortened(expected)}`);
      console.log(`    answer   ${shortened(answer)}`);
    }
  }
}

function shortened(text) {
  return text.length > 200 ? text.slice(0, 200) + "…" : text;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
