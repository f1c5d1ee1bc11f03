// Runs the conformance vectors through the transcription: `node conformance.mjs`, with Node 24.
// Anything that does not agree, and any member of a vector that nobody knows, is printed and ends in
// exit status 1.

import { readdirSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { resolve } from "./resolve.mjs";
import { validate } from "./validate.mjs";

const folder = new URL("../conformance/", import.meta.url);
const readings = /^R([1-9]|1[0-8])$/;
const sections = /^[2-4](\.[1-9]){0,2}$/;

const names = new Set();
let failures = 0;
// What the transcription does not have: neither templates, values that are no destination, nor times are
// a part of the draft.
const left = ["extension-templates.json", "extension-values.json", "extension-windows.json"];
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json") && !left.includes(name)).sort()) {
  runFile(file, JSON.parse(readFileSync(new URL(file, folder), "utf8")));
}
console.log(`${names.size} vectors, ${failures} failures`);
process.exitCode = failures > 0 ? 1 : 0;

function runFile(file, suite) {
  const complaints = membersOf(suite, ["title", "about", "extension", "vectors"]);
  if (complaints.length > 0) report(file, complaints);
  for (const vector of suite.vectors) {
    const found = [...formErrors(vector, suite.extension), ...mismatches(vector)];
    if (found.length > 0) report(`${file}: ${vector.name}`, found);
    names.add(vector.name);
  }
}

function report(where, complaints) {
  failures++;
  console.error(where);
  for (const complaint of complaints) console.error("  " + complaint);
}

// membersOf complains of members missing from an object and of members it may not have.
function membersOf(object, required, optional = []) {
  const missing = required.filter((name) => !Object.hasOwn(object, name));
  const unknown = Object.keys(object).filter((name) => ![...required, ...optional].includes(name));
  return [...missing.map((name) => `no ${name}`), ...unknown.map((name) => `unknown member ${name}`)];
}

function formErrors(vector, extension) {
  const isInvalid = Object.hasOwn(vector.expect, "invalid");
  const required = ["name", "ruleset", "expect", ...(isInvalid ? [] : ["request"])];
  const optional = ["section", "reading", ...(extension ? ["options"] : [])];
  return [
    ...membersOf(vector, required, optional),
    ...referenceErrors(vector),
    ...membersOf(vector.options ?? {}, [], ["status", "query", "protect", "fold", "max_redirects", "origin"]),
    ...expectErrors(vector.expect),
    ...(names.has(vector.name) ? ["a name that another vector has"] : []),
  ];
}

function referenceErrors({ section, reading }) {
  const errors = [];
  if (section === undefined && reading === undefined) errors.push("neither section nor reading");
  if (section !== undefined && !sections.test(section)) errors.push(`no such section: ${section}`);
  if (reading !== undefined && !readings.test(reading)) errors.push(`no such reading: ${reading}`);
  return errors;
}

function expectErrors(expect) {
  if (Object.hasOwn(expect, "invalid")) {
    return [...membersOf(expect, ["invalid"]), ...expect.invalid.flatMap((e) => membersOf(e, ["key", "error"]))];
  }
  switch (expect.outcome) {
    case "redirect":
      return membersOf(expect, ["outcome", "destination", "key", "hops"], ["status"]);
    case "pass":
      return membersOf(expect, ["outcome"], ["key", "hops"]);
    case "error":
      return membersOf(expect, ["outcome", "error"]);
    default:
      return [`no such outcome: ${expect.outcome}`];
  }
}

function mismatches(vector) {
  const ruleset = expand(vector.ruleset);
  const options = vector.options ?? {};
  const invalid = validate(ruleset, options);
  if (Object.hasOwn(vector.expect, "invalid")) return sameErrors(vector.expect.invalid, invalid);
  if (invalid.length > 0) return [`the ruleset is not valid: ${JSON.stringify(invalid)}`];
  return sameOutcome(vector.expect, resolve(vector.request, ruleset, options));
}

// expand writes out the one ruleset that is described instead of listed: a chain of internal redirects.
function expand(ruleset) {
  if (!Number.isInteger(ruleset.chain?.length) || typeof ruleset.chain === "string") return ruleset;
  const { length, to } = ruleset.chain;
  return Object.fromEntries(
    Array.from({ length }, (_, i) => [`c${i}`, i + 1 < length ? `/c${i + 1}` : to]),
  );
}

function sameErrors(expected, actual) {
  const sorted = (list) => list.map((e) => JSON.stringify([e.key, e.error])).sort();
  if (isDeepStrictEqual(sorted(expected), sorted(actual))) return [];
  return [`expected ${JSON.stringify(expected)}`, `     got ${JSON.stringify(actual)}`];
}

// sameOutcome compares all members, but for those a vector need not state: the status, and the key of an
// error.
function sameOutcome(expected, actual) {
  const compared = { ...actual };
  if (!Object.hasOwn(expected, "status")) delete compared.status;
  if (expected.outcome === "error") delete compared.key;
  if (isDeepStrictEqual({ ...expected }, compared)) return [];
  return [`expected ${JSON.stringify(expected)}`, `     got ${JSON.stringify(actual)}`];
}
