import {
  choice,
  components,
  DAY,
  limit,
  object,
  offset,
  RECIPIENT_MAX,
  text,
  TIME,
} from '../parts/inputs';
import { contact, contactBsuid, param, params } from '../parts/rules';
import type { Schema } from '../parts/schema';

const NAME_MAX = 200;
/** Limits of the upstream. */
const TEMPLATE_NAME_MAX = 512;
const LANGUAGE_MAX = 20;
const TIME_MAX = 64;
/** The most contacts of one broadcast (contract 9.2). */
const CONTACTS_MAX = 10_000;

const named = (description: string, rule: Schema): Schema => ({
  ...text(RECIPIENT_MAX, description),
  type: ['string', 'null'],
  ...rule,
});

const contactObject: Schema = {
  type: 'object',
  title: 'BroadcastContact',
  properties: {
    recipient: named('A phone number or a BSUID.', contact),
    to: named('A phone number or a BSUID. Alias of `recipient`.', contact),
    user_id: named('A BSUID.', contactBsuid),
    params: {
      type: ['object', 'array', 'null'],
      description: 'Values of the template’s variables: by number or name, or in order.',
      items: param,
      additionalProperties: param,
      ...params,
    },
  },
};

/**
 * The items of `contacts` are checked in `contacts.ts`, because too many of them have a code of
 * their own.
 */
export const createBroadcast = object(
  {
    name: text(NAME_MAX, 'Name of the broadcast, for your own use.'),
    template_name: text(TEMPLATE_NAME_MAX, 'Name of an approved template of the business account.'),
    template_language: text(LANGUAGE_MAX, 'Language of the template, for example `en_US`.'),
    template_components: {
      ...components(
        'Components as in `POST /messages/template`. `{{1}}` or `{{name}}` in a text is replaced by the contact’s `params`.',
      ),
      type: ['array', 'null'],
    },
    contacts: {
      type: 'array',
      description:
        'Up to 10,000 contacts. Each is a phone number, a BSUID, or an object `{recipient, params}`, where `params` holds the values of the template’s variables by number, by name or as an array. A contact without a recipient is skipped; a duplicate recipient gets one message.',
      published: {
        items: { anyOf: [{ type: 'string', ...contact }, contactObject] },
      },
      examples: [['15550100777', { recipient: '15550100778', params: { '1': 'Ada' } }]],
    },
    scheduled_at: {
      type: ['string', 'null'],
      maxLength: TIME_MAX,
      description:
        'When to start: an ISO 8601 date-time with a time zone. Starts at once if null or absent.',
      // Read by the row, which names the fault.
      published: { pattern: `^${DAY}${TIME}([Zz]|[+-]([01]\\d|2[0-3]):?[0-5]\\d)$` },
    },
  },
  ['name', 'template_name', 'template_language', 'contacts'],
);

export const listBroadcasts = object({ limit: limit(20, 100), offset });

/** The row refuses a body without `above`: null is a value here. */
export const setBroadcastApproval = object({
  above: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: CONTACTS_MAX,
    description: 'Broadcasts to more contacts wait for approval. Null: none do.',
  } as const,
});

export const getBroadcast = object({
  include: choice(
    ['forecast'],
    '`forecast`: what a broadcast that has not started would cost now, and how long it would take.',
  ),
});
