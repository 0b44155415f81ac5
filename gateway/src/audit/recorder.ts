// Records changes in the audit log at onboarding. The record is stored before the change is made,
// and its outcome afterwards: a gateway that is killed in between leaves a record with an unknown
// outcome, and no change without one. While records cannot be stored, changes are refused.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, toApiError } from '@bmg/common/errors';
import { outcomeOf } from '@bmg/common/idempotency';
import type { Call, Client } from '@bmg/common/rpc';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { AuditDefinition, EndChangeRequest } from '@bmg/proto/audit';
import type { Change } from './change';

export type Recorder = ReturnType<typeof createRecorder>;

/** The call and the address of the caller. */
interface Origin {
  call: Call;
  address: string;
}

interface RecorderDependencies {
  audit: Pick<Client<AuditDefinition>, 'beginChange' | 'endChange'>;
  log: Pick<Logger, 'warn'>;
  /** Pauses before an outcome is sent again; the tests have shorter ones. */
  pauses_ms?: readonly number[];
}

/** Storing one record takes a few milliseconds. */
const LIMIT_MS = 5_000;
/** After the last one the outcome stays unknown. */
const PAUSES_MS = [1_000, 5_000, 30_000];
/** Outcomes that wait to be sent again. */
const WAITING_MAX = 1_000;

export function createRecorder({ audit, log, pauses_ms = PAUSES_MS }: RecorderDependencies) {
  let waiting = 0;
  const begin = async (change: Change, { call, address }: Origin): Promise<string> => {
    const { request_id } = call;
    const deadline = Math.min(call.deadline, Date.now() + LIMIT_MS);
    try {
      const begun = { ...change, request_id, address };
      return (await audit.beginChange(begun, { ...call, deadline })).id;
    } catch (error) {
      throw error instanceof ApiError && error.code === 'RATE_LIMIT_EXCEEDED'
        ? error
        : notRecorded(error);
    }
  };
  const again = async (end: EndChangeRequest, call: Call): Promise<void> => {
    if (waiting >= WAITING_MAX) return;
    waiting += 1;
    try {
      for (const pause_ms of pauses_ms) {
        await sleep(pause_ms, undefined, { ref: false });
        if (await isSent(end, call)) return;
      }
    } finally {
      waiting -= 1;
    }
  };
  const isSent = async (end: EndChangeRequest, call: Call): Promise<boolean> => {
    try {
      await audit.endChange(end, { ...call, deadline: Date.now() + LIMIT_MS });
      return true;
    } catch (error) {
      metrics.audit_outcomes_failed.inc();
      log.warn({ err: error, audit_id: end.id }, 'failed to store the outcome of a change');
      return false;
    }
  };
  const end = async (request: EndChangeRequest, call: Call): Promise<void> => {
    // The change is made: its answer does not depend on the outcome in the log.
    if (!(await isSent(request, call))) void again(request, call);
  };

  return {
    /**
     * Makes a change between its record and its outcome. `made` names what a reply has created.
     * Changes nothing and throws SERVICE_UNAVAILABLE if the record cannot be stored, or
     * RATE_LIMIT_EXCEEDED if the partner has used up its changes of the day.
     */
    async run<T>(
      change: Change,
      from: Origin,
      make: () => Promise<T>,
      made?: (reply: T) => Record<string, string>,
    ): Promise<T> {
      const id = await begin(change, from);
      let reply: T;
      try {
        reply = await make();
      } catch (error) {
        const failure = toApiError(error);
        const outcome = outcomeOf(failure) === 'unknown' ? 'unknown' : 'failed';
        await end({ id, outcome, code: failure.code, target: {} }, from.call);
        throw error;
      }
      const target = made?.(reply) ?? {};
      const { waba_id } = target;
      await end({ id, outcome: 'succeeded', target, waba_id }, from.call);
      return reply;
    },
  };
}

const notRecorded = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'changes cannot be recorded at the moment: nothing was changed, try again',
    { retryable: true, cause },
  );
