import {
  broadcastId,
  cursor,
  id,
  instant,
  limit,
  object,
  RECIPIENT_MAX,
  text,
  wamid,
} from '../parts/inputs';
import { person } from '../parts/rules';

const NAME_MAX = 64;

const number = 'ID of a number.';

export const listMessages = object({
  phone_number_id: id(`${number} Only messages that it sent.`),
  message_id: wamid('Only the message with this ID.'),
  recipient: {
    ...text(RECIPIENT_MAX, 'Only messages to this phone number or BSUID.'),
    published: person,
  },
  status: {
    type: 'string',
    enum: ['accepted', 'sent', 'delivered', 'read', 'failed'],
    description: 'Only messages in this state.',
  },
  kind: text(NAME_MAX, 'Only messages of this kind: `text`, `template`, `image` and so on.'),
  category: text(
    NAME_MAX,
    'Only messages that the upstream priced in this category: `marketing`, `utility` and so on.',
  ),
  broadcast_id: broadcastId('Only the messages of this broadcast.'),
  from: instant('Only messages sent at this time or later.'),
  to: instant('Only messages sent at this time or earlier.'),
  limit: limit(50, 200),
  cursor: cursor('Returns the next page: `paging.cursors.after` of the current one.'),
});

export const getTimeline = object({
  phone_number_id: id(
    `${number} Only a message that this number sent or received. Without it, all of your numbers are searched, or those of \`x-waba-id\`.`,
  ),
});
