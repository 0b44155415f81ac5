// Names the endpoint that an unknown path was probably meant for.
import { actionOf } from '../audit/audited';
import type { Endpoint } from '../endpoints/endpoint';
import { closest, LENGTH_MAX } from '../endpoints/parts/closest';

type Path = Pick<Endpoint, 'verb' | 'path'>;

const BASE = '/v1';

/** For the end of an error message; empty if no endpoint is close. */
export function suggestPath(paths: readonly Path[], method: string, given: string): string {
  if (given.length > LENGTH_MAX) return '';
  const wanted = given.startsWith(`${BASE}/`) ? given : BASE + given;
  const segments = wanted.split('/');
  const candidates = paths
    .map((one) => ({ ...one, filled: fill(one.path.split('/'), segments) }))
    .filter(({ filled }) => filled !== undefined);
  const ofMethod = candidates.filter(({ verb }) => verb === method);
  const name = closest(
    wanted,
    ofMethod.map(({ filled }) => filled as string),
  );
  return name === undefined
    ? suggestionOf(candidates.filter(({ filled }) => filled === wanted))
    : suggestionOf(ofMethod.filter(({ filled }) => filled === name));
}

/** The pattern with the given values in the place of its parameters. */
const fill = (pattern: string[], segments: string[]): string | undefined =>
  pattern.length === segments.length
    ? pattern.map((part, index) => (part.startsWith(':') ? segments[index] : part)).join('/')
    : undefined;

function suggestionOf(found: readonly Path[]): string {
  return found.length === 0 ? '' : `: did you mean ${found.map(actionOf).join(' or ')}?`;
}
