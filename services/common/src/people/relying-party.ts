// The site to which passkeys belong, from the public address of the gateway.
import { isIP } from 'node:net';

export interface RelyingParty {
  /** The host name, to which browsers bind a passkey. */
  id: string;
  origin: string;
}

/**
 * Undefined if browsers refuse passkeys at the address: they need a host name, and HTTPS unless it is
 * localhost.
 */
export function relyingPartyOf(public_url: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(public_url);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const is_local = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || is_local ? { id: hostname, origin } : undefined;
}
