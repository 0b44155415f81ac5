// The log of onboarding: what each attempt came to, step by step. Partners read it to see where people
// stop; it must not make an onboarding fail that would have worked.
import { toApiError, type ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import type { Logger } from '@bmg/common/telemetry';
import type { OnboardingEvents } from '../store/onboarding-events';
import type { Session } from '../store/connect-sessions';

/** Steps of our own; the dialog's are the upstream's names and pass as they are. */
export type Step =
  | 'SESSION_CREATED'
  | 'PAGE_OPENED'
  | 'PAGE'
  | 'DIALOG_OPENED'
  | 'DIALOG_FINISHED'
  | 'DIALOG'
  | 'CODE_EXCHANGE'
  | 'DISCOVERY'
  | 'REGISTRATION'
  | 'COEXISTENCE_SYNC'
  | 'SYNC_DUE'
  | 'COMPLETED';

export interface StepFacts {
  error_code?: string | undefined;
  error_message?: string | undefined;
  upstream_session_id?: string | undefined;
  waba_id?: string | undefined;
  phone_number_id?: string | undefined;
}

export interface Attempt {
  /** `step` is one of ours, or a name of the upstream's dialog. */
  note(step: Step | (string & {}), facts?: StepFacts): Promise<void>;
  /** Runs a step and notes what it came to. */
  run<T>(step: Step, work: () => Promise<T>, facts?: (result: T) => StepFacts): Promise<T>;
}

export interface AttemptDependencies {
  events: OnboardingEvents;
  now: () => Date;
  log: Logger;
}

const TEXT_MAX = 1_000;
const cut = (text: string | undefined): string | null => text?.slice(0, TEXT_MAX) ?? null;

export function createAttempt(
  { events, now, log }: AttemptDependencies,
  partner_id: string,
  session: Pick<Session, '_id' | 'state'> | null,
  about: Pick<StepFacts, 'waba_id' | 'phone_number_id'> = {},
): Attempt {
  let known = about;
  const note: Attempt['note'] = async (step, facts = {}) => {
    const { waba_id = known.waba_id, phone_number_id = known.phone_number_id } = facts;
    known = { waba_id, phone_number_id };
    const created_at = now();
    try {
      await events.insert({
        _id: newId('obe', created_at.getTime()),
        partner_id,
        session_id: session?._id ?? null,
        state: session?.state ?? null,
        current_step: step.slice(0, TEXT_MAX),
        error_code: cut(facts.error_code),
        error_message: cut(facts.error_message),
        upstream_session_id: cut(facts.upstream_session_id),
        waba_id: waba_id ?? null,
        phone_number_id: phone_number_id ?? null,
        created_at,
      });
    } catch (error) {
      log.warn({ err: error, partner_id, step }, 'an onboarding step was not logged');
    }
  };
  return {
    note,
    async run(step, work, facts) {
      try {
        const result = await work();
        await note(step, facts?.(result));
        return result;
      } catch (error) {
        await note(step, failureFacts(toApiError(error)));
        throw error;
      }
    },
  };
}

/** The partner's own error, with the upstream's code and trace where it has them. */
function failureFacts(failure: ApiError): StepFacts {
  const { code, message, upstream_code, upstream_subcode, upstream_trace_id } = failure;
  const upstream =
    upstream_code === undefined
      ? ''
      : ` (upstream code ${upstream_code}${upstream_subcode === null ? '' : `, subcode ${upstream_subcode}`})`;
  return {
    error_code: code,
    error_message: message + upstream,
    upstream_session_id: upstream_trace_id,
  };
}
