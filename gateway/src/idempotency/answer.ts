// The response to a request: a new one, or one stored under an Idempotency-Key and replayed.
import type { Context } from 'koa';
import type { Fields } from '../endpoints/endpoint';

export interface Answer {
  status: number;
  /** Fields of a new answer; the stored JSON text of a replayed one. */
  body: Fields | string;
  /** True for a response that an earlier request already got. */
  replayed?: boolean;
}

export function writeAnswer(context: Context, { status, body, replayed }: Answer): void {
  context.status = status;
  if (typeof body === 'string') context.type = 'json';
  context.body = body;
  if (replayed) context.set('Idempotency-Replayed', 'true');
}
