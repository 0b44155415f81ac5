// Learns the contacts in the upstream's answer to a send.
import { normalisePhone } from '@bmg/common/ids';
import type { Call } from '@bmg/common/rpc';
import type { Target } from '@bmg/proto/common';
import type { SendResult } from '@bmg/proto/messaging';
import type { ContactFact } from '../contacts';
import type { Needs, Dependencies } from '../dependencies';

export type LearnDependencies = Needs<{ contacts: 'learn' }> &
  Pick<Dependencies, 'recent' | 'now' | 'log'>;

type Send<Q> = (request: Q, call: Call) => Promise<SendResult>;

/** Wraps a send handler so that the contacts in its answers are stored. */
interface Learner {
  <Q extends { target?: Target | undefined }>(send: Send<Q>): Send<Q>;
}

/** Stores contacts in the background: no sender waits, and the next send retries a failed write. */
export function createLearner({ contacts, recent, now, log }: LearnDependencies): Learner {
  let failing = false;
  const learn = async (waba_id: string, phone: string, wa_id: string): Promise<void> => {
    const fact: ContactFact = { waba_id, phone, wa_id, source: 'traffic', at: now() };
    if (recent.covers(fact, fact.at)) return;
    recent.add(fact, fact.at);
    try {
      await contacts.learn(fact);
      failing = false;
    } catch (error) {
      recent.remove(fact);
      if (!failing) log.warn({ err: error }, 'failed to store contacts');
      failing = true;
    }
  };
  return (send) => async (request, call) => {
    const result = await send(request, call);
    for (const { input, wa_id } of result.contacts) {
      if (!request.target || !wa_id) continue;
      // The two differ in countries whose numbers the platform spells differently.
      for (const phone of new Set([normalisePhone(input), normalisePhone(wa_id)])) {
        if (phone !== null) void learn(request.target.waba_id, phone, wa_id);
      }
    }
    return result;
  };
}
