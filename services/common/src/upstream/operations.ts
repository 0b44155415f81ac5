// An operation is a row or a function: a row where one upstream request, or a list followed to its end,
// and a change of names say it all; an ordinary handler where there are rules. The compiler insists on one
// of them for every method.
import type { Target } from '@bmg/proto/common';
import { ApiError, missingFields } from '../errors';
import type { Call } from '../rpc';
import { segment, type Json, type Upstream, type UpstreamRequest } from './client';
import type { Credentials } from '../directory/credentials';

type Query = NonNullable<UpstreamRequest['query']>;

/** A value, or how it is made of the request. */
type From<Q, T> = T | ((request: Q) => T);

export interface Targeted {
  target?: Target | undefined;
}

/** One question to the upstream. */
export interface Question<Q> {
  /**
   * Method and path. `{waba_id}` and `{phone_number_id}` are the target's; every other name is a field of
   * the request. Each stands for one path segment.
   */
  upstream: `${UpstreamRequest['method']} /${string}`;
  query?: From<Q, Query>;
  body?: From<Q, Json>;
  /** Text that must not come back in an error: a PIN, a code. */
  secrets?: From<Q, string[]>;
  /** See UpstreamRequest. */
  send?: boolean;
  accept?: (body: Json) => boolean;
  /** For lists: cursors are followed, and `reply` sees one body with all items. */
  pages?: From<Q, Pages | undefined>;
}

export interface Pages {
  page_size: number;
  items_max: number;
}

type Replying<Q, R> = { reply: (body: Json, request: Q) => R };

/** A message without required fields needs no `reply`: success is all there is to tell. */
export type Row<Q, R> = Question<Q> & (object extends R ? Partial<Replying<Q, R>> : Replying<Q, R>);

export type Operation<Q, R> = Row<Q, R> | ((request: Q, call: Call) => Promise<R>);

/** For handlers H: a row or a function for each. */
export type Operations<H> = {
  [K in keyof H]: H[K] extends (request: infer Q, call: Call) => Promise<infer R>
    ? Operation<Q, R>
    : never;
};

export interface Runner {
  /** The upstream's answer to a question that is asked on behalf of the request's target. */
  ask<Q extends Targeted>(question: Question<Q>, request: Q, call: Call): Promise<Json>;
  /** Handlers of an operation table. */
  handlers<H>(operations: Operations<H>): H;
}

/** Even a list whose pages come back half empty ends. */
const PAGES_MAX = 100;

export function createRunner(settings: {
  upstream: Upstream;
  credentials: Pick<Credentials, 'of'>;
  /** The number that stands in the path where it is not the target's own. */
  numberOf?: (request: Targeted, target: Target, call: Call) => Promise<string>;
}): Runner {
  const { upstream, credentials } = settings;
  const numberOf = settings.numberOf ?? (async (_request, target) => target.phone_number_id);

  const ask: Runner['ask'] = async (question, request, call) => {
    // What is wrong with the request is found before anyone is asked anything.
    const target = needTarget(request.target);
    const query = made(question.query, request);
    const body = made(question.body, request);
    const secrets = made(question.secrets, request);
    const pages = made(question.pages, request);
    const [method, template] = question.upstream.split(' ') as [UpstreamRequest['method'], string];
    const phone_number_id = await numberOf(request, target, call);
    const path = fill(template, { ...request, waba_id: target.waba_id, phone_number_id });
    const { access_token } = await credentials.of(target, call);
    const once = (paging: Query): Promise<Json> =>
      upstream.request(
        {
          operation: question.upstream,
          method,
          path,
          query: { ...query, ...paging },
          token: access_token,
          ...(body !== undefined && { body }),
          ...(secrets !== undefined && { secrets }),
          ...(question.send !== undefined && { send: question.send }),
          ...(question.accept !== undefined && { accept: question.accept }),
        },
        call,
      );
    return pages ? allPages(once, pages) : once({});
  };

  const handler =
    <Q extends Targeted, R>(row: Row<Q, R>) =>
    async (request: Q, call: Call): Promise<R> => {
      const answer = await ask(row, request, call);
      return row.reply ? row.reply(answer, request) : (succeeded(answer) as R);
    };
  return {
    ask,
    handlers: <H>(operations: Operations<H>) =>
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          typeof operation === 'function' ? operation : handler(operation as Row<Targeted, object>),
        ]),
      ) as H,
  };
}

export function needTarget(target: Target | undefined): Target {
  if (!target) throw new ApiError('MISSING_WABA', 'no business account was named');
  return target;
}

const made = <Q, T>(from: From<Q, T> | undefined, request: Q): T | undefined =>
  typeof from === 'function' ? (from as (request: Q) => T)(request) : from;

function fill(template: string, values: object): string {
  return template.replace(/\{(\w+)\}/g, (_braces, name: string) => {
    const value = (values as Json)[name];
    if (typeof value !== 'string' || value === '') throw missingFields([name]);
    return segment(value);
  });
}

/** The cursor that is left in `paging` names what did not fit. */
async function allPages(
  once: (paging: Query) => Promise<Json>,
  { page_size, items_max }: Pages,
): Promise<Json> {
  const data: Json[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const limit = Math.min(page_size, items_max - data.length);
    const body = await once({ limit, after });
    data.push(...itemsOf(body).slice(0, limit));
    const next = nextOf(body);
    // A cursor that comes back would be followed in a circle.
    if (next === undefined || next === after) return { data };
    after = next;
    if (data.length >= items_max) break;
  }
  return { data, paging: { cursors: { after } } };
}

interface Paging {
  next?: unknown;
  cursors?: { before?: unknown; after?: unknown };
}

/** The last page has no `next`, though it may still have a cursor. `next` itself may hold a token. */
function nextOf({ paging }: Json): string | undefined {
  const { next, cursors } = (paging ?? {}) as Paging;
  return next && typeof cursors?.after === 'string' ? cursors.after : undefined;
}

/** The upstream's cursors, and nothing else of `paging`: its links may hold a token. */
export function cursorsOf({ paging }: Json): {
  before: string | undefined;
  after: string | undefined;
} {
  const { before, after } = ((paging ?? {}) as Paging).cursors ?? {};
  return {
    before: typeof before === 'string' ? before : undefined,
    after: typeof after === 'string' ? after : undefined,
  };
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list answer. */
export function itemsOf({ data }: Json): Json[] {
  if (!Array.isArray(data)) throw unusable('a list');
  return (data as unknown[]).filter(isObject);
}

/** Some edges spell success as a text. An answer without it has succeeded by its status. */
export function succeeded(answer: Json): Record<string, never> {
  const { success } = answer;
  if (success !== undefined && success !== true && success !== 'true') {
    throw new ApiError('UPSTREAM_ERROR', 'the upstream answered without success');
  }
  return {};
}

/** What is left of an answer that says success: the upstream's own fields. */
export function without(answer: Json, ...names: string[]): Json {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));
}

/** An upstream 200 whose body cannot be used. */
export const unusable = (what: string, details?: object): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream answered without ${what}`, { details });
