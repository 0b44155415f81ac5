// Builds the upstream's message object: one function per kind of message, and one for the body of
// any send endpoint. Pure.
import { invalidField, missingFields } from '@bmg/common/errors';
import { CONTACT_CARDS_MAX } from '@bmg/common/messages';
import type { Json } from '@bmg/common/upstream';
import type {
  SendLocationRequest,
  SendMediaRequest,
  SendReactionRequest,
  SendTextRequest,
} from '@bmg/proto/messaging';

export interface Content {
  /** The upstream's `type`. */
  kind: string;
  body: Json;
  /** The name and language of a template, for the message record. */
  template?: { name: string; language: string };
}

const textContent = ({
  text,
  preview_url,
}: Pick<SendTextRequest, 'text' | 'preview_url'>): Content => ({
  kind: 'text',
  body: {
    type: 'text',
    text: { body: text, ...(preview_url !== undefined && { preview_url }) },
  },
});

/** The contract's `language` is a string; the upstream expects an object. */
export function templateContent({ template }: { template?: Json | undefined }): Content {
  const { name, language, components } = template ?? {};
  const missing = [
    ...(typeof name === 'string' && name.trim() ? [] : ['template.name']),
    ...(typeof language === 'string' && language.trim() ? [] : ['template.language']),
  ];
  if (missing.length > 0) throw missingFields(missing);
  if (components !== undefined && !Array.isArray(components)) {
    throw invalidField('template.components', 'must be an array');
  }
  return {
    kind: 'template',
    template: { name: name as string, language: language as string },
    body: {
      type: 'template',
      template: {
        name,
        language: { code: language },
        ...(components !== undefined && { components }),
      },
    },
  };
}

const locationContent = ({
  latitude,
  longitude,
  name,
  address,
}: Pick<SendLocationRequest, 'latitude' | 'longitude' | 'name' | 'address'>): Content => ({
  kind: 'location',
  body: { type: 'location', location: { latitude, longitude, name, address } },
});

/** Passed to the upstream unchanged; only the number of cards and the name of each are checked. */
export function contactsContent({ contacts }: { contacts: Json[] }): Content {
  if (contacts.length === 0) throw missingFields(['contacts']);
  if (contacts.length > CONTACT_CARDS_MAX) {
    throw invalidField('contacts', `must have at most ${CONTACT_CARDS_MAX} items`);
  }
  for (const [index, { name }] of contacts.entries()) {
    const formatted_name = (name as Json | null | undefined)?.['formatted_name'];
    if (typeof formatted_name !== 'string' || formatted_name.trim() === '') {
      throw missingFields([`contacts[${index}].name.formatted_name`]);
    }
  }
  return { kind: 'contacts', body: { type: 'contacts', contacts } };
}

const reactionContent = ({
  message_id,
  emoji,
}: Pick<SendReactionRequest, 'message_id' | 'emoji'>): Content => ({
  kind: 'reaction',
  body: { type: 'reaction', reaction: { message_id, emoji } },
});

/** Passed to the upstream unchanged; only the limits of the contract are checked. */
function interactiveContent({ interactive }: { interactive?: Json | undefined }): Content {
  if (!interactive) throw missingFields(['interactive']);
  checkInteractiveLimits(interactive);
  return { kind: 'interactive', body: { type: 'interactive', interactive } };
}

const BUTTONS_MAX = 3;
const ROWS_MAX = 10;

function checkInteractiveLimits({ type, action }: Json): void {
  const { buttons, sections } = (
    typeof action === 'object' && action !== null ? action : {}
  ) as Json;
  if (type === 'button' && Array.isArray(buttons) && buttons.length > BUTTONS_MAX) {
    throw invalidField(
      'interactive.action.buttons',
      `must have at most ${BUTTONS_MAX} reply buttons`,
    );
  }
  if (type !== 'list' || !Array.isArray(sections)) return;
  for (const [index, section] of sections.entries()) {
    const rows = (section as Json | null)?.['rows'];
    if (Array.isArray(rows) && rows.length > ROWS_MAX) {
      throw invalidField(
        `interactive.action.sections[${index}].rows`,
        `must have at most ${ROWS_MAX} rows`,
      );
    }
  }
}

const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'];

/** Contract 7.1: `id` or `link`, exactly one; no `filename` on images; other keys pass through. */
function mediaContent({ type, media }: Pick<SendMediaRequest, 'type' | 'media'>): Content {
  if (!MEDIA_TYPES.includes(type)) {
    throw invalidField('type', `must be one of ${MEDIA_TYPES.join(', ')}`);
  }
  if (!media) throw missingFields(['media']);
  const named = ['id', 'link'].filter((key) => media[key] !== undefined && media[key] !== null);
  if (named.length !== 1) throw invalidField('media', 'must have either id or link, and not both');
  const source = media[named[0] as string];
  if (typeof source !== 'string' || source.trim() === '') {
    throw invalidField(`media.${named[0] as string}`, 'must be a non-blank string');
  }
  if (type === 'image' && 'filename' in media) {
    throw invalidField('media.filename', 'is not allowed for an image');
  }
  return { kind: type, body: { type, [type]: media } };
}

/** One function for each kind of message, from the request of its RPC. */
export const CONTENT = {
  text: textContent,
  template: templateContent,
  media: mediaContent,
  interactive: interactiveContent,
  location: locationContent,
  contacts: contactsContent,
  reaction: reactionContent,
};

/** `body` is that of the send endpoint, which the gateway has checked against its schema. */
export function contentOf(kind: string, body: Json): Content {
  if (!Object.hasOwn(CONTENT, kind)) throw new Error(`no such kind of message: ${kind}`);
  const read = CONTENT[kind as keyof typeof CONTENT] as (request: Json) => Content;
  return read(body);
}
