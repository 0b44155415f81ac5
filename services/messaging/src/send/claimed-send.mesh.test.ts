import type { Db } from 'mongodb';
import { ApiError } from '@bmg/common/errors';
import { createLogger } from '@bmg/common/telemetry';
import { eventually } from '../../../../test/testkit/eventually';
import { indexes } from '../collections';
import { createMessages } from '../messages/store';
import { createSendClaims, type SendClaims } from '../claims/store';
import type { SendJournal } from '../send-journal/journal';
import { sendClaimed, type ClaimedSendDependencies } from './claimed-send';
import { settleSends } from './outcome';
import { TARGET } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { testDatabase } from '../../../../test/testkit/database';

const { partner_id, waba_id, phone_number_id } = TARGET;
const scope = { partner_id, waba_id };

const db = testDatabase(indexes, {
  retryWrites: false,
  writeConcern: { w: 'majority', journal: true },
});
const claims = createSendClaims(db, () => new Date());
let last = 0;
const newRequest = (): string => `bc_1_0_${(last += 1)}_0123456789ab`;

interface ReplicaOptions {
  claim?: SendClaims['claim'];
  journal?: SendJournal;
  onSent?: () => void;
  onReleased?: () => void;
}

/** A replica whose upstream answers with `answer`; counts what reaches the upstream. */
function aReplica(
  answer: () => Promise<unknown> = async () => ({ messages: [{ id: 'wamid.1' }] }),
  { claim, journal, onSent, onReleased }: ReplicaOptions = {},
) {
  const messages = createMessages(db);
  const reached: string[] = [];
  const sendClaims = createSendClaims(db, () => new Date());
  const releases: Promise<void>[] = [];
  const release: SendClaims['release'] = (attempt, entry) => {
    const releasing = sendClaims.release(attempt, entry);
    releases.push(releasing);
    return releasing.then(onReleased);
  };
  const deps = {
    sendClaims: { ...sendClaims, release, ...(claim && { claim }) },
    sendJournal: journal ?? { note: () => undefined },
    messages,
    credentials: { forSending: async () => ({ access_token: 'token' }) },
    refusedTokens: { add: async () => undefined },
    upstream: {
      request: async ({
        body,
        beforeWrite,
      }: {
        body: { biz_opaque_callback_data: string };
        beforeWrite?: () => Promise<void>;
      }) => {
        await beforeWrite?.();
        reached.push(body.biz_opaque_callback_data);
        onSent?.();
        return answer();
      },
    },
    now: () => new Date(),
    log: createLogger('test'),
  } as unknown as ClaimedSendDependencies;
  const request = (request_id: string, attempt: number) => ({
    target: TARGET,
    recipient: { to: '15550100777' },
    template: { name: 'hello_world', language: 'en_US' },
    request_id,
    attempt,
  });
  return {
    reached,
    /** The send does not wait for them. */
    released: () => Promise.all(releases),
    send: (request_id: string, attempt = 1) =>
      sendClaimed(deps, request(request_id, attempt), aCall({ request_id: '' })),
    settle: async (request_id: string, attempt = 1, caller = partner_id) => {
      const sends = [{ request_id, attempt }];
      const request = { partner_id: caller, waba_id, phone_number_id, sends };
      return (await settleSends({ sendClaims, messages }, request)).sends[0];
    },
  };
}

describe('the rules of claims', () => {
  /** The state stored under a request id before the operation. */
  const stored = {
    nothing: async () => undefined,
    claimed: async (one: { request_id: string; attempt: number }) => claims.claim(scope, one),
    fenced: async (one: { request_id: string; attempt: number }) => claims.fence(scope, [one]),
  };
  test.each([
    ['nothing', 5, true, true],
    ['claimed', 4, true, false],
    ['claimed', 5, false, false],
    ['claimed', 6, false, false],
    ['fenced', 4, true, true],
    ['fenced', 5, false, true],
    ['fenced', 6, false, false],
  ] as const)(
    '%s at attempt %i: attempt 5 claims: %s, fences: %s',
    async (state, at, claims_, fences) => {
      const [one, other] = [newRequest(), newRequest()];
      for (const request_id of [one, other]) await stored[state]({ request_id, attempt: at });
      expect(await claims.claim(scope, { request_id: one, attempt: 5 })).toBe(claims_);
      const fenced = await claims.fence(scope, [{ request_id: other, attempt: 5 }]);
      expect(fenced.has(other)).toBe(fences);
    },
  );

  test('of a claim and a fence at the same time exactly one wins', async () => {
    const ids = Array.from({ length: 200 }, newRequest);
    const [claimed, fenced] = await Promise.all([
      Promise.all(ids.map((request_id) => claims.claim(scope, { request_id, attempt: 1 }))),
      claims.fence(
        scope,
        ids.map((request_id) => ({ request_id, attempt: 1 })),
      ),
    ]);
    for (const [at, request_id] of ids.entries()) {
      expect(claimed[at]).toBe(!fenced.has(request_id));
    }
  });
});

describe('the noted attempts of a dead process', () => {
  const noted = (request_id: string, attempt = 1, entry = `j.${request_id}`) => ({
    request_id,
    attempt,
    entry,
    ...scope,
  });
  const outcomeOf = (request_id: string, attempt = 1) => aReplica().settle(request_id, attempt);

  test('are not sent, whether their claims are stored, still arrive or were never written', async () => {
    const [stored, late, never] = [newRequest(), newRequest(), newRequest()];
    await claims.claim(scope, { request_id: stored, attempt: 1 }, `j.${stored}`);
    expect(await outcomeOf(stored)).toMatchObject({ outcome: 'unknown' });
    expect(await claims.releaseNoted([stored, late, never].map((id) => noted(id)))).toBe(3);
    expect(await claims.claim(scope, { request_id: late, attempt: 1 }, `j.${late}`)).toBe(false);
    for (const request_id of [stored, late, never]) {
      expect(await outcomeOf(request_id)).toMatchObject({ outcome: 'not_sent' });
      const replica = aReplica();
      await replica.send(request_id, 2);
      expect(replica.reached).toHaveLength(1);
      // The journal may be read again, if the process that read it was killed too.
      expect(await claims.releaseNoted([noted(request_id)])).toBe(0);
      expect(await outcomeOf(request_id, 2)).toMatchObject({ outcome: 'sent' });
    }
  });

  test.each<[string, number, string | undefined]>([
    ['of another arrival of the same attempt', 1, 'j.another'],
    ['without a note', 1, undefined],
    ['of a later attempt', 2, 'j.later'],
  ])('do not change a claim %s', async (_name, attempt, entry) => {
    const request_id = newRequest();
    await claims.claim(scope, { request_id, attempt }, entry);
    expect(await claims.releaseNoted([noted(request_id)])).toBe(0);
    expect(await outcomeOf(request_id, attempt)).toMatchObject({ outcome: 'unknown' });
  });

  test('a release by a living process fences exactly its own attempt and arrival', async () => {
    for (const [mine, another] of [
      ['j.mine', undefined],
      [undefined, 'j.another'],
    ]) {
      const request_id = newRequest();
      await claims.claim(scope, { request_id, attempt: 2 }, mine);
      await claims.release({ request_id, attempt: 2 }, another);
      await claims.release({ request_id, attempt: 2 }, 'j.third');
      await claims.release({ request_id, attempt: 1 }, mine);
      expect(await outcomeOf(request_id, 2)).toMatchObject({ outcome: 'unknown' });
      await claims.release({ request_id, attempt: 2 }, mine);
      expect(await outcomeOf(request_id, 2)).toMatchObject({ outcome: 'not_sent' });
    }
  });
});

describe('the note of a claimed send', () => {
  /** A replica with a journal that records what is done to its notes. */
  function aNotedReplica(options: {
    claim?: SendClaims['claim'];
    leaving?: () => void;
    answer?: () => Promise<unknown>;
  }) {
    const seen: string[] = [];
    const replica = aReplica(options.answer, {
      ...(options.claim && { claim: options.claim }),
      onSent: () => seen.push('sent'),
      onReleased: () => seen.push('released'),
      journal: {
        note: () => {
          seen.push('noted');
          return {
            id: `j.${newRequest()}`,
            leaving: () => {
              seen.push('leaving');
              options.leaving?.();
            },
            end: () => seen.push('ended'),
          };
        },
      },
    });
    return { ...replica, seen };
  }
  const failing = async (): Promise<never> => {
    throw new Error('the database is unavailable');
  };

  test.each<[string, Parameters<typeof aNotedReplica>[0], string[]]>([
    ['is marked before the first byte', {}, ['noted', 'leaving', 'sent', 'ended']],
    ['ends with a refused claim', { claim: async () => false }, ['noted', 'ended']],
    ['outlives a claim that may be stored', { claim: failing }, ['noted', 'released', 'ended']],
    [
      'outlives the claim of a send that was not sent',
      { answer: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'no', { retryable: true })) },
      ['noted', 'leaving', 'sent', 'released', 'ended'],
    ],
    [
      'stops a send that cannot be marked, for another attempt',
      {
        leaving: () => {
          throw new ApiError('SERVICE_UNAVAILABLE', 'not noted', { retryable: true });
        },
      },
      ['noted', 'leaving', 'released', 'ended'],
    ],
  ])('%s', async (_name, options, expected) => {
    const replica = aNotedReplica(options);
    await replica.send(newRequest()).catch(() => undefined);
    await eventually(() => replica.seen.includes('ended'));
    expect(replica.seen).toEqual(expected);
  });
});

describe('a claimed send', () => {
  test('that no replica has received is fenced, and refused when it arrives late', async () => {
    const request_id = newRequest();
    const [one, other] = [aReplica(), aReplica()];
    expect(await one.settle(request_id)).toMatchObject({ outcome: 'not_sent' });
    await expect(other.send(request_id)).rejects.toMatchObject({
      details: { outcome: 'unknown' },
    });
    expect(other.reached).toEqual([]);
    // The next attempt is sent.
    await other.send(request_id, 2);
    expect(other.reached).toHaveLength(1);
  });

  test('is found as sent by another replica, and is not sent again under the same attempt', async () => {
    const request_id = newRequest();
    const [one, other] = [aReplica(), aReplica()];
    await one.send(request_id);
    expect(await other.settle(request_id)).toEqual({
      request_id,
      outcome: 'sent',
      message_id: 'wamid.1',
    });
    await expect(other.send(request_id)).rejects.toMatchObject({ code: 'SERVER_ERROR' });
    expect(other.reached).toEqual([]);
    expect(await other.settle(request_id, 1, 'par_2')).toMatchObject({ outcome: 'unknown' });
  });

  test('is unknown while its replica waits for the upstream, or was killed', async () => {
    const request_id = newRequest();
    let arrived = (): void => undefined;
    const asked = new Promise<void>((resolve) => (arrived = resolve));
    const killed = aReplica(async () => {
      arrived();
      return new Promise(() => undefined);
    });
    void killed.send(request_id);
    await asked;
    expect(await aReplica().settle(request_id)).toMatchObject({ outcome: 'unknown' });
  });

  test.each([
    ['could not be reached', { retryable: true }, 'not_sent'],
    ['limits the rate', { upstream_code: 130_429 }, 'not_sent'],
    ['limits the recipient', { upstream_code: 131_056 }, 'not_sent'],
    ['refused for good', { upstream_code: 131_026 }, 'unknown'],
    ['did not answer', { details: { outcome: 'unknown' } }, 'unknown'],
  ])('that the upstream %s (%o) is %s', async (_name, extras, outcome) => {
    const request_id = newRequest();
    const replica = aReplica(() => Promise.reject(new ApiError('UPSTREAM_ERROR', 'no', extras)));
    await expect(replica.send(request_id)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    await replica.released();
    expect(await replica.settle(request_id)).toMatchObject({ outcome });
  });
});

test('claims that wait for a slow database are given up before they are written', async () => {
  let written = 0;
  let proceed = (): void => undefined;
  const held = new Promise<void>((resolve) => (proceed = resolve));
  const slow = {
    collection: () => ({
      bulkWrite: async (operations: unknown[]) => {
        written += operations.length;
        await held;
      },
    }),
  } as unknown as Db;
  const waiting = createSendClaims(slow, () => new Date());
  const first = waiting.claim(scope, { request_id: newRequest(), attempt: 1 });
  await eventually(() => written === 1);
  const others = [1, 2].map(() => waiting.claim(scope, { request_id: newRequest(), attempt: 1 }));
  for (const other of others) await expect(other).rejects.toThrow('too slow');
  proceed();
  expect(await first).toBe(true);
  // A claim that had not been given up would be written before this one, or with it.
  await waiting.claim(scope, { request_id: newRequest(), attempt: 1 });
  expect(written).toBe(2);
});
