// Answers lost in transit: the result of a retry with the same Idempotency-Key.
import { randomUUID } from 'node:crypto';
import { eventually } from '../testkit/eventually';
import { codeOf, isReplay, UNKNOWN, useReplica } from './idempotency-client';

const { mesh, replica, ask, countSent, fault } = useReplica();

const arrived = async (): Promise<number> =>
  (await mesh.emulator.requests({ method: 'POST', path: '/messages$' })).length;

describe('a send whose answer was lost', () => {
  test('after the upstream sent the message is not repeated, and is known once its status arrives', async () => {
    await mesh.emulator.behaviour({ hold: true });
    await fault({ drop: 'after' });
    const before = await countSent();
    const key = randomUUID();
    const first = await ask(key);
    expect([first.status, first.body.error]).toEqual([502, expect.objectContaining(UNKNOWN)]);
    const second = await ask(key, { base_url: replica.base_url });
    expect([second.status, second.body.error]).toEqual([502, expect.objectContaining(UNKNOWN)]);
    expect(isReplay(second)).toBe(false);
    await mesh.emulator.behaviour({ hold: false });
    await mesh.emulator.releaseWebhooks();
    const learnt = await eventually(async () => {
      const answer = await ask(key);
      return answer.status === 200 && answer;
    });
    const sent = (await mesh.emulator.messages()).at(-1);
    expect(learnt.body).toEqual({
      success: true,
      message_id: sent?.id,
      messages: [{ id: sent?.id }],
      contacts: [{ input: '15550100777', wa_id: '15550100777' }],
      timeline_url: expect.stringContaining('/timeline'),
    });
    expect(isReplay(learnt)).toBe(true);
    expect((await ask(key, { base_url: replica.base_url })).body).toEqual(learnt.body);
    expect(await countSent()).toBe(before + 1);
  });
});

// Last, because the replica stays cut off from Redis.
describe('a gateway that dies before it records the outcome of a send', () => {
  test('leaves a key that runs, then is known, and is never sent again', async () => {
    const before = await countSent();
    await fault({ delay_ms: 1_500 });
    const key = randomUUID();
    const seen = await arrived();
    const lost = ask(key, { base_url: replica.base_url });
    await eventually(async () => (await arrived()) > seen);
    // To others this looks like a killed gateway: the send happens, but its outcome is not
    // recorded.
    replica.cutFromRedis();
    await lost;
    const sent = (await mesh.emulator.messages()).at(-1);
    const early = await ask(key);
    expect(codeOf(early)).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
    expect([early.body.error.retryable, early.headers.get('retry-after')]).toEqual([true, '1']);
    const learnt = await eventually(async () => {
      const answer = await ask(key);
      return answer.status !== 409 && answer;
    });
    expect([learnt.status, learnt.body.message_id, isReplay(learnt)]).toEqual([
      200,
      sent?.id,
      true,
    ]);
    expect(await countSent()).toBe(before + 1);
  });
});
