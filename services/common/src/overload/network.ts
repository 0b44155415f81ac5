// The network of a sender, by which unauthenticated requests are limited.
import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

/** An IPv6 host usually owns a whole /64, so that it is limited as one. */
export function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped)) return mapped;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':');
}

/**
 * The address of a request's sender: the last `proxy_hops` addresses of X-Forwarded-For are trusted, and
 * the first of them is the sender's; without such proxies it is the one of the connection.
 */
export function senderOf({ headers, socket }: IncomingMessage, proxy_hops: number): string {
  const given = proxy_hops > 0 ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  const trusted = given.map((address) => address.trim()).filter((address) => address !== '');
  return trusted.slice(-proxy_hops)[0] ?? socket.remoteAddress ?? '';
}
