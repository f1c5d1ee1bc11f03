// Which rule a path belongs to: the canonical form of keys and candidates (R3) and the longest-prefix
// match of section 3.3.1, with two of our extensions, exact rules and folded case.

// indexRules reads a ruleset in its JSON form, key to "value" or to {to, status, exact, query}, into a map
// from canonical key to rule. A Map, since "constructor" and "__proto__" are keys like any other.
export function indexRules(rules, options) {
  const compare = comparer(options);
  const byKey = new Map();
  for (const [key, value] of Object.entries(rules)) {
    byKey.set(compare(key), readRule(key, value, options));
  }
  return { byKey, compare };
}

function readRule(key, value, options) {
  const { to, status, exact = false, query } = typeof value === "string" ? { to: value } : value;
  return { key, to, exact, query, status: status ?? options.status ?? 302 };
}

// longestPrefix returns {rule, remainingPath} of the longest key that pathname begins with, segment by
// segment, or null. The remaining path is cut from the path as it is spelled (R3).
export function longestPrefix(index, pathname) {
  let candidate = pathname.slice(1);
  while (candidate.length > 0) { // R4: the empty candidate matches nothing
    const rule = index.byKey.get(index.compare(candidate));
    const remainingPath = pathname.slice(candidate.length + 1);
    if (rule?.exact === false) return { rule, remainingPath };
    if (rule?.exact && (remainingPath === "" || remainingPath === "/")) {
      return { rule, remainingPath: "" };
    }

    const slashIdx = candidate.lastIndexOf("/");
    if (slashIdx === -1) return null;
    candidate = candidate.slice(0, slashIdx);
  }
  return null;
}

// comparer returns the function whose results are equal when two keys are the same key.
export function comparer(options) {
  if (!options.fold) return canonical;
  return (path) => canonical(path).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

// canonical is R3: the URL Standard's percent-encoding of paths, then RFC 3986, 6.2.2, unless some "%"
// is no escape: what such a text means is anyone's guess, so it only equals itself.
export function canonical(path) {
  const encoded = percentEncode(path);
  if (/%(?![0-9A-Fa-f]{2})/.test(encoded)) return encoded;
  return encoded.replace(/%[0-9A-Fa-f]{2}/g, normalizeTriplet);
}

// percentEncode applies the path percent-encode set. URL would do it too, but also drop a space at the
// end, and a candidate may well end in one.
function percentEncode(path) {
  return path.toWellFormed().replace(/[\0-\x20"#<>?^`{}\x7F-\u{10FFFF}]/gu, encodeURIComponent);
}

function normalizeTriplet(triplet) {
  const character = String.fromCharCode(parseInt(triplet.slice(1), 16));
  return /[0-9A-Za-z._~-]/.test(character) ? character : triplet.toUpperCase();
}
