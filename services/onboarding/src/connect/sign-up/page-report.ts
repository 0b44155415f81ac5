// Records the hosted page's report about the sign-up dialog as a step of the onboarding log.
import { invalidField } from '@bmg/common/errors';
import type { ReportConnectStepRequest } from '@bmg/proto/onboarding';
import type { OnboardingStep, StepFacts } from '../onboarding-log';

interface ReportKind {
  /** The step to log if the dialog does not name its own. */
  step: OnboardingStep;
  error_code?: string;
  error_message?: string;
}

const KINDS: Record<string, ReportKind> = {
  dialog_opened: { step: 'DIALOG_OPENED' },
  dialog_finished: { step: 'DIALOG_FINISHED' },
  dialog_cancelled: {
    step: 'DIALOG',
    error_code: 'DIALOG_CANCELLED',
    error_message: 'the person left the dialog',
  },
  dialog_failed: { step: 'DIALOG', error_code: 'DIALOG_FAILED' },
  page_failed: { step: 'PAGE', error_code: 'PAGE_FAILED' },
};

/** Throws INVALID_FIELD for an unknown `kind`. */
export function readReport({ kind, ...given }: ReportConnectStepRequest): {
  step: string;
  facts: StepFacts;
} {
  const known = KINDS[kind];
  if (!known) throw invalidField('kind', `must be one of ${Object.keys(KINDS).join(', ')}`);
  const { current_step, upstream_session_id, waba_id, phone_number_id } = given;
  return {
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
