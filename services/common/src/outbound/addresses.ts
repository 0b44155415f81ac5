// Resolves names to IP addresses, and decides to which addresses a partner-given URL may lead.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { IPv4, parse, parseCIDR, type IPv6 } from 'ipaddr.js';
import { codeOf, ConnectFailed } from './failures';

// These look public, but the machine that hosts us serves them: the host agent of one cloud, and
// the metadata service that another puts into the private range.
const HOST_SERVICES = ['168.63.129.16/32', 'fd00:ec2::/32'].map((range) => parseCIDR(range));

// RFC 6052: the well-known prefix under which IPv4 hosts are reached from a network without IPv4.
// The local-use prefix beside it (RFC 8215) is refused, because only its own network knows where it
// leads.
const NAT64 = parseCIDR('64:ff9b::/96');

// RFC 4291: all global unicast addresses allocated so far. A list of public ranges, unlike a list
// of special ones, also refuses special ranges that are new or on no list (IPv4-compatible
// addresses).
const GLOBAL_UNICAST = parseCIDR('2000::/3');

const EMBEDDED_IPV4_BYTES = 4;

/**
 * Whether we may connect to the address. The setting opens loopback and the private networks, if
 * local work and its containers live; link-local (cloud metadata), multicast and reserved ones stay
 * refused even then.
 */
export function isAllowedAddress(ip: string, allowPrivate: boolean): boolean {
  const range = rangeOf(ip);
  return range === 'public' || (allowPrivate && range === 'private');
}

function rangeOf(ip: string): 'public' | 'private' | 'forbidden' {
  // The library reads octal and short spellings too; a resolver and a socket never report those. A
  // zone marks an address of one link.
  if (isIP(ip) === 0 || ip.includes('%')) return 'forbidden';
  return judge(parse(isIP(ip) === 6 ? inHexadecimal(ip) : ip));
}

function judge(address: IPv4 | IPv6): 'public' | 'private' | 'forbidden' {
  if (HOST_SERVICES.some((range) => within(address, range))) return 'forbidden';
  if (address instanceof IPv4) {
    const range = address.range();
    if (range === 'unicast') return 'public';
    return range === 'loopback' || range === 'private' ? 'private' : 'forbidden';
  }
  // Both forms lead to the IPv4 host that they carry. 6to4 and Teredo carry one too, but leave
  // through relays that hardly exist any more: they are refused whole.
  if (address.isIPv4MappedAddress() || within(address, NAT64)) return judge(embeddedIpv4(address));
  const range = address.range();
  if (range === 'loopback' || range === 'uniqueLocal') return 'private';
  return range === 'unicast' && within(address, GLOBAL_UNICAST) ? 'public' : 'forbidden';
}

// ipaddr.js takes `::127.0.0.1` for the mapped `::ffff:127.0.0.1`; the URL parser spells it
// `::7f00:1`, about which there can be no mistake.
function inHexadecimal(ip: string): string {
  return new URL(`http://[${ip}]`).hostname.slice(1, -1);
}

function within(address: IPv4 | IPv6, range: [IPv4 | IPv6, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}

function embeddedIpv4(address: IPv6): IPv4 {
  return new IPv4(address.toByteArray().slice(-EMBEDDED_IPV4_BYTES));
}

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** All addresses of a name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

// RFC 6761: such names mean loopback and are never looked up.
const LOCALHOST = /(?:^|\.)localhost$/;

// Final answers: there is no such address. All others (a timeout, a failing server) are temporary.
const NO_SUCH_NAME: ReadonlySet<string | null> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Queries the name servers over the network for exactly this name. The system's own look-up would try
 * the hosts file and the search domains first, and so find private hosts. It also waits in a pool of
 * four threads, in which one partner's silent name server would delay all other work.
 */
export function dnsResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    const found: ResolvedAddress[] = [];
    if (v4.status === 'fulfilled') {
      for (const address of v4.value) found.push({ address, family: 4 });
    }
    if (v6.status === 'fulfilled') {
      for (const address of v6.value) found.push({ address, family: 6 });
    }
    if (found.length > 0) return found;
    throw dnsFailed(
      [v4, v6].map((answer) => (answer.status === 'rejected' ? answer.reason : null)),
    );
  };
}

/** The system's look-up, hosts file included: names of containers are there. */
export const systemResolve: Resolve = async (hostname) => {
  if (LOCALHOST.test(hostname)) {
    return [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
  }
  try {
    const found = await lookup(hostname, { all: true, order: 'ipv4first' });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  } catch (error) {
    throw dnsFailed([error]);
  }
};

function dnsFailed(errors: readonly unknown[]): ConnectFailed {
  const passing = errors.find((error) => error !== null && !NO_SUCH_NAME.has(codeOf(error)));
  return new ConnectFailed('dns', passing !== undefined, { cause: passing ?? errors[0] });
}
