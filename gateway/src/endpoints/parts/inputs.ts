// Building blocks of request schemas. Descriptions are sentences: the reference prints them.
import { RECIPIENT_MISSING } from '@bmg/common/messages';
import { atLeastOne, fileType, fileUrl, quoted as quotedRule, recipient } from './rules';
import {
  WHOLE_MAX,
  type Keywords,
  type ObjectSchema,
  type Properties,
  type Schema,
  type Typed,
} from './schema';

/** No slash, dot or space: an id can never lead to another upstream path. */
const ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';
const CURSOR_MAX = 2_048;
/** The form of our cursors, in requests and in answers. */
export const CURSOR_PATTERN = `^[A-Za-z0-9_-]{1,${CURSOR_MAX}}$`;
/** Longest phone number or BSUID as partners may write it. */
export const RECIPIENT_MAX = 200;
const URL_MAX = 2_048;
const IDS_MAX = 100;
const OVERLAP_HOURS_MAX = 720;
const MIME_TYPE_MAX = 255;

export const text = (maxLength: number, description?: string): Typed<'string'> => ({
  type: 'string',
  maxLength,
  ...(description && { description }),
});

/** A text with one of these values. */
export const choice = <const V extends readonly string[]>(
  values: V,
  description?: string,
  fallback?: V[number],
) =>
  ({
    type: 'string',
    enum: values,
    ...(fallback !== undefined && { default: fallback }),
    ...(description && { description }),
  }) as const;

export const whole = (
  minimum: number,
  maximum: number,
  description: string,
  fallback?: number,
): Typed<'integer'> => ({
  type: 'integer',
  minimum,
  maximum,
  ...(fallback !== undefined && { default: fallback }),
  description,
});

export const id = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: ID_PATTERN,
  errorMessage: 'must be an ID of 1 to 64 letters, digits, dashes and underscores',
  description,
});

export const broadcastId = (description: string): Typed<'integer'> =>
  whole(1, WHOLE_MAX, description);

export const wamid = (description: string): Typed<'string'> => text(512, description);

/** A cursor of our own: opaque to the caller. */
export const cursor = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: CURSOR_PATTERN,
  errorMessage: 'must be a cursor that this endpoint returned',
  description,
});

/** The cursor of the next page, which `paging` of an answer has. */
export const nextCursor = cursor(
  'Returns the next page: `paging.cursors.after` of the current one.',
);

/** IDs to which something is limited; null stands for no limit. */
export const idsOrNull = (items: string, description: string) =>
  ({
    type: ['array', 'null'],
    items: id(items),
    minItems: 1,
    maxItems: IDS_MAX,
    description,
  }) as const;

/** How long the secret before a rotation stays valid. `does`: what it still does. */
export const overlapHours = (does: string) =>
  object({
    overlap_hours: whole(
      0,
      OVERLAP_HOURS_MAX,
      `Hours for which the old secret ${does} as well. 0: it stops at once.`,
      24,
    ),
  });

export const object = <
  const P extends Properties,
  const R extends ReadonlyArray<keyof P & string> = readonly [],
>(
  properties: P,
  required?: R,
): ObjectSchema<P, R> => ({
  type: 'object',
  properties,
  required: required ?? ([] as readonly string[] as R),
});

/** A body that has to name one of its properties; the service refuses one that names none. */
export const notEmpty = <const P extends Properties>(properties: P) => ({
  ...object(properties),
  published: { allOf: [atLeastOne(Object.keys(properties))] },
});

export const limit = (fallback: number | undefined, lowerTo: number): Typed<'integer'> => ({
  type: 'integer',
  minimum: 1,
  maximum: lowerTo,
  lowerTo,
  ...(fallback !== undefined && { default: fallback }),
  description: `Page size. The maximum is ${lowerTo}; a larger value is lowered to it.`,
});

const LEAP_YEAR = '(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
/** A day of the calendar: Date would read 30 February as a day in March. */
export const DAY =
  '(\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))' +
  `|${LEAP_YEAR}-02-29)`;
const HOUR = '([01]\\d|2[0-3])';
const MINUTE = '[0-5]\\d';
export const TIME = `[Tt]${HOUR}:${MINUTE}(:${MINUTE}(\\.\\d{1,9})?)?`;
/** A plus sign sent without URL encoding arrives as a space. */
export const QUERY_INSTANT = `${DAY}${TIME}([Zz]|[+ -]${HOUR}:${MINUTE})`;

/** RFC 3339. */
export const instant = (description: string): Typed<'string'> => ({
  type: 'string',
  pattern: `^${QUERY_INSTANT}$`,
  errorMessage: 'must be an RFC 3339 date-time with a time zone, for example 2026-09-01T12:00:00Z',
  description,
});

/** Pages beyond it would take the database too long. */
const OFFSET_MAX = 1_000_000;

export const offset = whole(0, OFFSET_MAX, 'Number of items to skip.', 0);

/** More than any template has: a header, a body, a footer, and a carousel or ten buttons. */
const COMPONENTS_MAX = 50;

/** Components of a template, whose content only the upstream knows. */
export const components = (
  description: string,
): Keywords & { type: 'array'; items: { type: 'object' } } => ({
  type: 'array',
  maxItems: COMPONENTS_MAX,
  items: { type: 'object' },
  description,
});

/** Query of a list that the upstream pages by cursor. */
export const page = (limit_max: number) =>
  object({
    limit: limit(undefined, limit_max),
    after: text(CURSOR_MAX, 'Returns the next page: `paging.cursors.after` of the current one.'),
    before: text(
      CURSOR_MAX,
      'Returns the previous page: `paging.cursors.before` of the current one.',
    ),
  });

/** Contract 2.4: another number of the same business account. */
export const otherNumber = {
  phone_number_id: id(
    'ID of another number of the same business account. Defaults to the number of the request.',
  ),
};

/** Irreversible actions: only `true` confirms, any other value is CONFIRMATION_REQUIRED. */
export const confirm: Keywords & { const: true } = {
  const: true,
  errorCode: 'CONFIRMATION_REQUIRED',
  errorMessage: 'this action cannot be undone: send confirm: true to confirm it',
  description: 'Must be `true`, because the action cannot be undone.',
};

/** A file that the service fetches from the partner. */
export const file = (types: readonly string[]) =>
  object(
    {
      url: {
        ...text(URL_MAX, 'Public HTTPS URL of the file. The file name is taken from its path.'),
        published: fileUrl,
      },
      mime_type: {
        ...text(MIME_TYPE_MAX, 'Content type of the file, for example `image/jpeg`.'),
        published: fileType(types),
      },
    },
    ['url', 'mime_type'],
  );

const recipientFields = {
  to: text(RECIPIENT_MAX, 'Recipient: a phone number in international format, or a BSUID.'),
  user_id: text(RECIPIENT_MAX, 'Recipient: a BSUID. Ignored if `to` is set.'),
  recipient: text(RECIPIENT_MAX, 'Alias of `user_id`.'),
};

/** Contract 4.1 to 4.4: at least one of three fields; the service decides which one wins. */
export const withRecipient = <
  const P extends Properties,
  const R extends ReadonlyArray<keyof P & string>,
>(
  properties: P,
  required: R,
  rules: Schema[] = [],
): ObjectSchema<typeof recipientFields & P, R> => ({
  type: 'object',
  properties: { ...recipientFields, ...properties },
  required,
  requiredOneOf: Object.keys(recipientFields),
  requiredOneOfMessage: RECIPIENT_MISSING,
  published: { allOf: [recipient, ...('context' in properties ? [quotedRule] : []), ...rules] },
});

const quoted: Keywords = {
  description: 'Quotes the message with this `message_id`.',
  published: { type: ['string', 'null'] },
};

/** The three ways to quote a message. Their content is checked by `messages/quote.ts`. */
export const quote: Record<'context' | 'context_message_id' | 'reply_to', Keywords> = {
  context: {
    description:
      'Quotes a message: `{message_id}`. Takes precedence over `context_message_id` and `reply_to`.',
    published: {
      ...object({ message_id: wamid('ID of the quoted message.') }, ['message_id']),
      type: ['object', 'null'],
      title: 'QuotedMessage',
    },
  },
  context_message_id: quoted,
  reply_to: quoted,
};
