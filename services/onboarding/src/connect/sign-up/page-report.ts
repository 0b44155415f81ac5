// Records the hosted page's report about the sign-up dialog as a step of the onboarding log.
import { invalidField } from '@bmg/common/errors';
import type { ReportConnectStepRequest } from '@bmg/proto/onboarding';
import type { OnboardingStep, StepFacts } from '../onboarding-log';

interface ReportKind {
  /** The step to log if the dialog does not name its own. */
  step: OnboardingStep;
  error_code?: string;
  error_message?: string;
  /** The outcome for the partner, without the words of the upstream. */
  failure?: Failure;
}

interface Failure {
  code: string;
  message: string;
}

const CANCELLED: Failure = { code: 'DIALOG_CANCELLED', message: 'the person left the dialog' };
const DIALOG: Failure = { code: 'DIALOG_FAILED', message: 'the sign-up dialog failed' };
const PAGE: Failure = { code: 'PAGE_FAILED', message: 'the page failed' };
/** The form of the page's own codes. */
const CODE = /^[A-Z][A-Z_]{0,63}$/;

const KINDS: Record<string, ReportKind> = {
  dialog_opened: { step: 'DIALOG_OPENED' },
  dialog_finished: { step: 'DIALOG_FINISHED' },
  dialog_cancelled: {
    step: 'DIALOG',
    error_code: CANCELLED.code,
    error_message: CANCELLED.message,
    failure: CANCELLED,
  },
  dialog_failed: { step: 'DIALOG', error_code: DIALOG.code, failure: DIALOG },
  page_failed: { step: 'PAGE', error_code: PAGE.code, failure: PAGE },
};

/** Throws INVALID_FIELD for an unknown `kind`. */
export function readReport({ kind, ...given }: ReportConnectStepRequest): {
  step: string;
  facts: StepFacts;
  failure: Failure | undefined;
} {
  const known = KINDS[kind];
  if (!known) throw invalidField('kind', `must be one of ${Object.keys(KINDS).join(', ')}`);
  const { current_step, upstream_session_id, waba_id, phone_number_id } = given;
  const { error_code: code = '', error_message: message } = given;
  // The dialog's code and text are the upstream's; those of the page are ours.
  const is_own = known.failure === PAGE && CODE.test(code);
  return {
    failure: is_own ? { code, message: message ?? PAGE.message } : known.failure,
    step: current_step ?? known.step,
    facts: {
      error_code: given.error_code ?? known.error_code,
      error_message: given.error_message ?? known.error_message,
      upstream_session_id,
      waba_id,
      phone_number_id,
    },
  };
}
