// What a record of the request log holds, and the position of its pages. Pure functions.
import { invalidField } from '@bmg/common/errors';
import { LoggedRequest } from '@bmg/proto/onboarding';
import { messageOf } from '../../ground/message';
import type { RequestRow } from './store';

/** Gateways bound what they send; these bounds hold for any caller. */
const TEXT_MAX = 1_024;
const BODY_BYTES_MAX = 8 * 1_024;
const ID = /^call_[0-9a-z]{26}$/;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

const cut = (text: string): string => text.slice(0, TEXT_MAX);
const cutOrNull = (text: string | undefined): string | null =>
  text === undefined ? null : cut(text);

/** Part of a JSON text would be no JSON. */
const bounded = (json: string | undefined): string | null =>
  json === undefined || Buffer.byteLength(json) > BODY_BYTES_MAX ? null : json;

/** A gateway's clock that is ahead puts no call into the future. */
export const rowOf = (
  partner_id: string,
  given: LoggedRequest,
  now: Date,
): Omit<RequestRow, '_id'> => ({
  partner_id,
  at: given.at && given.at < now ? given.at : now,
  endpoint: cut(`${given.method} ${given.path}`),
  status: given.status,
  status_class: Math.floor(given.status / 100),
  code: cutOrNull(given.code),
  duration_ms: given.duration_ms,
  request_id: cut(given.request_id),
  ignored: cutOrNull(given.ignored),
  upstream_code: given.upstream_code ?? null,
  api_key: cutOrNull(given.key_id),
  waba_id: cutOrNull(given.waba_id),
  phone_number_id: cutOrNull(given.phone_number_id),
  parameters: bounded(given.parameters),
  request_body: bounded(given.request_body),
  answer_body: bounded(given.answer_body),
});

export function requestMessage(row: RequestRow): LoggedRequest {
  const { _id: id, endpoint, api_key: key_id } = row;
  const space = endpoint.indexOf(' ');
  const called = { method: endpoint.slice(0, space), path: endpoint.slice(space + 1) };
  return messageOf(LoggedRequest, { ...row, ...called, id, key_id });
}

export const limitOf = (given: number): number =>
  given > 0 ? Math.min(given, LIMIT_MAX) : LIMIT_DEFAULT;

/** Throws INVALID_FIELD. */
export function checkCursor(cursor: string | undefined): void {
  if (cursor !== undefined && !ID.test(cursor)) {
    throw invalidField('cursor', 'must be `after` of the previous page');
  }
}
