// The onboarding log: the outcome of each step of a sign-up or registration. Partners read it (GET
// /onboarding/events) to see where people drop out. A failure to write it never fails the
// onboarding itself.
import { toApiError, type ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import type { Dependencies } from '../../dependencies';

/** Our own steps. Steps of the upstream's dialog are logged under the upstream's names. */
export type OnboardingStep =
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

export type OnboardingLog = ReturnType<typeof createOnboardingLog>;

const TEXT_MAX = 1_000;
const cut = (text: string | undefined): string | null => text?.slice(0, TEXT_MAX) ?? null;

/** The account and number of a step carry over to the steps after it. */
export function createOnboardingLog(
  { events, now, log }: Dependencies,
  partner_id: string,
  session: { _id: string; state: string | null } | null,
  about: Pick<StepFacts, 'waba_id' | 'phone_number_id'> = {},
) {
  let known = about;
  /** `step` is one of ours or a step name of the upstream's dialog. Never throws. */
  const record = async (
    step: OnboardingStep | (string & {}),
    facts: StepFacts = {},
  ): Promise<void> => {
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
      log.warn({ err: error, partner_id, step }, 'failed to record onboarding step');
    }
  };
  return {
    record,
    /** The account and number of the steps so far. */
    about: () => known,
    /** Runs a step and records its result, or its error, which it then throws. */
    async run<T>(
      step: OnboardingStep,
      work: () => Promise<T>,
      facts?: (result: T) => StepFacts,
    ): Promise<T> {
      try {
        const result = await work();
        await record(step, facts?.(result));
        return result;
      } catch (error) {
        await record(step, failureFacts(toApiError(error)));
        throw error;
      }
    },
  };
}

/** The error as the partner sees it, with the upstream's code and trace ID if there are any. */
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
