// The pseudocode of draft-go-protocol-00, section 3.5, written to be read beside it: same steps, same
// names, same order. Where a line differs, a comment names the reading (R1 to R18) that says so.
// It is slow and obvious on purpose, and it leaves all work on URLs to Node's own URL and
// URLSearchParams, which are the URL Standard of today (R1, Node 24).

import { indexRules, longestPrefix } from "./keys.mjs";
import { queryCombiner } from "./queries.mjs";
import { combineStatus } from "./status.mjs";
import { isUnsafe } from "./unsafe.mjs";

const draftLimit = 255; // the 256th internal redirect is one too many (R9)

// resolve answers {outcome, destination?, key?, hops?, status?, error?} for a request URL and a valid
// ruleset (see validate.mjs): outcome is "redirect", "pass" or "error"; key is the first matched rule's,
// in its own spelling; destination and status belong to "redirect" alone, error to "error" alone. An
// error names the key but counts no hops: one who knows every loop beforehand takes none of them.
export function resolve(requestURL, rules, options = {}) {
  const request = new URL(requestURL);
  const index = indexRules(rules, options);
  const limit = options.max_redirects ?? draftLimit;

  const requestQuery = request.search;
  const requestHash = request.hash;
  let pathname = request.pathname;
  let relativePathname = "";
  let initialQuery = "";
  let lastQuery = ""; // for a rule's own query mode, an extension
  let initialHash = "";
  let redirectCount = 0;
  const matched = []; // every rule of the chain, the first one first

  while (redirectCount <= limit) {
    // Step 1: extract the embedded fragment. Only the first one found in the chain is kept.
    const hashIdx = pathname.lastIndexOf("#");
    if (hashIdx >= 0) {
      if (initialHash === "") initialHash = pathname.slice(hashIdx);
      pathname = pathname.slice(0, hashIdx);
    }

    // Step 2: extract the embedded query, in the same way.
    const queryIdx = pathname.lastIndexOf("?");
    if (queryIdx >= 0) {
      if (initialQuery === "") initialQuery = pathname.slice(queryIdx);
      if (pathname.length > queryIdx + 1) lastQuery = pathname.slice(queryIdx);
      pathname = pathname.slice(0, queryIdx);
    }

    // Step 3: longest-prefix match.
    const match = longestPrefix(index, pathname);

    // Step 4: process the result.
    if (match === null) {
      if (matched.length === 0) return { outcome: "pass" }; // R15

      // R7: the path goes behind the request's origin. Resolved against it, "//host" would leave it.
      const origin = options.origin ?? request.origin;
      const destination = new URL(origin + joinPaths(pathname, relativePathname));
      const combineQueries = queryCombiner(options, matched[0], lastQuery);
      const query = combineQueries("", initialQuery, requestQuery);
      const hash = selectFragment(requestHash, initialHash, "");
      return arrive(destination.origin + destination.pathname + query + hash); // R8: appended once
    }

    // R14: what the client wrote is judged once, before anything else can go wrong.
    if (matched.length === 0 && isUnsafe(match.remainingPath)) {
      return { outcome: "error", error: "unsafe path", key: match.rule.key };
    }
    matched.push(match.rule);

    relativePathname = match.remainingPath + relativePathname; // plain concatenation (R6)
    const value = match.rule.to;

    if (value.slice(0, 4) === "http") {
      const destination = new URL(value);
      const combineQueries = queryCombiner(options, matched[0], lastQuery);
      const query = combineQueries(destination.search, initialQuery, requestQuery);
      const hash = selectFragment(requestHash, initialHash, destination.hash);
      return arrive(
        destination.origin + joinPaths(destination.pathname, relativePathname) + query + hash,
      );
    }

    // A valid value that is not absolute begins with "/" (R10): an internal redirect.
    pathname = value;
    redirectCount++;
  }
  return { outcome: "error", error: "too many internal redirects", key: matched[0].key };

  // arrive turns the assembled string into the outcome of a request that some rule matched.
  function arrive(assembled) {
    const destination = new URL(assembled);
    const taken = { key: matched[0].key, hops: redirectCount };
    if (isSame(destination, request)) return { outcome: "pass", ...taken }; // R15
    const { href } = destination; // R12
    return { outcome: "redirect", destination: href, ...taken, status: combineStatus(matched) };
  }
}

// isSame compares the components of section 3.2. A bare "?" or "#" is none of them.
function isSame(a, b) {
  return ["origin", "pathname", "search", "hash"].every((component) => a[component] === b[component]);
}

// joinPaths is the one seam of the construction (R6): where two slashes meet, one goes.
function joinPaths(base, appended) {
  if (base.endsWith("/") && appended.startsWith("/")) return base + appended.slice(1);
  return base + appended;
}

function selectFragment(requestHash, initialHash, destinationHash) {
  if (requestHash !== "") return requestHash;
  if (initialHash !== "") return initialHash;
  return destinationHash;
}
