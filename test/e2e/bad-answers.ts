// Sends bad requests and reports the answers that differ from the expected refusal.
import { isErrorCode } from '@bmg/common/errors';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import type { BadRequest } from './bad-requests';
import { requestOf, send, type Stage, type TableAnswer } from './endpoint-stage';

/** Any published code is accepted if `code` is absent; `status` defaults to 400. */
export type ExpectedRefusal = BadRequest & { code?: string; status?: number };

/** Sends each request and describes every answer that is not the expected refusal. */
export async function answeredWrongly(
  stage: Stage,
  endpoint: Endpoint,
  requests: ExpectedRefusal[],
): Promise<string[]> {
  const problems: string[] = [];
  const good = requestOf(endpoint, stage, {});
  for (const { name, field, fields, code, status = 400 } of requests) {
    const answer = await send(
      stage,
      endpoint.body
        ? { ...good, body: fields }
        : { ...good, query: { ...good.query, ...(fields as typeof good.query) } },
    );
    const { error } = (answer.body ?? {}) as { error?: Record<string, unknown> };
    const messageAndDetails = JSON.stringify([error?.['message'], error?.['details']]);
    const isExpected =
      answer.status === status &&
      (code === undefined ? isErrorCode(String(error?.['code'])) : error?.['code'] === code) &&
      messageAndDetails.includes(field);
    if (!isExpected) problems.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  return problems;
}

/**
 * A published code with a 4xx, or with 502 when the upstream refuses; never an internal failure.
 */
export const isRefusal = ({ status, body }: TableAnswer): boolean =>
  ((status >= 400 && status < 500) || status === 502) && isErrorCode(String(body?.error?.code));
