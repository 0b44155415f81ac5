// Decides to which IP addresses a partner-given URL may lead. Pure: it checks one address as text,
// in the spelling that the resolver or a connected socket reports.
import { isIP } from 'node:net';
import { IPv4, parse, parseCIDR, type IPv6 } from 'ipaddr.js';

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
 * Whether the address belongs to a host on the public internet. False for text that is no address.
 */
export function isPublicAddress(ip: string): boolean {
  return rangeOf(ip) === 'public';
}

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
