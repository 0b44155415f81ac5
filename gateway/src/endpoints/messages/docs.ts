import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const sendResult = is.record(
  {
    message_id: is.text(
      'wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI',
      'ID of the message. Every status event of the message carries it.',
    ),
    messages: is.list(
      is.record({ id: is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI', 'Same as `message_id`.') }),
    ),
    contacts: is.list({
      ...is.record(
        {
          input: is.text('15550100777', 'Recipient as the upstream received it.'),
          wa_id: is.text(
            '15550100777',
            'Platform ID of the recipient. Only for sends to a phone number.',
          ),
          user_id: is.text('US.4Qm7Zr81Kd02', 'BSUID of the recipient. Only for sends to a BSUID.'),
        },
        { optional: ['wa_id', 'user_id'] },
      ),
      examples: [{ input: '15550100777', wa_id: '15550100777' }],
    }),
    message_status: is.open(
      ['held_for_quality_assessment'],
      'Present only if delivery is paced; treat the message as delivered only after its `message.sent` or `message.delivered` event. Absent means normal delivery.',
    ),
  },
  { optional: ['message_status'], title: 'SendResult' },
);

const SEND_CODES = ['NO_ACTIVE_WABA', 'PAYMENT_FAILED', 'PAYMENT_ACTION_REQUIRED'] as const;
const ACCEPTED =
  'A success means that the upstream accepted the message. Delivery, read receipts and failures arrive as events with the same `message_id`. After a 502 with `details.outcome` `unknown` the message may have been sent: do not retry unless you sent an `Idempotency-Key`.';

const sent = (example: Record<string, unknown>): RowDocs => ({
  answer: sendResult,
  example,
  codes: SEND_CODES,
  notes: ACCEPTED,
});

export const sendText = sent({ to: '15550100777', text: 'Your order is on its way.' });

export const sendTemplate: RowDocs = {
  ...sent({
    to: '15550100777',
    template: {
      name: 'order_update',
      language: 'en_US',
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: '4711' },
          ],
        },
      ],
    },
  }),
  codes: [...SEND_CODES, 'AUTH_TEMPLATE_NEEDS_PHONE'],
};

export const sendMedia = sent({
  to: '15550100777',
  type: 'image',
  media: { link: 'https://example.com/plant.jpg', caption: 'A plant' },
});

export const sendInteractive = sent({
  to: '15550100777',
  interactive: {
    type: 'button',
    body: { text: 'Shall we deliver on Monday?' },
    action: {
      buttons: [
        { type: 'reply', reply: { id: 'yes', title: 'Yes' } },
        { type: 'reply', reply: { id: 'no', title: 'No' } },
      ],
    },
  },
});

export const sendLocation = sent({
  to: '15550100777',
  latitude: 52.5163,
  longitude: 13.3777,
  name: 'Our shop',
  address: '1 Example Street',
});

export const sendReaction = sent({
  to: '15550100777',
  message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ',
  emoji: '👍',
});

export const markRead: RowDocs = {
  answer: is.nothing,
  example: { message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ' },
  codes: SEND_CODES,
};
