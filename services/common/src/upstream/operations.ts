// Operations over the upstream. Each RPC is either a row (one request or one list, with a mapping
// of names) or an ordinary handler where there are rules. The compiler insists on one of them for
// every method.
import type { Target } from '@bmg/proto/common';
import { ApiError, missingFields } from '../errors';
import type { Call } from '../rpc';
import type { Credentials } from '../directory/credentials';
import { succeeded, type Json, allPages, type Pages } from './answers';
import { segment, type Upstream, type UpstreamRequest } from './client';
import type { AccountLimits } from './account-limits';

type Query = NonNullable<UpstreamRequest['query']>;

/** A value, or a function that makes it from the request. */
type From<Q, T> = T | ((request: Q) => T);

export interface Targeted {
  target?: Target | undefined;
}

/** One request to the upstream, as a row describes it. */
export interface Question<Q> {
  /**
   * Method and path. `{waba_id}` and `{phone_number_id}` are the target's; every other name is a
   * field of the request. Each stands for one path segment.
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

type Replying<Q, R> = { reply: (body: Json, request: Q) => R };

/** A response message without required fields needs no `reply`. */
export type Row<Q, R> = Question<Q> & (object extends R ? Partial<Replying<Q, R>> : Replying<Q, R>);

export type Operation<Q, R> = Row<Q, R> | ((request: Q, call: Call) => Promise<R>);

/** For handlers H: a row or a function for each. */
export type Operations<H> = {
  [K in keyof H]: H[K] extends (request: infer Q, call: Call) => Promise<infer R>
    ? Operation<Q, R>
    : never;
};

export interface Runner {
  /** Sends the question with the token of the request's target; returns the upstream's answer. */
  ask<Q extends Targeted>(question: Question<Q>, request: Q, call: Call): Promise<Json>;
  /** Handlers of an operation table. */
  handlers<H>(operations: Operations<H>): H;
}

export function createRunner(settings: {
  upstream: Upstream;
  credentials: Pick<Credentials, 'of'>;
  limits: AccountLimits;
  /** The number of the path; the target's own by default. */
  numberOf?: (request: Targeted, target: Target, call: Call) => Promise<string>;
}): Runner {
  const { upstream, credentials, limits } = settings;
  const numberOf = settings.numberOf ?? (async (_request, target) => target.phone_number_id);

  const ask: Runner['ask'] = async (question, request, call) => {
    // Validation comes first: an invalid request reaches neither the directory nor the upstream.
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
          body,
          secrets,
          send: question.send,
          accept: question.accept,
        },
        call,
      );
    // A send has limits of its own at the upstream.
    if (question.send) return once({});
    const concerned = { target, number: template.includes('{phone_number_id}') && phone_number_id };
    return limits.run(concerned, () =>
      pages ? limits.list(target.partner_id, () => allPages(once, pages)) : once({}),
    );
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
  if (!target) throw new ApiError('MISSING_WABA', 'the request names no business account');
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
