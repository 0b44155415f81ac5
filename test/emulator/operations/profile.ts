// The business profile of a number.
import { numberOf, routesOf, type Call } from '../core';
import { upstreamError } from '../errors';
import { selectFields, type FieldRules } from '../fields';
import type { BusinessNumber, JsonObject } from '../types';
import { requireOneOf, requireProduct, SUCCESS } from './parameters';
import { words } from '../../testkit/words';

export const profileRoutes = routesOf('whatsapp_business_messaging', {
  'GET /:number/whatsapp_business_profile': readProfile,
  'POST /:number/whatsapp_business_profile': writeProfile,
});

const PROFILE_LENGTHS: Readonly<Record<string, number>> = {
  about: 139,
  address: 256,
  description: 512,
  email: 128,
};
const VERTICALS = words(`
  OTHER AUTO BEAUTY APPAREL EDU ENTERTAIN EVENT_PLAN FINANCE GROCERY GOVT HOTEL HEALTH NONPROFIT
  PROF_SERVICES RETAIL TRAVEL RESTAURANT ALCOHOL ONLINE_GAMBLING PHYSICAL_GAMBLING OTC_DRUGS
  MATRIMONY_SERVICE
`);
const WEBSITES_MAX = 2;
const WEBSITE_LENGTH_MAX = 256;

const PROFILE_RULES: FieldRules = {
  node_type: 'BusinessProfile',
  defaults: ['messaging_product', 'about'],
  known: ['address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical'],
};

function readProfile(call: Call): JsonObject {
  const { profile } = numberOf(call);
  const shown = selectFields({ ...profile }, call.query, PROFILE_RULES);
  return { data: [{ ...shown, messaging_product: 'whatsapp' }] };
}

function writeProfile(call: Call): JsonObject {
  const number = numberOf(call);
  const { body } = call;
  requireProduct(body);
  for (const [name, length_max] of Object.entries(PROFILE_LENGTHS)) {
    const value = body[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value.length > length_max) {
      throw upstreamError(131009, `${name} must be a string of at most ${length_max} characters`);
    }
  }
  if (body['about'] === '') throw upstreamError(131009, 'about must have 1 to 139 characters');
  if (body['email'] && !/^\S+@\S+$/.test(String(body['email']))) {
    throw upstreamError(131009, 'email is not a valid address');
  }
  if (body['vertical'] !== undefined) requireOneOf(body['vertical'], 'vertical', VERTICALS);
  checkWebsites(body['websites']);
  saveProfile(number, body);
  return SUCCESS;
}

function checkWebsites(websites: unknown): void {
  if (websites === undefined) return;
  const ok =
    Array.isArray(websites) &&
    websites.length <= WEBSITES_MAX &&
    websites.every(
      (site) =>
        typeof site === 'string' &&
        /^https?:\/\/\S+$/i.test(site) &&
        site.length <= WEBSITE_LENGTH_MAX,
    );
  if (!ok) throw upstreamError(131009, 'websites must hold up to 2 URLs with http or https');
}

/** Changes only the fields sent; an empty field is omitted from the answer. */
function saveProfile(number: BusinessNumber, body: JsonObject): void {
  for (const name of [...Object.keys(PROFILE_LENGTHS), 'websites', 'vertical']) {
    const value = body[name];
    if (value === undefined) continue;
    if (value === '' || (Array.isArray(value) && value.length === 0)) delete number.profile[name];
    else number.profile[name] = value;
  }
  const handle = body['profile_picture_handle'];
  if (typeof handle === 'string') {
    number.profile['profile_picture_url'] = `https://pictures.example.org/${number.id}`;
  }
}
