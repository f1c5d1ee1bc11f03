// What a ruleset has to be before anything is resolved by it: R5, R10 and R11 (sections 2 and 4.2).

import { comparer } from "./keys.mjs";

const control = /[\0-\x1F\x7F-\x9F]/;
const queryModes = ["merge", "preserve", "ignore"];
const outerSpace = /^ | $/;

// validate returns one {key, error} for each thing wrong with a ruleset, an empty list when it is valid.
// The errors: "invalid key", "invalid value", "invalid status", "invalid query mode", and "duplicate key"
// for every rule whose key, if it can be one at all, is that of an earlier one.
export function validate(rules, options = {}) {
  const compare = comparer(options);
  const seen = new Set();
  const errors = [];
  for (const [key, value] of Object.entries(rules)) {
    const own = ruleErrors(key, value);
    if (isKey(key) && seen.has(compare(key))) own.push("duplicate key");
    if (isKey(key)) seen.add(compare(key));
    for (const error of own) errors.push({ key, error });
  }
  return errors;
}

function ruleErrors(key, value) {
  const { to, status, query } = typeof value === "string" ? { to: value } : value;
  const errors = [];
  if (!isKey(key)) errors.push("invalid key");
  if (!isValue(to)) errors.push("invalid value");
  if (status !== undefined && !isStatus(status)) errors.push("invalid status");
  if (query !== undefined && !queryModes.includes(query)) errors.push("invalid query mode");
  return errors;
}

// isKey is R5. Templates are unknown here, so no brace stands in one.
function isKey(key) {
  if (key === "" || key.startsWith("/")) return false;
  if (control.test(key) || outerSpace.test(key)) return false;
  return !/[?#\\{}]/.test(key) && !hasDotSegment(key);
}

// isValue is R10 and R11.
function isValue(to) {
  if (typeof to !== "string" || control.test(to) || outerSpace.test(to)) return false;
  return isAbsolute(to) || isInternal(to);
}

function isAbsolute(to) {
  return /^https?:\/\//.test(to) && URL.canParse(to);
}

function isInternal(to) {
  if (!to.startsWith("/") || to.startsWith("//")) return false;
  const [beforeHash, ...fragments] = to.split("#");
  const [path, ...queries] = beforeHash.split("?");
  if (fragments.length > 1 || queries.length > 1) return false; // R11
  if (path.endsWith(" ")) return false; // URL strips it at the end of a string, and nowhere else
  return !path.includes("\\") && !hasDotSegment(path);
}

// hasDotSegment knows the spellings of "." and ".." that the URL Standard knows.
function hasDotSegment(path) {
  return path.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}

function isStatus(status) {
  return [301, 302, 303, 307, 308].includes(status);
}
