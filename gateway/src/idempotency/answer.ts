// An answer as it is given for the first time, and as it is kept and given again.
import type { Context } from 'koa';
import type { Fields } from '../endpoints/endpoint';

export interface Answer {
  status: number;
  /** Fields, or the JSON text that was kept. */
  body: Fields | string;
  /** It answers an earlier request. */
  replayed?: boolean;
}

export function writeAnswer(context: Context, { status, body, replayed }: Answer): void {
  context.status = status;
  if (typeof body === 'string') context.type = 'json';
  context.body = body;
  if (replayed) context.set('Idempotency-Replayed', 'true');
}
