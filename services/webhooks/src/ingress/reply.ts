// The answers of the ingress: a status, and short plain text for the sender's log.
import type { ServerResponse } from 'node:http';

export interface Reply {
  status: number;
  text: string;
}

export const TAKEN: Reply = { status: 200, text: '' };
/** The webhook was not accepted; the sender should post it again. */
export const TRY_AGAIN: Reply = { status: 503, text: 'try again' };
const RETRY_AFTER_S = '5';
/** Unavailable, and too many. */
const RETRIED = new Set([TRY_AGAIN.status, 429]);

export function send(response: ServerResponse, { status, text }: Reply): void {
  response.statusCode = status;
  if (RETRIED.has(status)) response.setHeader('Retry-After', RETRY_AFTER_S);
  response.end(text);
}

/** The answer to a webhook that another part has verified. */
export function replyOf(status: number): Reply {
  if (status === TAKEN.status) return TAKEN;
  return status === TRY_AGAIN.status ? TRY_AGAIN : { status, text: 'not taken' };
}
