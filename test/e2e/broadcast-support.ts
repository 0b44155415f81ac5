// Helpers for broadcast tests: contacts, creating a broadcast and waiting for its completion.
import type { Detail } from './broadcast-arrivals';
import { eventually } from '../testkit/eventually';
import type { Answer, SeededNumber } from '../testkit/rest';

/** A partner of the in-process mesh or of the process mesh. */
export interface Caller {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export const scopeOf = ({ waba_id, phone_number_id }: SeededNumber): Record<string, string> => ({
  'x-waba-id': waba_id,
  'x-phone-number-id': phone_number_id,
});

/** Distinct phone numbers; `from` is the index of the first. */
export const people = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_unused, at) => String(15_551_000_000 + from + at));

export const aBroadcast = (contacts: unknown[], overrides: object = {}): object => ({
  name: 'Autumn',
  template_name: 'hello_world',
  template_language: 'en_US',
  contacts,
  ...overrides,
});

export async function createBroadcast(
  partner: Caller,
  number: SeededNumber,
  contacts: unknown[],
  overrides: object = {},
  headers: Record<string, string> = {},
): Promise<number> {
  const body = aBroadcast(contacts, overrides);
  const answer = await partner.call('POST', '/broadcasts', body, {
    ...scopeOf(number),
    ...headers,
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.broadcast_id as number;
}

export async function detailOf(partner: Caller, id: number): Promise<Detail> {
  const { status, body } = await partner.call('GET', `/broadcasts/${id}`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.broadcast as Detail;
}

export const untilCompleted = (partner: Caller, id: number, limit_ms: number): Promise<Detail> =>
  eventually(async () => {
    const detail = await detailOf(partner, id);
    if (detail.status === 'completed') return detail;
    throw new Error(`${detail.status}: ${detail.sent} sent, ${detail.failed} failed`);
  }, limit_ms);

export { arrivalsOf, rateOf, refusedOf, spanOf, type Detail } from './broadcast-arrivals';
