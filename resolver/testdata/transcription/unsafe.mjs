// Path traversal, sections 4.5 and 4.2, as R14 reads them.

// isUnsafe tells whether a request's remaining path may be dangerous to whoever decodes it next, however
// often: a ".." segment, or a control octet.
export function isUnsafe(remainingPath) {
  const octets = decodeFully(remainingPath);
  return /[\0-\x1F\x7F]/.test(octets) || octets.split(/[/\\]/).includes("..");
}

// decodeFully percent-decodes until nothing changes. Each octet is one character of the result.
function decodeFully(path) {
  let decoded = path;
  do {
    path = decoded;
    decoded = path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  } while (decoded !== path);
  return decoded;
}
