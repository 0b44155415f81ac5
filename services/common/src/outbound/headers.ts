// Checks request headers for a partner's server before undici does: after undici refuses a bad header,
// its pool counts the connection as busy for ever.

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/i;
// Visible characters, space and tab; above all no line break, which would start another header.
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// The connection's own business; `host` would also steer the TLS handshake.
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Throws a TypeError that names the header; the value may be a secret and is not repeated. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    if (!NAME.test(name) || RESERVED.has(name.toLowerCase())) {
      throw new TypeError(`the header name ${JSON.stringify(name)} must not be sent`);
    }
    if (!VALUE.test(headers[name] ?? '')) {
      throw new TypeError(`the value of the header ${name} must not be sent`);
    }
  }
}
