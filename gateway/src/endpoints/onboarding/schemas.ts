import { choice, DAY, id, limit, object, offset, QUERY_INSTANT, text } from '../parts/inputs';
import * as rules from '../parts/rules';
import type { Typed } from '../parts/schema';

const DISPLAY_NAME_MAX = 200;
const TOKEN_MAX = 4_096;
const CODE_MAX = 4_096;
const STATE_MAX = 255;
const ORIGIN_MAX = 255;
const URL_MAX = 2_048;
const REPORT_MAX = 200;
const REPORT_MESSAGE_MAX = 1_000;

const day = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: `^(${DAY}|${QUERY_INSTANT})$`,
  errorMessage: 'must be an ISO 8601 date (YYYY-MM-DD), or a date-time with a time zone',
  description,
});

const display_name = text(
  DISPLAY_NAME_MAX,
  'Name of the client, for your own use. Defaults to the verified name of the number.',
);

export const registerClient = object(
  {
    waba_id: id('ID of the business account.'),
    phone_number_id: id('ID of the number.'),
    access_token: text(
      TOKEN_MAX,
      'Access token of the upstream. Stored encrypted and never returned.',
    ),
    display_name,
  },
  ['waba_id', 'phone_number_id', 'access_token'],
);

export const listClients = object({
  limit: limit(100, 500),
  offset,
  status: choice(['active', 'deleted', 'all'], 'Which clients to list. Defaults to `active`.'),
});

export const refreshClient = object({
  access_token: {
    ...text(TOKEN_MAX, 'New access token. Replaces the stored one if the upstream accepts it.'),
    minLength: 1,
  },
  phone_number_id: id('ID of one number of the account. Defaults to all of them.'),
});

/**
 * The result of the sign-up dialog. Both ids are checked against the token the code is exchanged
 * for.
 */
export const registerFromCode = object(
  {
    code: text(
      CODE_MAX,
      'Code returned by the sign-up dialog. It is valid once and expires within seconds.',
    ),
    display_name,
    connection_mode: choice(['coexistence'], 'How the number is connected.'),
    waba_id: id('ID of the business account, as returned by the dialog.'),
    phone_number_id: id('ID of the number, as returned by the dialog.'),
  },
  ['code'],
);

const returnUrl = (description: string): Typed<'string'> => ({
  ...text(
    URL_MAX,
    `${description} HTTPS, and of an origin that your setting \`connect_origins\` lists.`,
  ),
  minLength: 1,
  examples: ['https://shop.example.com/connected'],
});

export const createConnectSession = object({
  display_name,
  state: text(
    STATE_MAX,
    'Any value of yours. Returned unchanged when the onboarding is completed.',
  ),
  origin: {
    ...text(
      ORIGIN_MAX,
      'Origin of your page that opens the link. Only a page of this origin gets the messages about the outcome; without it, any page that opens the link.',
    ),
    pattern: '^https?://([a-z0-9.-]+|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?$',
    errorMessage: 'must be an origin such as https://shop.example.com',
    examples: ['https://shop.example.com'],
    published: rules.origin,
  },
  success_url: returnUrl(
    'Where the page leads once the number is connected, with `state`, `waba_id` and `phone_number_id` in its query.',
  ),
  failure_url: returnUrl(
    'Where the page leads when the sign-up fails or the person leaves it, with `state` and `code` in its query.',
  ),
});

export const listOnboardingEvents = object({ limit: limit(50, 200) });

export const getUsage = object({
  from: day(
    'Start of the period, not after `to`. A date means its start. Defaults to the start of the current month.',
  ),
  to: day('End of the period. A date means its end. Defaults to now.'),
});

/** The hosted page's report about the dialog. Not part of the public API. */
export const reportConnectStep = object(
  {
    kind: text(REPORT_MAX),
    current_step: text(REPORT_MAX),
    error_code: text(REPORT_MAX),
    error_message: text(REPORT_MESSAGE_MAX),
    upstream_session_id: text(REPORT_MAX),
    waba_id: id('ID of the business account, as returned by the dialog.'),
    phone_number_id: id('ID of the number, as returned by the dialog.'),
  },
  ['kind'],
);
