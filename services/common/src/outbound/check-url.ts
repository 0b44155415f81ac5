// Checks what a partner-given request consists of before anything is looked up or sent: the URL
// (scheme, syntax, and the host if it is an address) and the headers. guarded.ts checks the
// addresses that a name resolves to.
import { isIP } from 'node:net';
import { isAllowedAddress } from './addresses';

// The reasons complete the sentence "<field> ...", which partners read.
const REASONS = {
  malformed: 'is not a valid URL',
  too_long: 'is longer than 2,048 characters',
  not_https: 'must start with https://',
  has_credentials: 'must not contain a user name or password',
  bad_host: 'has a host that is not a valid internet name',
  private_host: 'must name a host on the public internet',
  private_address: 'must lead to an address on the public internet',
  bad_port: 'names a port that is not used for HTTPS',
} as const;

export type UrlRefusal = keyof typeof REASONS;

/** A URL that the service will not open. The message may be shown to the partner. */
export class UrlRefused extends Error {
  override readonly name = 'UrlRefused';

  constructor(
    readonly field: string,
    readonly reason: UrlRefusal,
    options?: ErrorOptions,
  ) {
    super(`${field} ${REASONS[reason]}`, options);
  }
}

export interface CheckUrlOptions {
  /** The request field that held the URL, for the refusal. */
  field: string;
  /** Opens http, loopback and private networks; for local work only. */
  allowPrivate: boolean;
}

const URL_LENGTH_MAX = 2_048;

// The parser of the URL standard forgives much: it drops tabs and line ends wherever they are,
// reads a backslash as a slash and makes up missing slashes. A URL that needs forgiving reads
// differently to different programs, so it is refused.
const WELL_FORMED = /^https?:\/\/[^/?#\\\u0000-\u0020\u007f]+(?:[/?#][^\\\u0000-\u001f\u007f]*)?$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const AUTHORITY = /^[^/]*\/\/([^/?#]*)/;

/** The parsed URL, its fragment and a dot at the end of its host removed. Throws UrlRefused. */
export function checkUrl(text: string, { field, allowPrivate }: CheckUrlOptions): URL {
  const refuse = (reason: UrlRefusal): never => {
    throw new UrlRefused(field, reason);
  };
  if (text.length > URL_LENGTH_MAX) refuse('too_long');
  if (SCHEME.test(text) && !isSchemeAllowed(text, allowPrivate)) refuse('not_https');
  if (!WELL_FORMED.test(text)) refuse('malformed');
  const url = URL.parse(text) ?? refuse('malformed');
  // Matched in the text, because the parser drops an empty user name.
  if (AUTHORITY.exec(text)?.[1]?.includes('@')) refuse('has_credentials');
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) refuse('bad_port');
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const hostRefusal = judgeHost(url.hostname, allowPrivate);
  if (hostRefusal !== null) refuse(hostRefusal);
  url.hash = '';
  return url;
}

function isSchemeAllowed(text: string, allowPrivate: boolean): boolean {
  const scheme = text.slice(0, text.indexOf(':')).toLowerCase();
  return scheme === 'https' || (scheme === 'http' && allowPrivate);
}

// The parser has brought every spelling of an IPv4 address (decimal, octal, hexadecimal, shortened,
// full-width digits, percent-encoded) to the dotted one by now.
function judgeHost(hostname: string, allowPrivate: boolean): UrlRefusal | null {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(host) !== 0) return isAllowedAddress(host, allowPrivate) ? null : 'private_address';
  if (host.length > NAME_LENGTH_MAX || !NAME.test(host)) return 'bad_host';
  return allowPrivate || !PRIVATE_NAME.test(host) ? null : 'private_host';
}

// RFC 1035's lengths. The underscore is not allowed in host names, yet some hosts have one.
const NAME_LENGTH_MAX = 253;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/;

// Names that mean something only inside a network: a single label (a neighbour on the container
// network or in the search domain), and the suffixes that RFC 6761, 6762 (and its appendix G), 8375
// and the reservation of .internal keep out of the public tree.
const PRIVATE_NAME =
  /^[^.]+$|\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/;

// Port 0 and the ports that browsers refuse as well (the Fetch standard's "bad ports"): other
// protocols use them, and some can be made to act on the content of a request.
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/i;
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

/**
 * Throws a TypeError that names the header; the value may be a secret and is not repeated. If undici
 * refused a bad header, its pool would count the connection as busy for ever.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    if (!HEADER_NAME.test(name) || RESERVED.has(name.toLowerCase())) {
      throw new TypeError(`the header name ${JSON.stringify(name)} must not be sent`);
    }
    if (!VALUE.test(headers[name] ?? '')) {
      throw new TypeError(`the value of the header ${name} must not be sent`);
    }
  }
}
