import fc from 'fast-check';
import { isAllowedAddress } from './addresses';

const isPublicAddress = (ip: string): boolean => isAllowedAddress(ip, false);

const PUBLIC = [
  ...['8.8.8.8', '1.1.1.1', '93.184.216.34', '172.15.255.255', '172.32.0.0', '100.63.255.255'],
  ...['100.128.0.0', '169.253.255.255', '198.17.255.255', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  '64:ff9b::808:808',
];

// Never reachable, whatever the setting says.
const FORBIDDEN = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'this network'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['100.100.100.200', 'metadata in the carrier-grade range'],
  ['168.63.129.16', 'host agent of a cloud'],
  ['169.254.169.254', 'link-local, cloud metadata'],
  ['169.254.0.1', 'link-local'],
  ['192.0.0.192', 'protocol assignments, metadata'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::8.8.8.8', 'IPv4-compatible'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:169.254.169.254', 'mapped link-local'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated'],
  ['64:ff9b::169.254.169.254', 'NAT64 of link-local'],
  ['64:ff9b:1::8.8.8.8', 'local-use NAT64'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHIDv2'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['2002:808:808::1', '6to4'],
  ['4000::1', 'not given out'],
  ['5f00::1', 'segment routing'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['2606:4700:4700::1111%eth0', 'public with a zone'],
  ['fec0::1', 'site-local'],
  ['fd00:ec2::254', 'metadata in the private range'],
  ['ff02::1', 'multicast'],
  ['127.1', 'a short spelling, which no socket reports'],
  ['0177.0.0.1', 'an octal spelling'],
  ['2130706433', 'a decimal spelling'],
  ['', 'nothing'],
  ['example.com', 'a name'],
  ['[::1]', 'brackets'],
] as const;

const PRIVATE = [
  ...['10.0.0.1', '127.0.0.1', '127.255.255.254', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['::1', 'fc00::1', 'fd12:3456:789a::1', '::ffff:127.0.0.1', '::ffff:a00:1'],
  ...['64:ff9b::10.0.0.1', '64:ff9b::7f00:1'],
];

test.each(PUBLIC)('%s is public', (ip) => {
  expect(isPublicAddress(ip)).toBe(true);
  expect(isAllowedAddress(ip, true)).toBe(true);
});

test.each(PRIVATE)('%s is private and allowed only if private addresses are', (ip) => {
  expect(isPublicAddress(ip)).toBe(false);
  expect(isAllowedAddress(ip, true)).toBe(true);
});

test.each(FORBIDDEN)('%s (%s) is never allowed', (ip) => {
  expect(isPublicAddress(ip)).toBe(false);
  expect(isAllowedAddress(ip, true)).toBe(false);
});

test('treats an IPv4 address the same in every IPv6 form', () => {
  fc.assert(
    fc.property(fc.ipV4(), (ip) => {
      expect(isPublicAddress(`::ffff:${ip}`)).toBe(isPublicAddress(ip));
      expect(isPublicAddress(`64:ff9b::${ip}`)).toBe(isPublicAddress(ip));
      expect(isPublicAddress(`::${ip}`)).toBe(false);
    }),
  );
});

test('a public IPv6 address is a native one in 2000::/3 or carries a public IPv4 address', () => {
  fc.assert(
    fc.property(fc.ipV6(), (ip) => {
      if (isPublicAddress(ip)) expect(ip).toMatch(/^(?:[23][0-9a-f]{3}:|::ffff:|0*64:ff9b:)/i);
    }),
  );
});
