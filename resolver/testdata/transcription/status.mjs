// The redirect status of a chain (an extension: the draft has no word on status codes).

// combineStatus takes the matched rules, first to last. A 303 of the first rule stands. Otherwise the
// whole is permanent only if every rule is, and keeps the request's method if any rule does.
export function combineStatus(matched) {
  const statuses = matched.map((rule) => rule.status);
  if (statuses[0] === 303) return 303;
  const permanent = statuses.every((status) => status === 301 || status === 308);
  const keepsMethod = statuses.some((status) => status === 307 || status === 308);
  if (permanent) return keepsMethod ? 308 : 301;
  return keepsMethod ? 307 : 302;
}
