// The entry of the request log for a call that was answered.
import type { Context } from 'koa';
import type { LoggedRequest } from '@bmg/proto/onboarding';
import { hidden, isId, recordOf, shownPaths } from '../request-log';
import { IGNORED_HEADER } from './ignored';
import type { State } from './state';

/** A longer answer that exists only as text is not parsed again. */
const PARSED_MAX = 64 * 1_024;
const MEDIA_TYPE = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/;

export function loggedRequest(context: Context, duration_ms: number): LoggedRequest {
  const state = context.state as State;
  const { route, call, error, key_id, given } = state;
  // `/messages/send` is about messages: an ID or a name at the top is one of theirs.
  const [, top = ''] = route.split('/');
  const params = (context['params'] ?? {}) as Record<string, string>;
  const waba_id = context.get('x-waba-id') || params['waba_id'] || given?.['waba_id'];
  const phone_number_id = context.get('x-phone-number-id') || given?.['phone_number_id'];
  const ignored = context.response.get(IGNORED_HEADER);
  return {
    id: '',
    at: new Date(),
    method: context.method,
    path: route,
    status: context.status,
    code: error?.code,
    duration_ms,
    request_id: call.request_id,
    ignored: ignored ? shownPaths(ignored) : undefined,
    upstream_code: error?.upstream_code ?? undefined,
    key_id,
    waba_id: idOf(waba_id),
    phone_number_id: idOf(phone_number_id),
    parameters: parametersOf(context, params, top),
    request_body: requestOf(context, given, top),
    answer_body: answerOf(context, state.answer, top),
  };
}

const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && isId(value) ? value : undefined;

const WHOLE = /^-?\d{1,15}$/;

/** Numbers of a query are texts. */
function parametersOf(
  { query }: Context,
  params: Record<string, string>,
  top: string,
): string | undefined {
  const given = Object.entries({ ...query, ...params }).map(([name, value]) => [
    name,
    typeof value === 'string' && WHOLE.test(value) && !name.endsWith('_id') ? Number(value) : value,
  ]);
  return given.length === 0 ? undefined : recordOf(Object.fromEntries(given), top);
}

function requestOf({ headers }: Context, given: State['given'], top: string): string | undefined {
  if (given) return Object.keys(given).length === 0 ? undefined : recordOf(given, top);
  const { 'content-length': length, 'content-type': type } = headers;
  return length === undefined || length === '0' ? undefined : fileOf(type, length);
}

/** `answer` is absent for a file, and for an answer that was stored as text. */
function answerOf(
  { body, response }: Context,
  answer: object | undefined,
  top: string,
): string | undefined {
  const parsed = answer ?? (typeof body === 'string' ? jsonOf(body) : undefined);
  if (parsed) return recordOf(parsed, top);
  const type = String(response.get('Content-Type') ?? '');
  const length = String(response.get('Content-Length') ?? '');
  return type === '' ? undefined : fileOf(type, length);
}

function jsonOf(text: string): object | undefined {
  if (text.length > PARSED_MAX || !text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** Only the type and the size. */
function fileOf(given_type: string | undefined, length: string): string {
  const [type = ''] = (given_type ?? '').split(';');
  const named = MEDIA_TYPE.test(type) ? type : 'a body';
  return JSON.stringify(hidden(WHOLE.test(length) ? `${named}, ${length} bytes` : named));
}
