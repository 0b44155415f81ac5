import { limit, object, offset, text } from '../parts/inputs';

const NAME_MAX = 200;
/** The platform's own limits of a template's name and language. */
const TEMPLATE_NAME_MAX = 512;
const LANGUAGE_MAX = 20;
const TIME_MAX = 64;

/**
 * The items of the two lists are read by the endpoint (endpoints/broadcasts.ts): a body of this size
 * may hold millions, and a schema would collect the faults of every one of them.
 */
export const createBroadcast = object(
  {
    name: text(NAME_MAX, 'free text'),
    template_name: text(TEMPLATE_NAME_MAX, 'an approved template of the business account'),
    template_language: text(LANGUAGE_MAX, 'language code such as en_US'),
    template_components: {
      type: ['array', 'null'],
      description: 'as for /messages/template; {{1}} or {{name}} in a text is filled from params',
    },
    contacts: {
      type: 'array',
      description:
        'at most 10,000: a phone number or a BSUID each, or an object {recipient, params}, where params are the values of the template’s variables by number, by name or as an array. One that names nobody is skipped; a person who is given twice is sent one message',
      examples: [['15550100777', { recipient: '15550100778', params: { '1': 'Ada' } }]],
    },
    scheduled_at: {
      type: ['string', 'null'],
      maxLength: TIME_MAX,
      description: 'ISO 8601 with a zone; null or left out: at once',
    },
  },
  ['name', 'template_name', 'template_language', 'contacts'],
);

export const listBroadcasts = object({ limit: limit(20, 100), offset });
