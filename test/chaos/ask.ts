// One request of a caller, and the outcome that its answer implies.
import { eventually } from '../testkit/eventually';
import type { Outcome } from './history';

export interface Asked {
  status: number;
  body: any; // any: an answer has its endpoint's own fields
}

/** Longer than the gateway's own limit of a request. */
const ANSWER_LIMIT_MS = 30_000;

/** The connection was refused: the request was not sent. */
const NOT_SENT: Asked = { status: 0, body: null };

/** Undefined: no answer, or one that was cut off. */
export async function ask(
  base_url: string,
  key: string,
  request: { method: string; path: string; body?: unknown; headers?: Record<string, string> },
): Promise<Asked | undefined> {
  const { method, path, body, headers = {} } = request;
  try {
    const answer = await fetch(base_url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-partner-key': key, ...headers },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
    return code === 'ECONNREFUSED' ? NOT_SENT : undefined;
  }
}

/** `fail` only if the answer promises that nothing was done. */
export function outcomeOf(answer: Asked | undefined): Outcome {
  if (!answer) return 'info';
  const { status, body } = answer;
  if (answer === NOT_SENT) return 'fail';
  if (status < 300) return 'ok';
  const { code, retryable, details, upstream_code } = body?.error ?? {};
  if (details?.outcome === 'unknown' || code === 'IDEMPOTENCY_KEY_IN_USE') return 'info';
  if (status < 500) return 'fail';
  if (status === 503) return retryable === true ? 'fail' : 'info';
  return upstream_code === undefined || upstream_code === null ? 'info' : 'fail';
}

/** The status and the code; of a failure of ours also what it says. */
export function describeAnswer(answer: Asked | undefined): string {
  if (!answer) return 'no answer';
  const { code, message } = answer.body?.error ?? {};
  const parts = [answer.status, code, answer.status >= 500 && message];
  return parts.filter(Boolean).join(' ');
}

/** Null once the gateway reports that all parts are healthy, else its last answer. */
export const untilHealthy = (base_url: string, limit_ms: number): Promise<string | null> =>
  eventually(async (): Promise<true> => {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const answer = await fetch(`${base_url}/health`, { signal });
    const health = (await answer.json()) as { status: string };
    if (health.status === 'ok') return true;
    throw new Error(JSON.stringify(health));
  }, limit_ms).then(
    () => null,
    (error: unknown) => String(error),
  );
