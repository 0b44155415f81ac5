// Refused attempts in the audit log: requests that go beyond the rights of a key or a role, and
// failed log-ins. The first of a kind is recorded at once, and further ones once a minute, with
// their number. No request waits for it.
import { Counts } from '@bmg/common/collections';
import { isUnimplemented } from '@bmg/common/errors';
import { networkOf } from '@bmg/common/overload';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { AuditDefinition, RecordRefusalRequest } from '@bmg/proto/audit';

export type Refusal = Omit<RecordRefusalRequest, 'count' | 'request_id' | 'address'> & {
  address: string;
};

export type RefusalLog = ReturnType<typeof createRefusalLog>;

interface RefusalLogDependencies {
  audit: Pick<Client<AuditDefinition>, 'recordRefusal'>;
  log: Pick<Logger, 'warn'>;
  /** How long further refusals of a kind are gathered; the tests have less. */
  window_ms?: number;
}

const WINDOW_MS = 60_000;
/** Kinds of refusals of one key, person or network in a window; what is above is only a metric. */
const KINDS_OF_ONE_MAX = 20;
const KINDS_MAX = 10_000;
/** Storing one record takes a few milliseconds. */
const LIMIT_MS = 5_000;

interface Gathered {
  /** The latest one, with the number of those that are not recorded yet. */
  request: RecordRefusalRequest;
  call: Call;
  timer: NodeJS.Timeout;
}

export function createRefusalLog({ audit, log, window_ms = WINDOW_MS }: RefusalLogDependencies) {
  const gathered = new Map<string, Gathered>();
  const kinds = new Counts();
  const send = async (request: RecordRefusalRequest, call: Call): Promise<void> => {
    if (request.count === 0) return;
    try {
      await audit.recordRefusal(request, { ...call, deadline: Date.now() + LIMIT_MS });
    } catch (error) {
      // Onboarding may still run a release without these records.
      if (!isUnimplemented(error)) log.warn({ err: error }, 'failed to record a refusal');
    }
  };
  return {
    name: 'refusal-log',
    note(refusal: Refusal, call: Call): void {
      const { partner_id, actor, action, code, address } = refusal;
      const source = JSON.stringify([partner_id ?? networkOf(address), actor?.type, actor?.id]);
      const kind = JSON.stringify([source, action, code]);
      const request = { ...refusal, request_id: call.request_id, count: 1 };
      const known = gathered.get(kind);
      if (known) {
        known.request = { ...request, count: known.request.count + 1 };
        known.call = call;
        return;
      }
      if (kinds.of(source) >= KINDS_OF_ONE_MAX || gathered.size >= KINDS_MAX) return;
      kinds.add(source, 1);
      const recordLast = (): void => {
        const last = gathered.get(kind);
        gathered.delete(kind);
        kinds.add(source, -1);
        if (last) void send(last.request, last.call);
      };
      const timer = setTimeout(recordLast, window_ms).unref();
      gathered.set(kind, { request: { ...request, count: 0 }, call, timer });
      void send(request, call);
    },
    start: async (): Promise<void> => undefined,
    async stop(): Promise<void> {
      const rest = [...gathered.values()];
      gathered.clear();
      kinds.clear();
      for (const { timer } of rest) clearTimeout(timer);
      await Promise.all(rest.map(({ request, call }) => send(request, call)));
    },
  };
}
