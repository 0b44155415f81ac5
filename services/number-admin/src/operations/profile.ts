// The business profile of a number.
import { missingFields } from '@bmg/common/errors';
import { isObject, itemsOf, without, type Json } from '@bmg/common/upstream';
import type { Part } from '../tools';

const FIELDS = 'about,address,description,email,profile_picture_url,websites,vertical';
/** The fields that a partner may change (contract 11.1); others are ignored. */
const WRITABLE = ['about', 'address', 'email', 'websites'];

/** Flat in every example, nested one level deeper in the platform's schema: both are read. */
function readProfile(body: Json): Json {
  const [record = {}] = itemsOf(body);
  const nested = record['business_profile'];
  return without(isObject(nested) ? nested : record, 'messaging_product');
}

function writeProfile(profile: Json = {}): Json {
  const changes = WRITABLE.filter((name) => profile[name] !== undefined);
  if (changes.length === 0) {
    throw missingFields(WRITABLE, `at least one of ${WRITABLE.join(', ')} is required`);
  }
  return Object.fromEntries(changes.map((name) => [name, profile[name]]));
}

export const profile: Part<'getProfile' | 'updateProfile'> = {
  getProfile: {
    upstream: 'GET /{phone_number_id}/whatsapp_business_profile',
    query: { fields: FIELDS },
    reply: (body) => ({ fields: readProfile(body) }),
  },
  updateProfile: {
    upstream: 'POST /{phone_number_id}/whatsapp_business_profile',
    body: (request) => ({ messaging_product: 'whatsapp', ...writeProfile(request.profile) }),
  },
};
