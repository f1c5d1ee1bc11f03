// Answers questions about URLs with the URL and URLSearchParams of the Node that runs it:
// one JSON object a line in, one JSON array of strings a line out, in order. Strings that
// may hold bytes which are no UTF-8 come in base64.
import { createInterface } from "node:readline";

const text = (base64) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(base64, "base64"));

// To the standard a character beyond ASCII is as good as its bytes as %XX. Node decodes it
// differently beside ill-formed %XX (it takes U+00E9 for the byte E9), so it gets the latter.
const encoded = (s) => s.replace(/[^\0-\x7f]+/g, encodeURIComponent);

const answers = {
  url({ input }) {
    const u = new URL(text(input));
    return [u.href, u.origin, u.username, u.password, u.hostname, u.port, u.pathname, u.search, u.hash];
  },
  reference({ input, base }) {
    return [new URL(text(input), text(base)).href];
  },
  target({ input }) {
    const u = new URL("http://h" + text(input));
    return [u.pathname, u.search, u.hash];
  },
  params({ input, name, value }) {
    const p = new URLSearchParams(encoded(text(input)));
    const before = p.toString();
    p.set(text(name), text(value));
    return [before, p.toString()];
  },
  merge({ base, input }) {
    const p = new URLSearchParams("?" + encoded(text(base)));
    for (const [name, value] of new URLSearchParams("?" + encoded(text(input)))) p.set(name, value);
    return [p.toString()];
  },
};

function answer(line) {
  const question = JSON.parse(line);
  try {
    return answers[question.ask](question);
  } catch (error) {
    if (error.code !== "ERR_INVALID_URL") throw error;
    return [];
  }
}

let out = "";
for await (const line of createInterface({ input: process.stdin })) {
  out += JSON.stringify(answer(line)) + "\n";
  if (out.length > 1 << 16) {
    process.stdout.write(out);
    out = "";
  }
}
process.stdout.write(out);
