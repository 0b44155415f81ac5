// Resolves names to addresses. guarded.ts decides which addresses are allowed.
import { lookup, Resolver } from 'node:dns/promises';
import { codeOf, ConnectFailed } from './failures';

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

/**
 * The system's look-up, hosts file included: for local work, where names of containers live there.
 */
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
