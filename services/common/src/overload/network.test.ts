import type { IncomingMessage } from 'node:http';
import { networkOf, senderOf } from './http-server';

describe('the network of an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['1::2:3:4:5:6', '1:0:0:2'],
    ['1::ffff:2', '1:0:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', '0:0:0:0'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('the sender of a request', () => {
  const sender = (proxy_hops: number, forwarded?: string): string =>
    senderOf(
      {
        headers: { 'x-forwarded-for': forwarded },
        socket: { remoteAddress: '192.0.2.9' },
      } as unknown as IncomingMessage,
      proxy_hops,
    );

  test.each([
    ['without proxies', 0, '198.51.100.1', '192.0.2.9'],
    ['behind one proxy', 1, '203.0.113.7, 198.51.100.1', '198.51.100.1'],
    ['behind two proxies', 2, '203.0.113.7, 198.51.100.1', '203.0.113.7'],
    [
      'behind two proxies, with a forged address',
      2,
      '10.0.0.1,203.0.113.7,198.51.100.1',
      '203.0.113.7',
    ],
    ['behind more proxies than addresses', 3, '198.51.100.1', '198.51.100.1'],
    ['behind a proxy that adds none', 1, undefined, '192.0.2.9'],
  ])('%s', (_name, hops, forwarded, address) => {
    expect(sender(hops, forwarded)).toBe(address);
  });
});
