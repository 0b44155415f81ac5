// The tests of endpoints that were created with a new secret. Their receivers can verify a test
// event only once they have the secret of the answer, so they are tested a while after it, a few
// times. A test that a stop or a crash loses is left to `POST …/test`.
import { pause } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';

export interface NewEndpoint {
  partner_id: string;
  endpoint_id: string;
  /** URL of the changelog, for the meta of the test event. */
  changelog: string;
}

/** Between the answer and the first test, then between the tests. */
export const WAITS_MS = [1_000, 10_000, 60_000, 600_000];
/** A partner can create and delete endpoints all the time. */
const WAITING_MAX = 10;

/** `test` resolves to true when the endpoint needs no further test. */
export function createFirstTests(test: (endpoint: NewEndpoint) => Promise<boolean>, log: Logger) {
  const stopped = new AbortController();
  const waiting = new Map<Promise<void>, string>();
  const run = async (endpoint: NewEndpoint): Promise<void> => {
    for (const wait_ms of WAITS_MS) {
      await pause(wait_ms, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        if (await test(endpoint)) return;
      } catch (error) {
        const { partner_id, endpoint_id } = endpoint;
        log.error({ err: error, partner_id, endpoint_id }, 'failed to test a new endpoint');
      }
    }
  };
  return {
    name: 'first tests',
    begin(endpoint: NewEndpoint): void {
      const { partner_id } = endpoint;
      const of_partner = [...waiting.values()].filter((one) => one === partner_id);
      if (of_partner.length >= WAITING_MAX) return;
      const work = run(endpoint).finally(() => waiting.delete(work));
      waiting.set(work, partner_id);
    },
    start: async (): Promise<void> => {},
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(waiting.keys());
    },
  };
}
