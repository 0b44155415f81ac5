import { object, text } from '../endpoints/parts/inputs';

const KEY_MAX = 200;
const URL_MAX = 2_048;

export const openSession = object({ partner_key: text(KEY_MAX, 'the partner key') }, [
  'partner_key',
]);

export const updateSettings = object({
  webhook_url: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: URL_MAX,
    description: 'HTTPS and public; null to send no events',
  },
});

export const rotateSecret = object({
  overlap_hours: {
    type: 'integer',
    minimum: 0,
    maximum: 720,
    default: 24,
    description: 'hours for which deliveries are signed with the old secret too',
  },
});

export const openCardPage = object({
  return_url: text(URL_MAX, 'where the browser goes afterwards: an address of the gateway'),
});
