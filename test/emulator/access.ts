// Authenticates a request by its token and checks what the token may access.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { EmulatorConfig } from './config';
import type { Route } from './core';
import { invalid, unknownObject, upstreamError } from './errors';
import { NODES, type Kind, type State } from './state';
import { buildToken, type Token } from './types';

export interface Credentials {
  scheme: string;
  value: string;
}

export function credentialsOf(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
): Credentials | null {
  const header = headers.authorization;
  if (header) {
    const space = header.indexOf(' ');
    const scheme = header.slice(0, space).toLowerCase();
    const value = header.slice(space + 1).trim();
    if (space > 0 && value !== '' && (scheme === 'bearer' || scheme === 'oauth')) {
      return { scheme, value };
    }
  }
  const value = query.get('access_token');
  return value ? { scheme: 'query', value } : null;
}

/** Throws 104 without a token and 190 with one that is unknown, invalid or expired. */
export function authenticate(
  state: State,
  config: EmulatorConfig,
  credentials: Credentials | null,
): Token {
  if (!credentials) throw upstreamError(104);
  if (credentials.value === `${config.app_id}|${config.app_secret}`) return appToken(credentials);
  const token = state.tokens.get(credentials.value);
  if (!token) throw upstreamError(190);
  const problem = problemOf(token);
  if (problem) throw upstreamError(190, problem.message, { subcode: problem.subcode });
  return token;
}

const problem = (subcode: number, text: string) => ({
  code: 190,
  message: `Error validating access token: ${text}`,
  subcode,
});
const INVALIDATED = problem(460, 'The session has been invalidated.');
const EXPIRED = problem(463, 'Session has expired.');

export function problemOf({ invalid, expires_at }: Token): typeof EXPIRED | null {
  if (invalid) return INVALIDATED;
  return expires_at !== 0 && expires_at * 1000 <= Date.now() ? EXPIRED : null;
}

function appToken(credentials: Credentials): Token {
  return buildToken({ token: credentials.value, type: 'APP', scopes: [], waba_ids: [] });
}

/** appsecret_proof is optional, but a wrong one is refused. */
export function checkProof(config: EmulatorConfig, token: Token, query: URLSearchParams): void {
  const proof = query.get('appsecret_proof');
  if (proof === null) return;
  const expected = createHmac('sha256', config.app_secret).update(token.token).digest('hex');
  if (proof !== expected) throw invalid('Invalid appsecret_proof provided in the API argument');
}

/**
 * An object outside the token's accounts looks as if it did not exist; a missing scope is code 10.
 */
export function authorise(
  state: State,
  token: Token,
  route: Route,
  subject: { kind: Kind; id: string; method: string },
): void {
  const waba_id = ownerOf(state, subject.kind, subject.id);
  if (waba_id !== null && token.waba_ids !== 'all' && !token.waba_ids.includes(waba_id)) {
    throw unknownObject(subject.method, subject.id);
  }
  if (route.scope && !token.scopes.includes(route.scope)) throw upstreamError(10);
}

function ownerOf(state: State, kind: Kind, id: string): string | null {
  if (kind === 'account') return id;
  if (kind === 'upload' || kind === 'app') return null;
  return state[NODES[kind]].get(id)?.waba_id ?? null;
}
