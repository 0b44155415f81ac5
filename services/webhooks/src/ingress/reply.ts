// The answers of the ingress: short plain text for the sender's log.
import type { ServerResponse } from 'node:http';

const RETRY_AFTER_S = '5';

export function end(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.end(text);
}

/** The webhook was not accepted, and the sender is to post it again. */
export function endUnavailable(response: ServerResponse): void {
  response.setHeader('Retry-After', RETRY_AFTER_S);
  end(response, 503, 'try again');
}
