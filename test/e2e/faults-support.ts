// The upstream and its customers for the fault tests: continuous conversations, each webhook posted
// until it is answered 200, and the comparison of acknowledged events with delivered ones.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessMesh, ProcessPartner } from '../harness/process-mesh';
import { eventually } from '../testkit/eventually';
import type { SeededNumber } from '../testkit/rest';
import type { PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw, type InboundText } from '../testkit/upstream-webhooks';
import { idOf } from './receivers';

const POST_AGAIN_MS = 200;
const PAUSE_MS = 200;
const POSTS_MAX = 10_000;
const CONVERSATIONS = 12;

export interface Traffic {
  /** Acknowledged message IDs of each conversation, in order. */
  acknowledged: string[][];
  /** Every status that the ingress answered; 0 for no answer. */
  statuses: Map<number, number>;
  stop(): Promise<void>;
}

/** Posts one webhook at a time in each conversation, as the upstream does. */
export function startTraffic(
  ingress_url: string,
  number: SeededNumber,
  name: string,
  pause_ms = PAUSE_MS,
): Traffic {
  const statuses = new Map<number, number>();
  let stopping = false;
  const converse = async (conversation: number, ids: string[]): Promise<void> => {
    for (let count = 0; count < POSTS_MAX && !stopping; count += 1) {
      const id = `wamid.${name}.${conversation}.${count}`;
      const body = inboundBody(number, { from: String(15_550_300_000 + conversation), id });
      for (let attempt = 0; attempt < POSTS_MAX; attempt += 1) {
        const status = await postRaw(ingress_url, body);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) break;
        await sleep(POST_AGAIN_MS);
      }
      ids.push(id);
      await sleep(pause_ms);
    }
  };
  const acknowledged: string[][] = Array.from({ length: CONVERSATIONS }, () => []);
  const running = acknowledged.map((ids, index) => converse(index, ids));
  return {
    acknowledged,
    statuses,
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

const MESSAGES_OF_BODY = 100;

/** Posts so many messages to the ingress, a hundred in each webhook; returns their IDs. */
export async function postMany(
  ingress_url: string,
  number: SeededNumber,
  count: number,
  messageOf: (at: number) => InboundText,
): Promise<string[]> {
  const messages = Array.from({ length: count }, (_unused, at) => messageOf(at));
  for (let at = 0; at < count; at += MESSAGES_OF_BODY) {
    const body = inboundBody(number, ...messages.slice(at, at + MESSAGES_OF_BODY));
    expect(await postRaw(ingress_url, body)).toBe(200);
  }
  return messages.map(({ id }) => id);
}

/** A new partner with the number, whose events the receiver gets. */
export async function registered(
  mesh: ProcessMesh,
  receiver: PartnerReceiver,
  number: SeededNumber,
): Promise<ProcessPartner> {
  const partner = await mesh.createPartner(receiver.url);
  const { status } = await partner.register(number);
  expect([200, 201]).toContain(status);
  return partner;
}

/** Message IDs in the order of their first arrival. */
const firstArrivals = (receiver: PartnerReceiver): string[] => [
  ...new Set(receiver.arrivals.map(idOf)),
];

/** Waits until every acknowledged event has arrived. */
export async function untilComplete(
  receiver: PartnerReceiver,
  ids: string[],
  limit_ms: number,
): Promise<void> {
  await eventually(() => {
    const found = new Set(firstArrivals(receiver));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) return true;
    throw new Error(
      `${missing.length} of ${ids.length} are missing: ${missing.slice(0, 5).join()}`,
    );
  }, limit_ms);
}

/** Messages that did not arrive in the order of their conversation at their first delivery. */
export const outOfOrder = (receiver: PartnerReceiver, conversations: string[][]): string[] =>
  misplaced(new Map(firstArrivals(receiver).map((id, index) => [id, index])), conversations);

/** Messages of a conversation whose place is before that of an earlier one. */
export function misplaced(place: Map<string, number>, conversations: string[][]): string[] {
  const placeOf = (id: string): number => place.get(id) ?? Infinity;
  return conversations.flatMap((ids) =>
    ids.filter((id, index) => {
      const before = ids[index - 1];
      return before !== undefined && placeOf(before) > placeOf(id);
    }),
  );
}
