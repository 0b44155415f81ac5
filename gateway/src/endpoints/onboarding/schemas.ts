import { id, limit, object, offset, text } from '../parts/inputs';
import type { Schema } from '../parts/schema';

const DISPLAY_NAME_MAX = 200;
const TOKEN_MAX = 4_096;
const CODE_MAX = 4_096;
const STATE_MAX = 255;
const REPORT_MAX = 200;
const REPORT_MESSAGE_MAX = 1_000;

/** A day, or a date-time with its zone; a plus that was sent unencoded has become a space. */
const DAY_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+ -]\\d{2}:\\d{2}))?$';

const day = (description: string): Schema => ({
  type: 'string',
  pattern: DAY_PATTERN,
  errorMessage: 'must be an ISO 8601 date (YYYY-MM-DD) or date-time with a zone',
  description,
});

export const registerClient = object(
  {
    waba_id: id('the business account'),
    phone_number_id: id('the number'),
    access_token: text(TOKEN_MAX, 'the upstream token; stored encrypted, never returned'),
    display_name: text(DISPLAY_NAME_MAX, 'free text; the verified name stands in'),
  },
  ['waba_id', 'phone_number_id', 'access_token'],
);

export const listClients = object({
  limit: limit(100, 500),
  offset,
  status: { type: 'string', enum: ['active', 'deleted', 'all'] },
});

export const refreshClient = object({
  access_token: {
    ...text(TOKEN_MAX, 'replaces the stored token once the upstream has taken it'),
    minLength: 1,
  },
  phone_number_id: id('one number of the account; all of them unless given'),
});

/** What the sign-up dialog gave; the two ids are claims that are checked against the code's token. */
export const registerFromCode = object(
  {
    code: text(CODE_MAX, 'the sign-up dialog’s code: valid once, for seconds'),
    display_name: text(DISPLAY_NAME_MAX, 'free text; the verified name stands in'),
    connection_mode: { type: 'string', enum: ['coexistence'] },
    waba_id: id('the business account that the dialog named'),
    phone_number_id: id('the number that the dialog named'),
  },
  ['code'],
);

export const createConnectSession = object({
  display_name: text(DISPLAY_NAME_MAX, 'free text; the verified name stands in'),
  state: text(STATE_MAX, 'yours, returned unchanged on completion'),
});

export const listOnboardingEvents = object({ limit: limit(50, 200) });

export const getUsage = object({
  from: day('first day, or a time in it; the start of the month unless given'),
  to: day('last day, or a time in it; now unless given'),
});

/** What the hosted page tells of the dialog. */
export const reportConnectStep = object(
  {
    kind: text(REPORT_MAX),
    current_step: text(REPORT_MAX),
    error_code: text(REPORT_MAX),
    error_message: text(REPORT_MESSAGE_MAX),
    upstream_session_id: text(REPORT_MAX),
    waba_id: id('the business account that the dialog named'),
    phone_number_id: id('the number that the dialog named'),
  },
  ['kind'],
);
