// The transcription as a function of a URL and a ruleset, for ../conformance/run.mjs.

import { resolve } from "./resolve.mjs";

export default function (url, ruleset) {
  const { outcome, destination, error } = resolve(url.href, ruleset);
  if (outcome === "error") throw new Error(error);
  return new URL(destination ?? url);
}
