// Generates requests with one fault each from a row's schema and a request that would succeed:
// missing, blank, null, wrong type, out of range, not in the enum, too long. Sends them, and
// reports the answers that differ from the expected refusal.
import { isErrorCode } from '@bmg/common/errors';
import type { Endpoint, Fields } from '../../gateway/src/endpoints/endpoint';
import type { Schema } from '../../gateway/src/endpoints/parts/schema';
import { requestOf, send, type Stage, type TableAnswer } from './endpoint-stage';

export interface BadRequest {
  /** Describes the fault. */
  name: string;
  /** The field that the answer must name, as the contract spells paths: `a.b`, `a[0].b`. */
  field: string;
  fields: Fields;
}

/** Deeper than any schema of the table. */
const DEPTH_MAX = 4;
/** Item of arrays that are too long. */
const FILLER = 'x';

/** Values that do not match the type. */
const WRONG_TYPE_VALUES: Record<string, unknown[]> = {
  string: [7, true, { a: 1 }, ['x']],
  integer: ['ten', 1.5, true],
  number: ['ten', true, {}],
  boolean: ['yes', 1],
  array: ['x', 7, { a: 1 }],
  object: ['x', 7, ['x']],
};

type Place = Array<string | number>;

/** Copies the request with another value at one place; undefined removes the field. */
function changed(request: Fields, place: Place, value: unknown): Fields {
  const copy = structuredClone(request);
  let parent: any = copy; // any: the schema names the keys on the way
  for (const [at, key] of place.slice(0, -1).entries()) {
    parent[key] ??= typeof place[at + 1] === 'number' ? [] : {};
    parent = parent[key];
  }
  const last = place.at(-1) as string | number;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const nameOf = (place: Place): string =>
  place.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`,
    '',
  );

/** Yields every bad request for the schema of a body. */
export function* badBodies(schema: Schema, good: Fields): Generator<BadRequest> {
  const [field, ...others] = schema.requiredOneOf ?? [];
  if (field !== undefined) {
    const none = structuredClone(good);
    for (const key of [field, ...others]) delete none[key];
    yield { name: `none of ${[field, ...others].join(', ')}`, field, fields: none };
  }
  yield* insideObject(schema, good, [], 0);
}

function* insideObject(
  { properties = {}, required = [] }: Schema,
  good: Fields,
  place: Place,
  depth: number,
): Generator<BadRequest> {
  if (depth > DEPTH_MAX) return;
  for (const [key, schema] of Object.entries(properties)) {
    const here = [...place, key];
    const bad = (name: string, value: unknown): BadRequest => ({
      name: `${nameOf(here)} ${name}`,
      field: nameOf(here),
      fields: changed(good, here, value),
    });
    if (required.includes(key)) {
      yield bad('missing', undefined);
      yield bad('null', null);
      if (schema.type === 'string' && !schema.mayBeBlank) {
        yield bad('empty', '');
        yield bad('blank', ' \t ');
      }
      if (schema.type === 'array') yield bad('empty', []);
    }
    yield* wrongValues(schema, bad);
    yield* faultsInside(schema, good, here, depth);
  }
}

function* wrongValues(
  schema: Schema,
  bad: (name: string, value: unknown) => BadRequest,
): Generator<BadRequest> {
  const types = [schema.type ?? []].flat();
  for (const value of types.flatMap((type) => WRONG_TYPE_VALUES[type] ?? [])) {
    if (!types.some((type) => isOf(type, value))) yield bad(`as ${JSON.stringify(value)}`, value);
  }
  if (types.length > 0 && !types.includes('null')) yield bad('null', null);
  if (schema.const !== undefined)
    for (const value of [false, 'true', 1]) yield bad(`${value}`, value);
  if (schema.enum) yield bad('with an unknown value', 'NO_SUCH_VALUE');
  if (schema.pattern) yield bad('malformed', '../../etc');
  if (schema.maxLength !== undefined) yield bad('over-long', 'x'.repeat(schema.maxLength + 1));
  if (schema.minLength !== undefined) yield bad('too short', '');
  if (schema.maximum !== undefined) yield bad('too large', schema.maximum + 1);
  if (schema.minimum !== undefined) yield bad('too small', schema.minimum - 1);
}

const isOf = (type: string, value: unknown): boolean => {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
};

/** Faults in the fields of an object, in the first item of an array, or in the number of items. */
function* faultsInside(
  schema: Schema,
  good: Fields,
  here: Place,
  depth: number,
): Generator<BadRequest> {
  if (schema.properties) yield* insideObject(schema, good, here, depth + 1);
  const { items, maxItems } = schema;
  const first = [...here, 0];
  const bad = (name: string, value: unknown): BadRequest => ({
    name: `${nameOf(first)} ${name}`,
    field: nameOf(first),
    fields: changed(good, first, value),
  });
  if (items) yield* wrongValues(items, bad);
  if (items?.properties) yield* insideObject(items, good, first, depth + 1);
  if (maxItems !== undefined) {
    const fields = changed(good, here, Array<unknown>(maxItems + 1).fill(FILLER));
    yield { name: `${nameOf(here)} with too many items`, field: nameOf(here), fields };
  }
}

/** Yields every bad query; a value is a string, or a list if the parameter is repeated. */
export function* badQueries({ properties = {} }: Schema): Generator<BadRequest> {
  for (const [field, schema] of Object.entries(properties)) {
    const bad = (value: string | string[]): BadRequest => ({
      name: `${field}=${Array.isArray(value) ? value.join(` and ${field}=`) : value.slice(0, 40)}`,
      field,
      fields: { [field]: value },
    });
    yield bad(['1', '2']);
    if (schema.type === 'integer') {
      for (const value of ['ten', '1.5', '1e2', '0x10', ' ', '99999999999999999999']) {
        yield bad(value);
      }
      if (schema.minimum !== undefined) yield bad(String(schema.minimum - 1));
    }
    if (schema.enum) yield bad('no_such_value');
    if (schema.pattern) yield bad('../../etc');
    if (schema.maxLength !== undefined) yield bad('x'.repeat(schema.maxLength + 1));
  }
}

const quoteFaults = [{}, 7, ' ', [], { message_id: 7 }, { message_id: ' ' }];

interface BeyondSchema {
  change: Fields;
  field: string;
  code: string;
}

const invalid = (field: string, change: Fields): BeyondSchema => ({
  change,
  field,
  code: 'INVALID_FIELD',
});
const missing = (field: string, change: Fields): BeyondSchema => ({
  change,
  field,
  code: 'MISSING_FIELDS',
});
const badQuote = (field: string, fault: unknown): BeyondSchema => ({
  change: { [field]: fault },
  field,
  code: 'INVALID_PAYLOAD',
});

/** Those of every message to a person. */
const MESSAGE: BeyondSchema[] = [
  ...quoteFaults.flatMap((fault) => [
    badQuote('context', fault),
    ...(typeof fault === 'object' && !Array.isArray(fault) ? [] : [badQuote('reply_to', fault)]),
  ]),
  invalid('to', { to: 'Ada' }),
  invalid('recipient', { to: undefined, user_id: '15550100777' }),
];

const NOON = '2026-09-01T12:00:00Z';

/** Rules beyond the schema, by operation: the change to a good request, the field and the code. */
export const BEYOND_SCHEMA: Readonly<Record<string, BeyondSchema[]>> = {
  sendText: MESSAGE,
  sendTemplate: MESSAGE,
  sendMedia: MESSAGE,
  sendInteractive: MESSAGE,
  sendLocation: MESSAGE,
  sendContacts: MESSAGE,
  replayEvents: [
    missing('from', { event_ids: undefined }),
    invalid('event_ids[0]', { event_ids: ['evt_none'] }),
    invalid('event_ids', { from: NOON }),
    invalid('to', { event_ids: undefined, from: NOON, to: '2026-09-01T11:00:00Z' }),
    invalid('event', { event: 'a,,b' }),
  ],
};

/** Any published code is accepted if `code` is absent. */
export type ExpectedRefusal = BadRequest & { code?: string };

/** Sends each request and describes every answer that is not the expected refusal. */
export async function answeredWrongly(
  stage: Stage,
  endpoint: Endpoint,
  requests: ExpectedRefusal[],
): Promise<string[]> {
  const problems: string[] = [];
  const good = requestOf(endpoint, stage, {});
  for (const { name, field, fields, code } of requests) {
    const answer = await send(
      stage,
      endpoint.body
        ? { ...good, body: fields }
        : { ...good, query: { ...good.query, ...(fields as typeof good.query) } },
    );
    const { error } = (answer.body ?? {}) as { error?: Record<string, unknown> };
    const messageAndDetails = JSON.stringify([error?.['message'], error?.['details']]);
    const isExpected =
      answer.status === 400 &&
      (code === undefined ? isErrorCode(String(error?.['code'])) : error?.['code'] === code) &&
      messageAndDetails.includes(field);
    if (!isExpected) problems.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  return problems;
}

/**
 * A published code with a 4xx, or with 502 when the upstream refuses; never an internal failure.
 */
export const isRefusal = ({ status, body }: TableAnswer): boolean =>
  ((status >= 400 && status < 500) || status === 502) && isErrorCode(String(body?.error?.code));
