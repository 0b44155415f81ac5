// Status and life cycle of a number. Each takes `phone_number_id` for another number of the
// account.
import { ApiError, rewrap } from '@bmg/common/errors';
import {
  LIMIT_FIELDS,
  limitTierOf,
  needTarget,
  readWithLimit,
  succeeded,
  without,
  type Json,
} from '@bmg/common/upstream';
import type { Part, Tools } from '../tools';
import { checkPin, choosePin, storePin } from '../pin';
import { outcome } from '../requests';

const STATUS_FIELDS = [
  'display_phone_number',
  'verified_name',
  'status',
  'quality_rating',
  'is_official_business_account',
  'is_pin_enabled',
  'name_status',
  'code_verification_status',
  'platform_type',
  'is_on_biz_app',
];

const CODE_NOTE =
  'do not repeat this in a loop: repeated requests block the number from requesting more codes';

/** The node with the limit under the contract's one name. */
function readStatus(body: Json): Json {
  const messaging_limit_tier = limitTierOf(body);
  return {
    ...without(body, ...LIMIT_FIELDS),
    ...(messaging_limit_tier !== null && { messaging_limit_tier }),
  };
}

/** Passes an upstream failure on with `retryable: false`. */
const neverRepeat =
  (note?: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.code !== 'UPSTREAM_ERROR') throw error;
    throw rewrap(error, {
      ...(note && { message: `${error.message}; ${note}` }),
      retryable: false,
      retry_after_s: undefined,
    });
  };

type Lifecycle =
  'requestCode' | 'verifyCode' | 'setTwoStepPin' | 'registerPhone' | 'deregisterPhone';

export const phone = (tools: Tools): Part<'getPhoneStatus' | Lifecycle> => ({
  async getPhoneStatus(request, call) {
    const body = await readWithLimit((limit_field) => {
      const fields = [...STATUS_FIELDS, limit_field].join(',');
      return tools.ask({ upstream: 'GET /{phone_number_id}', query: { fields } }, request, call);
    });
    return { fields: readStatus(body) };
  },
  async requestCode(request, call) {
    // Resolves the number first: that request may be repeated, the next one may not.
    await tools.numberOf(request, needTarget(request.target), call);
    const body = { code_method: request.code_method, language: request.language };
    return tools
      .ask({ upstream: 'POST /{phone_number_id}/request_code', body }, request, call)
      .then(outcome)
      .catch(neverRepeat(CODE_NOTE));
  },
  verifyCode: {
    upstream: 'POST /{phone_number_id}/verify_code',
    body: ({ code }) => ({ code }),
    secrets: ({ code }) => [code],
    reply: outcome,
  },
  async setTwoStepPin(request, call) {
    const { pin } = request;
    checkPin(pin);
    const target = needTarget(request.target);
    const phone_number_id = await tools.numberOf(request, target, call);
    succeeded(
      await tools.ask(
        { upstream: 'POST /{phone_number_id}', body: { pin }, secrets: [pin] },
        request,
        call,
      ),
    );
    return { pin_stored: await storePin(tools, { pin, target, phone_number_id }, call) };
  },
  async registerPhone(request, call) {
    if (request.pin !== undefined) checkPin(request.pin);
    const target = needTarget(request.target);
    const phone_number_id = await tools.numberOf(request, target, call);
    const pin = await choosePin(tools, { pin: request.pin, target, phone_number_id }, call);
    const body = { messaging_product: 'whatsapp', pin };
    // One attempt: a second one with another PIN would use up the attempts that are left.
    return outcome(
      await tools.ask(
        { upstream: 'POST /{phone_number_id}/register', body, secrets: [pin] },
        request,
        call,
      ),
    );
  },
  async deregisterPhone(request, call) {
    await tools.numberOf(request, needTarget(request.target), call);
    return tools
      .ask({ upstream: 'POST /{phone_number_id}/deregister' }, request, call)
      .then(outcome)
      .catch(neverRepeat());
  },
});
