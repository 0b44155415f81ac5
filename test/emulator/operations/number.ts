// The number node and its life cycle: codes, PIN, registration, deregistration.
import { numberOf, routesOf, type Call } from '../core';
import { invalid, upstreamError } from '../errors';
import { selectFields, type FieldRules } from '../fields';
import { requireRoom } from '../limits';
import type { BusinessNumber, JsonObject } from '../types';
import { numberHealth } from './health';
import { parameter, requiredText, requireOneOf, requireProduct, SUCCESS } from './parameters';
import { words } from '../../testkit/words';

const PIN = /^\d{6}$/;
const REGISTRATIONS_MAX = 10;
const REGISTRATION_WINDOW_MS = 72 * 3600 * 1000;
const PIN_FAILURES_MAX = 5;
const CODE_WINDOW_MS = 3600 * 1000;
const CODE_REQUESTS_MAX = 5;
/** The code in the emulated text message. */
const VERIFICATION_CODE = '123456';
const REGIONS = 'AU ID IN JP SG KR DE CH GB BR BH ZA AE CA'.split(' ');

const numberRules: FieldRules = {
  node_type: 'BusinessPhoneNumber',
  defaults: ['id', 'display_phone_number', 'verified_name', 'quality_rating'],
  known: words(`
    status name_status new_name_status code_verification_status platform_type host_platform
    throughput account_mode is_official_business_account is_pin_enabled is_on_biz_app
    is_preverified_number messaging_limit_tier whatsapp_business_manager_messaging_limit
    health_status webhook_configuration username country_code country_dial_code last_onboarded_time
    conversational_automation search_visibility eligibility_for_api_business_global_search
    unified_cert_status quality_score
  `),
  denied: ['certificate', 'new_certificate'],
};

export const numberRoutes = routesOf('whatsapp_business_management', {
  'GET /:number': (call) => numberNode(call, numberOf(call)),
  'POST /:number': change,
  'POST /:number/request_code': requestCode,
  'POST /:number/verify_code': verifyCode,
  'POST /:number/register': register,
  'POST /:number/deregister': deregister,
});

/** The fields of a number, for its node and the list of its account. */
export function numberNode(call: Call, number: BusinessNumber): JsonObject {
  const node = {
    ...number,
    throughput: { level: number.throughput_level },
    is_pin_enabled: number.pin !== null,
    whatsapp_business_manager_messaging_limit: number.messaging_limit_tier,
    host_platform: number.platform_type,
    new_name_status: 'NONE',
    is_preverified_number: false,
    quality_score: { score: number.quality_rating },
    last_onboarded_time: new Date(number.onboarded_at).toISOString().replace(/\.\d+Z$/, '+0000'),
    conversational_automation: number.automation,
    health_status: numberHealth(call, number),
    webhook_configuration: { application: call.core.config.webhook_url },
  };
  return selectFields(node, call.query, numberRules);
}

/** POST on the node sets the PIN. */
function change(call: Call): JsonObject {
  const number = numberOf(call);
  const pin = parameter(call, 'pin');
  if (pin === undefined) throw invalid('The parameter pin is required.');
  if (typeof pin !== 'string' || !PIN.test(pin)) throw invalid('Param pin must be 6 digits');
  number.pin = pin;
  number.pin_failures = 0;
  return SUCCESS;
}

function requestCode(call: Call): JsonObject {
  const number = numberOf(call);
  requireOneOf(requiredText(call, 'code_method'), 'code_method', ['SMS', 'VOICE']);
  if (!/^[a-z]{2,3}([_-][A-Za-z]{2,4})?$/.test(requiredText(call, 'language'))) {
    throw invalid('Param language is not a valid language code');
  }
  if (number.code_verification_status === 'VERIFIED') {
    throw invalid('The phone number is already verified', { subcode: 2388091 });
  }
  const refusal = invalid('Request code error', {
    subcode: 2388091,
    user_title: 'Too many codes requested',
    user_msg: 'Too many verification codes were requested. Wait some hours before the next one.',
  });
  requireRoom(number.code_requests, CODE_REQUESTS_MAX, CODE_WINDOW_MS, refusal);
  number.code_requests.push(Date.now());
  number.verification_code = VERIFICATION_CODE;
  return SUCCESS;
}

function verifyCode(call: Call): JsonObject {
  const number = numberOf(call);
  const code = requiredText(call, 'code');
  if (!/^\d+$/.test(code)) throw invalid('Param code must hold digits only');
  if (number.verification_code === null || code !== number.verification_code) {
    throw invalid('Verify code error', {
      subcode: 2388093,
      user_title: 'Code is wrong or expired',
      user_msg: 'The verification code is wrong or has expired. Request a new one.',
    });
  }
  number.verification_code = null;
  number.code_verification_status = 'VERIFIED';
  if (number.status === 'UNVERIFIED') number.status = 'PENDING';
  return SUCCESS;
}

function register(call: Call): JsonObject {
  const number = numberOf(call);
  requireProduct(call.body);
  const pin = requiredText(call, 'pin');
  if (!PIN.test(pin)) throw invalid('Param pin must be 6 digits');
  const { data_localization_region: region } = call.body;
  if (region !== undefined) requireOneOf(region, 'data_localization_region', REGIONS);
  countRegistration(number);
  if (number.code_verification_status !== 'VERIFIED') throw upstreamError(133006);
  checkPin(number, pin);
  number.pin = pin;
  number.registered = true;
  number.status = 'CONNECTED';
  number.platform_type = 'CLOUD_API';
  if (number.throughput_level === 'NOT_APPLICABLE') number.throughput_level = 'STANDARD';
  if (number.quality_rating === 'UNKNOWN') number.quality_rating = 'GREEN';
  return SUCCESS;
}

function checkPin(number: BusinessNumber, pin: string): void {
  if (number.pin_failures >= PIN_FAILURES_MAX) throw upstreamError(133008);
  const right = number.pin === null || number.pin === pin;
  number.pin_failures = right ? 0 : number.pin_failures + 1;
  if (!right) throw upstreamError(133005);
}

function countRegistration({ registrations }: BusinessNumber): void {
  requireRoom(registrations, REGISTRATIONS_MAX, REGISTRATION_WINDOW_MS, upstreamError(133016));
  registrations.push(Date.now());
}

function deregister(call: Call): JsonObject {
  const number = numberOf(call);
  if (number.is_on_biz_app) {
    throw invalid('Deregistration is not available for small-business API solutions');
  }
  if (!number.registered) throw upstreamError(133010);
  countRegistration(number);
  number.registered = false;
  number.status = 'DISCONNECTED';
  number.platform_type = 'NOT_APPLICABLE';
  return SUCCESS;
}
