// Control requests for the whole emulator: reset, state, configuration, accounts, numbers, tokens,
// sign-up codes.
import { buildAccount, buildNumber, buildToken } from './builders';
import {
  bad,
  ControlError,
  flag,
  listOf,
  number,
  onlyKeys,
  text,
  texts,
  theAccount,
  theNumber,
  type ControlCall,
  type ControlRoute,
} from './control-parts';
import type { EmulatorConfig } from './config';
import { isObject } from './operations/parameters';
import { resetCore } from './reset';
import { WORLD_MAX } from './seed';
import { seedTemplates } from './seed-templates';
import type { Account, BusinessNumber, JsonObject, Scope, Token } from './types';

const CODE_LIFETIME_MS = 30_000;

export const controlWorldRoutes: readonly ControlRoute[] = [
  { method: 'POST', path: 'reset', handler: reset },
  { method: 'GET', path: 'state', handler: state },
  { method: 'POST', path: 'config', handler: changeConfig },
  { method: 'GET', path: 'config', handler: ({ core }) => ({ ...core.config }) },
  { method: 'POST', path: 'accounts', status: 201, handler: createAccount },
  { method: 'PATCH', path: 'accounts/*', handler: patchAccount },
  { method: 'POST', path: 'numbers', status: 201, handler: createNumber },
  {
    method: 'GET',
    path: 'numbers/*',
    handler: (call) => showNumber(theNumber(call, call.parts[1])),
  },
  { method: 'PATCH', path: 'numbers/*', handler: patchNumber },
  { method: 'POST', path: 'tokens', status: 201, handler: createToken },
  { method: 'POST', path: 'codes', status: 201, handler: createCode },
];

function reset({ core, body }: ControlCall): JsonObject {
  const { world = 0 } = body;
  if (!Number.isInteger(world) || (world as number) < 0 || (world as number) > WORLD_MAX) {
    throw new ControlError(400, `world must be an integer from 0 to ${WORLD_MAX}`);
  }
  resetCore(core, world as number);
  return { ok: true };
}

function state({ core }: ControlCall): JsonObject {
  const { accounts, tokens } = core.state;
  return {
    api_version: core.config.api_version,
    app_id: core.config.app_id,
    webhook_url: core.config.webhook_url,
    accounts: [...accounts.values()].map((account) => ({
      waba_id: account.id,
      name: account.name,
      business_id: account.portfolio.id,
      subscribed: account.subscribed,
      templates: account.templates.size,
      flows: account.flows.length,
      numbers: core.state.numbersOf(account).map(showNumber),
      tokens: [...tokens.values()]
        .filter(({ waba_ids }) => waba_ids !== 'all' && waba_ids.includes(account.id))
        .map(({ token }) => token),
    })),
    media: core.state.media.size,
    groups: core.state.groups.size,
    requests_logged: core.journal.requests.size,
    messages: core.journal.summary()['total'],
    faults: core.faults.list().length,
    limits: core.limits.describe(),
    webhook_behaviour: core.behaviour.current as unknown as JsonObject,
    webhooks: core.webhooks.describe(),
  };
}

function showNumber(record: BusinessNumber): JsonObject {
  const { qr_codes, blocked, registrations, code_requests, ...rest } = record;
  return {
    ...rest,
    qr_codes: qr_codes.size,
    blocked: blocked.size,
    registrations: registrations.length,
    code_requests: code_requests.length,
  };
}

const CONFIG_KEYS = [
  'webhook_url',
  'verify_token',
  'app_secret',
  'public_url',
  'config_id',
] as const;

function changeConfig({ core, body }: ControlCall): JsonObject {
  onlyKeys(body, CONFIG_KEYS);
  for (const key of CONFIG_KEYS) {
    const value = text(body, key);
    if (value !== undefined) (core.config as EmulatorConfig)[key] = value;
  }
  return { ...core.config };
}

// --- accounts and numbers ---

const ACCOUNT_KEYS = [
  'name',
  'currency',
  'timezone_id',
  'country',
  'account_review_status',
  'business_verification_status',
  'ownership_type',
  'is_enabled_for_insights',
  'subscribed',
  'solutions',
  'schedules',
  'activities',
  'assigned_users',
] as const;

function createAccount(call: ControlCall): JsonObject {
  const { core, body } = call;
  onlyKeys(body, [...ACCOUNT_KEYS, 'id', 'business_id', 'numbers', 'tokens', 'templates']);
  const id = text(body, 'id') ?? core.ids.numeric('account');
  if (core.state.kindOf(id)) throw bad(`The id ${id} is taken`);
  const account = core.state.addAccount(buildAccount({ id }));
  applyAccount(account, body);
  const business_id = text(body, 'business_id');
  if (business_id) account.portfolio = { ...account.portfolio, id: business_id };
  if (body['templates'] !== 'none') {
    seedTemplates(core.state, id, () => core.ids.numeric('template'));
  }
  const numbers = listOf(body, 'numbers').map((input) => addNumber(call, id, input));
  const wanted = listOf(body, 'tokens');
  const tokens = (wanted.length > 0 ? wanted : [{}]).map((input) =>
    addToken(call, { waba_ids: [id], ...input }),
  );
  return {
    waba_id: id,
    business_id: account.portfolio.id,
    phone_number_ids: numbers.map((record) => record.id),
    tokens: tokens.map(({ token }) => token),
  };
}

function applyAccount(account: Account, body: JsonObject): void {
  const record = account as unknown as JsonObject;
  for (const key of ACCOUNT_KEYS) {
    const value = body[key];
    if (value === undefined) continue;
    if (typeof value !== typeof record[key]) throw bad(`${key} has the wrong type`);
    record[key] = value;
  }
}

function patchAccount(call: ControlCall): JsonObject {
  onlyKeys(call.body, ACCOUNT_KEYS);
  const account = theAccount(call, call.parts[1]);
  applyAccount(account, call.body);
  return { waba_id: account.id, subscribed: account.subscribed, name: account.name };
}

/** Its identity, and what only requests change. */
const FIXED_NUMBER_KEYS = [
  ...['id', 'waba_id', 'registrations', 'code_requests'],
  ...['qr_codes', 'blocked', 'group_ids'],
];
const NULLABLE_NUMBER_KEYS = ['pin', 'verification_code', 'rate_per_sec', 'commerce'];
const NUMBER_KEYS = Object.keys(buildNumber({ id: '', waba_id: '' })).filter(
  (key) => !FIXED_NUMBER_KEYS.includes(key),
);
const GROUPS_STATES = ['enabled', 'disabled', 'ineligible'];

function addNumber(call: ControlCall, waba_id: string, body: JsonObject): BusinessNumber {
  onlyKeys(body, ['id', 'waba_id', ...NUMBER_KEYS]);
  const { core } = call;
  const id = text(body, 'id') ?? core.ids.numeric('number');
  if (core.state.kindOf(id)) throw bad(`The id ${id} is taken`);
  const record = buildNumber({
    id,
    waba_id,
    display_phone_number: `+1 555-03${String(core.state.numbers.size).padStart(5, '0')}`,
  });
  applyNumber(record, body);
  return core.state.addNumber(record);
}

function applyNumber(record: BusinessNumber, body: JsonObject): void {
  const fields = record as unknown as JsonObject;
  for (const key of NUMBER_KEYS) {
    let value = body[key];
    if (value === undefined) continue;
    if (key === 'onboarded_at' && typeof value === 'string') value = Date.parse(value);
    if (key === 'groups' && !GROUPS_STATES.includes(String(value))) {
      throw bad(`groups must be one of ${GROUPS_STATES.join(', ')}`);
    }
    if (typeof value !== typeof fields[key] && !NULLABLE_NUMBER_KEYS.includes(key)) {
      throw bad(`${key} has the wrong type`);
    }
    fields[key] = value;
  }
}

function createNumber(call: ControlCall): JsonObject {
  const account = theAccount(call, text(call.body, 'waba_id'));
  return showNumber(addNumber(call, account.id, call.body));
}

function patchNumber(call: ControlCall): JsonObject {
  const record = theNumber(call, call.parts[1]);
  onlyKeys(call.body, NUMBER_KEYS);
  applyNumber(record, call.body);
  return showNumber(record);
}

// --- tokens and codes ---

const SCOPES: readonly Scope[] = ['whatsapp_business_management', 'whatsapp_business_messaging'];

function createToken(call: ControlCall): JsonObject {
  return { ...addToken(call, call.body) };
}

/** Replaces an existing token, so that a test can invalidate it. */
function addToken({ core }: ControlCall, body: JsonObject): Token {
  onlyKeys(body, [
    'token',
    'waba_ids',
    'scopes',
    'type',
    'user_id',
    'lists_targets',
    'expires_in_s',
    'invalid',
  ]);
  const name = text(body, 'token') ?? core.ids.token();
  const before = core.state.tokens.get(name) ?? buildToken({ token: name });
  const scopes = texts(body, 'scopes') ?? before.scopes;
  if (!scopes.every((scope) => (SCOPES as string[]).includes(scope))) {
    throw bad(`scopes must be an array of ${SCOPES.join(', ')}`);
  }
  const expires_in_s = number(body, 'expires_in_s');
  const token: Token = {
    ...before,
    waba_ids: body['waba_ids'] === 'all' ? 'all' : (texts(body, 'waba_ids') ?? before.waba_ids),
    scopes: scopes as Scope[],
    type: text(body, 'type') ?? before.type,
    user_id: text(body, 'user_id') ?? before.user_id,
    lists_targets: flag(body, 'lists_targets') ?? before.lists_targets,
    expires_at:
      expires_in_s === undefined
        ? before.expires_at
        : Math.floor(Date.now() / 1000) + Math.floor(expires_in_s),
    invalid: invalidity(body['invalid'], before),
  };
  core.state.tokens.set(name, token);
  return token;
}

function invalidity(value: unknown, before: Token): Token['invalid'] {
  if (value === undefined) return before.invalid;
  if (value === false || value === null) return null;
  const given = isObject(value) ? value : {};
  return {
    code: 190,
    subcode: typeof given['subcode'] === 'number' ? given['subcode'] : 460,
    message:
      typeof given['message'] === 'string'
        ? given['message']
        : 'Error validating access token: The session has been invalidated.',
  };
}

function createCode({ core, body }: ControlCall): JsonObject {
  onlyKeys(body, ['token', 'code', 'expires_in_ms', 'expired', 'used']);
  const token = text(body, 'token') ?? 'EMULATED-TOKEN-1';
  if (!core.state.tokens.has(token)) throw new ControlError(404, 'token does not exist');
  const lifetime = flag(body, 'expired') ? -1 : (number(body, 'expires_in_ms') ?? CODE_LIFETIME_MS);
  const code = {
    code: text(body, 'code') ?? core.ids.code(),
    token,
    expires_at: Date.now() + lifetime,
    used: flag(body, 'used') ?? false,
  };
  core.state.addCode(code);
  return { code: code.code, expires_at: new Date(code.expires_at).toISOString() };
}
