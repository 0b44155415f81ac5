import { CONTACT_CARDS_MAX } from '@bmg/common/messages';
import { createBroadcast } from '../broadcasts/schemas';
import { choice, components, object, quote, text, wamid, withRecipient } from '../parts/inputs';
import { ANY, checked, imageMedia, interactive, mediaSource } from '../parts/rules';
import type { Keywords } from '../parts/schema';

/** Limit of the upstream. */
const TEXT_MAX = 4_096;

export const sendText = withRecipient(
  {
    text: text(TEXT_MAX, 'Text of the message.'),
    preview_url: { type: 'boolean', description: 'Whether to show a preview of the first link.' },
    ...quote,
  },
  ['text'],
);

export const sendTemplate = withRecipient(
  {
    template: object(
      {
        name: text(512, 'Name of an approved template.'),
        language: text(20, 'Language of the template, for example `en_US`.'),
        components: components(
          'Values for the variables of the template: objects with `type` (`header`, `body` or `button`) and `parameters`.',
        ),
      },
      ['name', 'language'],
    ),
    ...quote,
  },
  ['template'],
);

export const sendMedia = withRecipient(
  {
    type: choice(
      ['image', 'video', 'audio', 'document', 'sticker'],
      'Kind of media. Send voice notes as `audio`.',
    ),
    media: {
      type: 'object',
      description:
        'The file: either `id` from `POST /media/upload` or a public `link`. Optional: `caption`, and `filename` (not for images). Other keys are passed to the upstream.',
      published: { allOf: [mediaSource] },
    },
    ...quote,
  },
  ['type', 'media'],
  [imageMedia],
);

export const sendInteractive = withRecipient(
  {
    interactive: {
      type: 'object',
      description:
        'The interactive object, passed to the upstream unchanged. At most 3 reply buttons; in a list, at most 10 rows per section.',
      published: { allOf: interactive },
    },
    ...quote,
  },
  ['interactive'],
);

export const sendLocation = withRecipient(
  {
    latitude: { type: 'number', minimum: -90, maximum: 90, description: 'Degrees north.' },
    longitude: { type: 'number', minimum: -180, maximum: 180, description: 'Degrees east.' },
    name: text(1_000, 'Name of the place.'),
    address: text(1_000, 'Address of the place.'),
    ...quote,
  },
  ['latitude', 'longitude'],
);

const PASSED_ON = { published: { additionalProperties: true } } as const;
const formatted_name = text(TEXT_MAX, 'Name as the customer sees it in the message.');
const card = {
  ...object({ name: { ...object({ formatted_name }, ['formatted_name']), ...PASSED_ON } }, [
    'name',
  ]),
  ...PASSED_ON,
};

export const sendContacts = withRecipient(
  {
    contacts: {
      type: 'array',
      minItems: 1,
      maxItems: CONTACT_CARDS_MAX,
      items: card,
      description:
        'Cards, passed to the upstream unchanged. Beside `name`, a card may have `phones`, `emails`, `addresses`, `urls`, `org` and `birthday`.',
    },
    ...quote,
  },
  ['contacts'],
);

export const sendReaction = withRecipient(
  {
    message_id: wamid('ID of the message to react to.'),
    emoji: {
      type: 'string',
      maxLength: 64,
      mayBeBlank: true,
      description: 'An emoji. An empty string removes the reaction.',
    },
  },
  ['message_id', 'emoji'],
);

export const markRead = object(
  {
    message_id: wamid('`data.message_id` of a `message.received` event.'),
    typing_indicator: object({ type: choice(['text']) }, ['type']),
  },
  ['message_id'],
);

/** The bodies that a check takes, by kind. */
const CHECKED = {
  text: sendText,
  template: sendTemplate,
  media: sendMedia,
  interactive: sendInteractive,
  location: sendLocation,
  contacts: sendContacts,
  reaction: sendReaction,
  broadcast: createBroadcast,
};

/**
 * The fields of these bodies, each of any type: their faults, a wrong type among them, are reasons
 * of the answer (`preflight.ts`). They are named because clients of several generators cannot write
 * other fields.
 */
function checkedFields(): Record<string, Keywords> {
  const kinds: Record<string, string[]> = {};
  for (const [kind, { properties }] of Object.entries(CHECKED)) {
    for (const name of Object.keys(properties)) (kinds[name] ??= []).push(`\`${kind}\``);
  }
  return Object.fromEntries(
    Object.entries(kinds).map(([name, of]) => [
      name,
      { description: `As in the endpoint of the kind: ${of.join(', ')}.`, published: ANY },
    ]),
  );
}

export const checkMessage = {
  ...object({
    kind: choice(
      Object.keys(CHECKED),
      'Kind of message. The other fields are those of its send endpoint, or of `POST /broadcasts`. Absent: a broadcast.',
    ),
    ...checkedFields(),
  }),
  requiredOneOf: ['kind', 'template_name', 'contacts'],
  requiredOneOfMessage: 'kind is required, or the template_name and contacts of a broadcast',
  published: { allOf: [checked] },
};
