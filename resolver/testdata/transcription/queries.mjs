// The query of a destination: section 3.4.2 as the draft has it (merge), and our extensions preserve,
// ignore and protect.

// queryCombiner returns combineQueries(baseQuery, pathnameQuery, requestQuery), lowest precedence first,
// each with its leading "?" or empty, as the first rule of a chain wants it, or else the options. A rule
// that says ignore has the last query of the chain's values, of which lastQuery is the last embedded one.
export function queryCombiner(options, rule, lastQuery) {
  if (rule.query === "ignore") return (baseQuery) => baseQuery || lastQuery;
  const mode = rule.query ?? options.query;
  const combine = mode === "preserve" ? preserve : merge;
  return (baseQuery, pathnameQuery, requestQuery) => {
    if (mode === "ignore") return merge(baseQuery, pathnameQuery, "");
    const keep = unprotected(options.protect ?? [], baseQuery, pathnameQuery);
    return combine(baseQuery, pathnameQuery, requestQuery, keep);
  };
}

// merge is the draft's combineQueries, with all that URLSearchParams loses (R13). Of the request's
// parameters only those that keep admits take part.
function merge(baseQuery, pathnameQuery, requestQuery, keep = () => true) {
  const params = new URLSearchParams(baseQuery);
  for (const [name, value] of new URLSearchParams(pathnameQuery)) {
    params.set(name, value);
  }
  for (const [name, value] of new URLSearchParams(requestQuery)) {
    if (keep(name)) params.set(name, value);
  }
  return withQuestionMark(params.toString());
}

// preserve joins the pieces between "&" as they are written. A piece goes where a source of higher
// precedence has one of the same name.
function preserve(baseQuery, pathnameQuery, requestQuery, keep) {
  const request = pieces(requestQuery).filter((piece) => keep(nameOf(piece)));
  const embedded = pieces(pathnameQuery).filter(notNamedIn(request));
  const base = pieces(baseQuery).filter(notNamedIn([...pieces(pathnameQuery), ...request]));
  return withQuestionMark([...base, ...embedded, ...request].join("&"));
}

function pieces(query) {
  return query.slice(1).split("&").filter((piece) => piece !== "");
}

function notNamedIn(higher) {
  const names = new Set(higher.map(nameOf));
  return (piece) => !names.has(nameOf(piece));
}

// nameOf decodes a piece's name. The "?" in front is for URLSearchParams to drop instead of one that
// belongs to the name.
function nameOf(piece) {
  return [...new URLSearchParams("?" + piece).keys()][0];
}

// unprotected returns the test whether the request may set a parameter: not one that is protected and
// that the rules have set themselves (section 4.6).
function unprotected(protect, baseQuery, pathnameQuery) {
  const ours = new Set([
    ...new URLSearchParams(baseQuery).keys(),
    ...new URLSearchParams(pathnameQuery).keys(),
  ]);
  const isProtected = (name) => protect.includes("*") || protect.includes(name);
  return (name) => !(ours.has(name) && isProtected(name));
}

function withQuestionMark(query) {
  return query.length > 0 ? "?" + query : "";
}
