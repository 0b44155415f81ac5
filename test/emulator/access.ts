// Authenticates a request by its token and checks what the token may access.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { EmulatorConfig } from './config';
import type { Route } from './core';
import { invalid, unknownObject, upstreamError } from './errors';
import type { Kind, State } from './state';
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

export function problemOf(token: Token): { message: string; subcode: number } | null {
  if (token.invalid) return token.invalid;
  if (token.expires_at !== 0 && token.expires_at * 1000 <= Date.now()) {
    return { message: 'Error validating access token: Session has expired.', subcode: 463 };
  }
  return null;
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
  switch (kind) {
    case 'account':
      return id;
    case 'number':
      return state.numbers.get(id)?.waba_id ?? null;
    case 'media':
      return state.media.get(id)?.waba_id ?? null;
    case 'template':
      return state.templates.get(id)?.waba_id ?? null;
    case 'flow':
      return state.flows.get(id)?.waba_id ?? null;
    case 'group': {
      const number_id = state.groups.get(id)?.phone_number_id;
      return number_id ? (state.numbers.get(number_id)?.waba_id ?? null) : null;
    }
    case 'upload':
    case 'app':
      return null;
  }
}
