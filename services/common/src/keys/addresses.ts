// The addresses from which an API key may be used: single addresses and networks in CIDR notation.
import { BlockList, isIP } from 'node:net';

interface Range {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
const RANGE = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i;

/** Undefined for a text that is neither an address nor a network. */
function readRange(text: string): Range | undefined {
  const [, address = '', given] = RANGE.exec(text) ?? [];
  const version = isIP(address);
  // An IPv4 address in the form of IPv6 would be a second spelling of the same one.
  if (version === 0 || (version === 6 && address.includes('.'))) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const prefix = given === undefined ? BITS[family] : Number(given);
  return prefix <= BITS[family] ? { address, prefix, family } : undefined;
}

/** True for an address such as 203.0.113.7 or a network such as 203.0.113.0/24 or 2001:db8::/48. */
export const isAddressRange = (text: string): boolean => readRange(text) !== undefined;

/** Whether an address is in one of the ranges. An invalid range contains no address. */
export function createAddressCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of ranges) {
    const range = readRange(text);
    if (range) list.addSubnet(range.address, range.prefix, range.family);
  }
  return (address) => {
    const [plain = ''] = address.split('%');
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Whether every address of `inner` is in one of the ranges of `outer`. */
export function isWithinRanges(inner: string, outer: readonly string[]): boolean {
  const range = readRange(inner);
  return (
    range !== undefined &&
    outer.some((text) => {
      const other = readRange(text);
      if (!other || other.family !== range.family || other.prefix > range.prefix) return false;
      return createAddressCheck([text])(range.address);
    })
  );
}
