// Whether bad requests are answered as they should be.
import { isErrorCode } from '@bmg/common/errors';
import type { Endpoint } from '../../gateway/src/endpoints/endpoint';
import type { BadRequest } from './bad-requests';
import { requestOf, send, type Stage, type TableAnswer } from './endpoint-stage';

/** Any published code and 400, unless it says which. */
export type ExpectedRefusal = BadRequest & { code?: string; status?: number };

/** Sends each, and tells which were answered otherwise than they should be. */
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
        : { ...good, query: fields as Record<string, string | string[]> },
    );
    const { error } = (answer.body ?? {}) as { error?: Record<string, unknown> };
    const said = JSON.stringify([error?.['message'], error?.['details']]);
    const right =
      answer.status === status &&
      (code === undefined ? isErrorCode(String(error?.['code'])) : error?.['code'] === code) &&
      said.includes(field);
    if (!right) problems.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  return problems;
}

/** A published code; the upstream may be the one that refuses, the service itself must not fail. */
export const isRefusal = ({ status, body }: TableAnswer): boolean =>
  ((status >= 400 && status < 500) || status === 502) && isErrorCode(String(body?.error?.code));
