import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const sendResult = is.record(
  {
    message_id: is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI', 'key of the status events'),
    messages: is.list(is.record({ id: is.text('wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI') })),
    contacts: is.list({
      ...is.record(
        {
          input: is.text('15550100777'),
          wa_id: is.text('15550100777', 'of a send to a phone number'),
          user_id: is.text('US.4Qm7Zr81Kd02', 'of a send to a BSUID'),
        },
        { optional: ['wa_id', 'user_id'] },
      ),
      examples: [{ input: '15550100777', wa_id: '15550100777' }],
    }),
    message_status: is.open(
      ['held_for_quality_assessment'],
      'only when delivery is paced; absent means normal delivery',
    ),
  },
  { optional: ['message_status'], title: 'SendResult' },
);

const SEND_CODES = ['NO_ACTIVE_WABA', 'PAYMENT_FAILED', 'PAYMENT_ACTION_REQUIRED'] as const;
const ACCEPTED =
  'Success means that the upstream has accepted the message. What becomes of it arrives as events with the same `message_id`. An answer 502 with `details.outcome` `unknown` must not be repeated blindly: use an Idempotency-Key.';

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
