// Control requests for the whole emulator: reset, state, configuration, accounts, numbers, tokens,
// sign-up codes.
import {
  bad,
  ControlError,
  flag,
  like,
  listOf,
  number,
  objects,
  oneOf,
  route,
  shape,
  text,
  theAccount,
  theNumber,
  type ControlCall,
  type Fields,
  type Input,
} from './control-parts';
import { resetCore } from './reset';
import { WORLD_MAX } from './seed';
import { seedTemplates } from './seed-templates';
import {
  buildAccount,
  buildNumber,
  buildToken,
  type BusinessNumber,
  type JsonObject,
  type Token,
} from './types';

/** The fields of a record that a request may set, each a value of the default's type. */
const fieldsOf = (defaults: object, fixed: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(defaults)
      .filter(([name]) => !fixed.includes(name))
      .map(([name, value]) => [name, like(value)]),
  );

const CONFIG = { webhook_url: text, verify_token: text, app_secret: text, config_id: text };
const ACCOUNT = fieldsOf(buildAccount({ id: '' }), [
  ...['id', 'portfolio', 'message_template_namespace', 'number_ids', 'templates', 'flows'],
  ...['analytics', 'template_creations'],
]);
const NUMBER = {
  /** Identity, and what only requests change, is fixed. */
  ...fieldsOf(buildNumber({ id: '', waba_id: '' }), [
    ...['id', 'waba_id', 'registrations', 'code_requests', 'qr_codes', 'blocked', 'group_ids'],
  ]),
  groups: oneOf('enabled', 'disabled', 'ineligible'),
};
const TOKEN = {
  ...{ token: text, lists_targets: flag, invalid: flag, expires_in_s: number() },
  scopes: listOf(oneOf('whatsapp_business_management', 'whatsapp_business_messaging')),
  waba_ids: (value: unknown, name: string): string[] | 'all' =>
    value === 'all' ? value : listOf(text)(value, name),
};
const NEW_NUMBER = { ...NUMBER, id: text, waba_id: text };
const NEW_ACCOUNT = { ...ACCOUNT, id: text, numbers: objects, tokens: listOf(shape(TOKEN)) };
const CODE = { token: text, code: text, expires_in_ms: number(), expired: flag, used: flag };

export const controlWorldRoutes = [
  route('POST reset', { world: number(0, WORLD_MAX) }, reset),
  route('GET state', {}, state),
  route('POST config', CONFIG, ({ core }, input) => ({ ...Object.assign(core.config, input) })),
  route('GET config', {}, ({ core }) => ({ ...core.config })),
  route('POST accounts', NEW_ACCOUNT, createAccount, 201),
  route('PATCH accounts/*', ACCOUNT, patchAccount),
  route('POST numbers', NEW_NUMBER, (call, input) => showNumber(addNumber(call, input)), 201),
  route('GET numbers/*', {}, (call) => showNumber(theNumber(call, call.parts[1]))),
  route('PATCH numbers/*', NUMBER, patchNumber),
  route('POST tokens', TOKEN, (call, input) => ({ ...addToken(call, input) }), 201),
  route('POST codes', CODE, createCode, 201),
];

export type ConfigInput = Input<typeof CONFIG>;
export type AccountInput = Input<typeof NEW_ACCOUNT> & JsonObject;
export type TokenInput = Input<typeof TOKEN>;
export type CodeInput = Input<typeof CODE>;

function reset({ core }: ControlCall, { world = 0 }: { world?: number | undefined }): JsonObject {
  if (!Number.isInteger(world)) throw bad('world must be an integer');
  resetCore(core, world);
  return { ok: true };
}

function state({ core }: ControlCall): JsonObject {
  const { accounts, tokens } = core.state;
  return {
    ...core.config,
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
    messages: core.journal.summary().total,
    faults: core.faults.list().length,
    limits: core.limits.settings,
    webhook_behaviour: core.behaviour.current,
    webhooks: core.webhooks.describe(),
  };
}

function showNumber(record: BusinessNumber): JsonObject {
  const { qr_codes, blocked, registrations, code_requests, ...rest } = record;
  const lists = { registrations: registrations.length, code_requests: code_requests.length };
  return { ...rest, ...lists, qr_codes: qr_codes.size, blocked: blocked.size };
}

function createAccount(call: ControlCall, input: AccountInput): JsonObject {
  const { core } = call;
  const { numbers = [], tokens = [{}], id = core.ids.numeric('account'), ...fields } = input;
  requireFree(call, id);
  const account = core.state.addAccount(Object.assign(buildAccount({ id }), fields));
  seedTemplates(core.state, id, () => core.ids.numeric('template'));
  return {
    waba_id: id,
    business_id: account.portfolio.id,
    phone_number_ids: numbers.map((one) => {
      return addNumber(call, { ...shape(NEW_NUMBER)(one, 'numbers'), waba_id: id }).id;
    }),
    tokens: tokens.map((one) => addToken(call, { waba_ids: [id], ...one }).token),
  };
}

function requireFree({ core }: ControlCall, id: string): void {
  if (core.state.kindOf(id)) throw bad(`The id ${id} is taken`);
}

function patchAccount(call: ControlCall, input: JsonObject): JsonObject {
  const account = Object.assign(theAccount(call, call.parts[1]), input);
  return { waba_id: account.id, subscribed: account.subscribed, name: account.name };
}

function addNumber(call: ControlCall, input: Input<typeof NEW_NUMBER>): BusinessNumber {
  const { state, ids } = call.core;
  const { id = ids.numeric('number'), ...fields } = input;
  requireFree(call, id);
  const waba_id = theAccount(call, input.waba_id).id;
  const display_phone_number = `+1 555-03${String(state.numbers.size).padStart(5, '0')}`;
  const record = buildNumber({ id, waba_id, display_phone_number });
  return state.addNumber(Object.assign(record, fields));
}

function patchNumber(call: ControlCall, input: JsonObject): JsonObject {
  return showNumber(Object.assign(theNumber(call, call.parts[1]), input));
}

/** Replaces an existing token, so that a test can invalidate it. */
function addToken({ core }: ControlCall, input: TokenInput): Token {
  const { token: name = core.ids.token(), expires_in_s, ...fields } = input;
  const token = { ...(core.state.tokens.get(name) ?? buildToken({ token: name })), ...fields };
  if (expires_in_s !== undefined) {
    token.expires_at = Math.floor(Date.now() / 1000) + Math.floor(expires_in_s);
  }
  core.state.tokens.set(name, token as Token);
  return token as Token;
}

function createCode({ core }: ControlCall, input: CodeInput): JsonObject {
  const { token = 'EMULATED-TOKEN-1', code = core.ids.code(), expired, used } = input;
  if (!core.state.tokens.has(token)) throw new ControlError(404, 'token does not exist');
  const lifetime_ms = expired ? -1 : input.expires_in_ms;
  const { expires_at } = core.state.addCode(code, token, lifetime_ms, used);
  return { code, expires_at: new Date(expires_at).toISOString() };
}
