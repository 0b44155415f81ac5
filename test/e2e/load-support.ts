// Continuous sends while processes are stopped and killed, and the comparison of answers with the
// messages that were sent and recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import type { Answer } from '../testkit/rest';
import type { ProcessMesh, ProcessPartner } from '../harness/process-mesh';
import { withDatabase } from './stored';

const scope = { 'x-waba-id': ONE.waba_id };

type SentThrough = Pick<ProcessMesh, 'settings' | 'emulator'>;

export interface Outcome {
  to: string;
  answer: Answer | undefined;
}

export interface Load {
  /** Waits for this many more answers, however slow the machine is. */
  untilServed(more: number): Promise<void>;
  stop(): Promise<Outcome[]>;
}

let contact = 15_550_400_000;

/** Sends to a new contact every few milliseconds until stopped. */
export function loadOf(partner: ProcessPartner, every_ms: number): Load {
  const outcomes: Promise<Outcome>[] = [];
  let on = true;
  let served = 0;
  const turning = (async () => {
    while (on) {
      const to = String((contact += 1));
      outcomes.push(
        partner.call('POST', '/messages/send', { to, text: 'Under load' }, scope).then(
          (answer) => {
            if (answer.status === 200) served += 1;
            return { to, answer };
          },
          () => ({ to, answer: undefined }),
        ),
      );
      await sleep(every_ms);
    }
  })();
  return {
    async untilServed(more) {
      const enough = served + more;
      await eventually(() => served >= enough);
    },
    async stop() {
      on = false;
      await turning;
      return Promise.all(outcomes);
    },
  };
}

const recordsOf = (mesh: SentThrough, recipients: string[]): Promise<Document[]> =>
  withDatabase({ env: mesh.settings }, 'messaging', (db) =>
    db
      .collection('messages')
      .find({ recipient: { $in: recipients } })
      .toArray(),
  );

/** Expects every message to be sent once and recorded once, and every success to be among them. */
export async function expectConsistent(mesh: SentThrough, outcomes: Outcome[]): Promise<void> {
  const recipients = outcomes.map(({ to }) => to);
  const sent = (await mesh.emulator.messages({ limit: 100_000 })).filter(({ to }) =>
    recipients.includes(to ?? ''),
  );
  expect(new Set(sent.map(({ to }) => to)).size).toBe(sent.length);
  const ids = sent.map(({ id }) => id).sort();
  const answered = outcomes
    .filter(({ answer }) => answer?.status === 200)
    .map(({ answer }) => answer?.body.message_id as string);
  expect(ids).toEqual(expect.arrayContaining(answered));
  // If a crash came between a send and its record, the status events rebuild the record.
  await eventually(async () => {
    const records = await recordsOf(mesh, recipients);
    expect(records.map((record) => record['message_id'] as string).sort()).toEqual(ids);
    return true;
  });
}
