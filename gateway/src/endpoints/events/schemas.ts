import { id, instant, limit, object, RECIPIENT_MAX, text } from '../parts/inputs';
import * as rules from '../parts/rules';
import { WHOLE_MAX, type Typed } from '../parts/schema';

const NAMES_MAX_LENGTH = 2_000;
const NAMES_MAX = 50;
const NAME = '\\s*[a-z][a-z0-9_.]*\\s*';
const WAIT_MAX_S = 20;

const names = {
  ...text(
    NAMES_MAX_LENGTH,
    'Only events with these names, comma-separated: `message.received,message.failed`.',
  ),
  pattern: `^${NAME}(,${NAME}){0,${NAMES_MAX - 1}}$`,
  errorMessage: `must be 1 to ${NAMES_MAX} event names, comma-separated`,
};

export const position = (description: string): Typed<'integer'> => ({
  type: 'integer',
  minimum: 0,
  maximum: WHOLE_MAX,
  description,
});

export const listEvents = object({
  after: position(
    'Returns events after this position: `next` of the last answer. 0 is the beginning of the log. Defaults to the oldest event that is kept.',
  ),
  limit: limit(100, 1_000),
  event: names,
  contact: {
    ...text(
      RECIPIENT_MAX,
      'Only events of messages from or to this phone number or BSUID, and of this contact.',
    ),
    published: rules.person,
  },
  from: instant('Only events that entered the log at this time or later.'),
  to: instant('Only events that entered the log at this time or earlier.'),
  wait: {
    type: 'integer',
    minimum: 0,
    maximum: WAIT_MAX_S,
    default: 0,
    description:
      'Seconds to wait if there is no event yet. The answer comes as soon as there is one.',
  },
});

const EVENT_IDS_MAX = 1_000;

const replayed = object({
  from: instant('Replays the events that entered the log at this time or later.'),
  to: instant('Replays the events that entered the log at this time or earlier. Defaults to now.'),
  event_ids: {
    type: 'array',
    items: id('ID of an event.'),
    minItems: 1,
    maxItems: EVENT_IDS_MAX,
    description: 'Replays these events. Cannot be combined with `from` and `to`.',
  },
  event: names,
  endpoint_id: id('Replays to this webhook endpoint. Defaults to your webhook URL.'),
});

/** Either a period or ids: the service refuses both together. */
export const replayEvents = {
  ...replayed,
  requiredOneOf: ['from', 'event_ids'],
  requiredOneOfMessage: 'from or event_ids is required',
  published: { allOf: rules.replayed },
};
