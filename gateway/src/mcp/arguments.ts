// Turns the arguments of a tool call into the request of its row, and refuses those that the row
// never sees.
import { invalidField, missingFields } from '@bmg/common/errors';
import type { Endpoint, Fields } from '../endpoints/endpoint';
import { closest } from '../endpoints/parts/closest';
import { headersOf, pathParametersOf, placesOf, type Place } from './input-schema';

/** A request of a row, before it is carried out. */
export interface RowRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Fields;
}

/** Bounds a header, a path parameter or a query: it is longer than any cursor. */
const TEXT_MAX = 2_048;
/** Unknown arguments that an error compares with the known ones. */
const UNKNOWN_MAX = 20;

/**
 * Throws for an argument that the row does not have, and for one that no URL or header can carry.
 */
export function readArguments(endpoint: Endpoint, given: Fields): RowRequest {
  const places = placesOf(endpoint);
  const request: RowRequest = { params: {}, query: {}, headers: {}, body: {} };
  refuseUnknown(Object.keys(given), [...places.keys()]);
  for (const [name, value] of Object.entries(given)) {
    const place = places.get(name) ?? 'body';
    // Absent, as in a body of JSON.
    if (value === undefined) continue;
    if (place === 'body') request.body[name] = bodyValueOf(endpoint, name, value);
    else put(request, endpoint, { place, name, text: textOf(name, value) });
  }
  const missing = pathParametersOf(endpoint).filter((name) => !request.params[name]?.trim());
  if (missing.length > 0) throw missingFields(missing);
  return request;
}

function put(
  { params, query, headers }: RowRequest,
  endpoint: Endpoint,
  { place, name, text }: { place: Exclude<Place, 'body'>; name: string; text: string },
): void {
  if (place === 'path') params[name] = text;
  else if (place === 'query') query[name] = text;
  else headers[headersOf(endpoint)[name]?.name ?? name] = text;
}

function refuseUnknown(given: string[], known: string[]): void {
  const unknown = given.filter((name) => !known.includes(name)).slice(0, UNKNOWN_MAX);
  const [first] = unknown;
  if (first === undefined) return;
  const meant = closest(first, known);
  const also = unknown.slice(1);
  throw invalidField(
    first.slice(0, TEXT_MAX),
    `is not an argument of this tool${meant === undefined ? '' : `: did you mean ${meant}?`}`,
    also.length > 0 ? { also } : {},
  );
}

function textOf(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw invalidField(name, 'must be a string or a number');
  }
  const text = String(value);
  if (text.length > TEXT_MAX) throw invalidField(name, `must have at most ${TEXT_MAX} characters`);
  return text;
}

/**
 * Models and command lines pass a phone number or an ID as a number, although the row expects a
 * string.
 */
const bodyValueOf = ({ body }: Endpoint, name: string, value: unknown): unknown =>
  body?.properties?.[name]?.type === 'string' && Number.isSafeInteger(value)
    ? String(value)
    : value;

/** `/messages/:message_id/timeline` with its values and query. */
export function pathOf({ path }: Endpoint, { params, query }: RowRequest): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) =>
    // Half of a surrogate pair cannot be encoded: a buffer replaces it.
    encodeURIComponent(Buffer.from(params[name] ?? '').toString()),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
