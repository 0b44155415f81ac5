// The error that the client throws: an error of the gateway with the status of its answer and its
// fields (`code`, `retryable`, `details` ...).
import type { components } from './schema';

export type ErrorBody = components['schemas']['Error'];

export type GatewayError = Error & Partial<ErrorBody['error']> & { status: number };

export const failure = (
  body: { error: { message: string } } | undefined,
  { status }: Response,
): GatewayError =>
  Object.assign(new Error(body?.error.message ?? 'the answer has no body'), body?.error, {
    status,
  });
