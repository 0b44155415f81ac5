// The changes of the audit log as sentences: "Ada created the API key Shop". Each action of the
// log has a verb and names what it changes; the rest is the same for all. Pure.
import type { AuditRecord } from '../../api/types';

/** What the sentence of a record is made of. */
export type Recorded = Pick<
  AuditRecord,
  'action' | 'actor' | 'target' | 'fields' | 'before' | 'after' | 'outcome' | 'code' | 'count'
>;

/** The present name of a key, a person, an account or a number by its ID. */
export type NameOf = (id: string) => string | undefined;

type What = (record: Recorded, nameOf: NameOf) => string;

interface Sentence {
  /** `create`, `created`. */
  verb: readonly [base: string, past: string];
  what: What;
  /** Who did it, if the actor of the record is not known as that. */
  who?: string;
}

const ACTORS: Readonly<Record<string, string>> = {
  partner_key: 'The partner key',
  console: 'A holder of the partner key',
  sign_up_link: 'A sign-up link',
  operator: 'The operator',
};

/** `The operator`, `API key Shop`, `ada@example.com`. */
export function actorOf({ actor: { type, id, name } }: Pick<Recorded, 'actor'>): string {
  if (type === 'api_key') return `API key ${name ?? id ?? ''}`.trim();
  if (type === 'person') return name ?? `Person ${id ?? ''}`.trim();
  return ACTORS[type] ?? type.replace(/_/g, ' ');
}

const textAt = (values: Recorded['after'], field: string): string | undefined => {
  const value = values?.[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** `the API key Shop`: its name at that time, else its present name, else its ID. */
const the =
  (noun: string, id: string, field = 'name'): What =>
  ({ target, after, before }, nameOf) => {
    const known = target[id];
    const name =
      textAt(before, field) ?? textAt(after, field) ?? (known && (nameOf(known) ?? known));
    return name ? `the ${noun} ${name}` : articled(noun);
  };

const articled = (noun: string): string => `${/^(a|e|i|o)/i.test(noun) ? 'an' : 'a'} ${noun}`;

/** A text with what it names: words`the secret of ${endpoint}`. */
const words =
  (texts: TemplateStringsArray, ...whats: What[]): What =>
  (record, nameOf) =>
    texts.map((text, at) => text + (whats[at]?.(record, nameOf) ?? '')).join('');

/** `the profile of +15550100001`. */
const ofNumber =
  (words: string): What =>
  ({ target: { phone_number_id, waba_id } }, nameOf) => {
    const id = phone_number_id ?? waba_id;
    return id === undefined ? words : `${words} of ${nameOf(id) ?? id}`;
  };

const SHOWN_ITEMS = 4;

/** Undefined for what is too long or too deep to be read in a sentence. */
function shownValue(value: unknown): string | undefined {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number' || typeof value === 'string') return String(value);
  const is_list = Array.isArray(value) && value.length <= SHOWN_ITEMS;
  if (!is_list || !value.every((one) => typeof one === 'string')) return undefined;
  return value.length === 0 ? 'none' : value.join(' and ');
}

/** `: role from support to developer, name to Shop`. */
function changesOf({ fields, before, after }: Recorded): string {
  const changes = fields.map((field) => {
    const name = field.replace(/_/g, ' ');
    const [from, to] = [before, after].map((values) => {
      const is_kept = values !== null && values !== undefined && Object.hasOwn(values, field);
      return is_kept ? shownValue(values[field]) : undefined;
    });
    if (to === undefined) return name;
    return from === undefined || from === to ? `${name} to ${to}` : `${name} from ${from} to ${to}`;
  });
  return changes.length === 0 ? '' : `: ${changes.join(', ')}`;
}

const changed =
  (what: What): What =>
  (record, nameOf) =>
    what(record, nameOf) + changesOf(record);

/** A text that the change has set, behind `joined`; `usual` without it. */
const given =
  (field: string, usual: string, joined = ''): What =>
  (record) => {
    const text = textAt(record.after, field);
    return text === undefined ? usual : joined + text;
  };

/** A regular verb; an irregular one has its past after a slash: `send/sent`. */
function sentence(verb: string, what: What, who?: string): Sentence {
  const [base = '', past] = verb.split('/');
  return {
    verb: [base, past ?? (base.endsWith('e') ? `${base}d` : `${base}ed`)],
    what,
    ...(who !== undefined && { who }),
  };
}

const key = the('API key', 'key_id');
/** An address needs no noun. */
const person: What = (record, nameOf) =>
  the('person', 'person_id', 'email')(record, nameOf).replace(/^the person (?=.*@)/, '');
const endpoint = the('webhook endpoint', 'endpoint_id');
const broadcast = the('broadcast', 'broadcast_id');
const template = the('template', 'template_name');
const event = the('event', 'event_id');
const group = the('group', 'group_id');
const shadow = the('shadow receiver', 'shadow_id');
const passkey = the('passkey', 'passkey_id');
const account = the('business account', 'waba_id', 'display_name');
const number = the('number', 'phone_number_id', 'display_name');
const qr_code = the('QR code', 'code');
const own_secret = words`the secret of the webhook URL`;

/** The API's endpoints. */
const ENDPOINTS: Readonly<Record<string, Sentence>> = {
  'POST /broadcasts': sentence('create', broadcast),
  'POST /broadcasts/{broadcast_id}/cancel': sentence('cancel/cancelled', broadcast),
  'POST /broadcasts/{broadcast_id}/pause': sentence('pause', broadcast),
  'POST /broadcasts/{broadcast_id}/resume': sentence('resume', broadcast),
  'POST /broadcasts/{broadcast_id}/approve': sentence('approve', broadcast),
  'PUT /broadcast-approval': sentence('change', ({ before, after }) => {
    const [from, to] = [before, after].map((values) => shownValue(values?.['above'] ?? null));
    return `the contacts above which a broadcast needs approval: from ${from} to ${to}`;
  }),
  'POST /groups': sentence('create', group),
  'DELETE /groups/{group_id}': sentence('delete', group),
  'DELETE /groups/{group_id}/participants': sentence('remove', words`participants from ${group}`),
  'POST /events/replay': sentence('replay', words`${given('event', 'all')} events of the log`),
  'POST /keys': sentence('create', key),
  'PATCH /keys/{key_id}': sentence('change', changed(key)),
  'POST /keys/{key_id}/rotate': sentence('rotate', key),
  'DELETE /keys/{key_id}': sentence('revoke', key),
  'POST /qr-codes': sentence('create', qr_code),
  'PUT /qr-codes/{code}': sentence('change', qr_code),
  'DELETE /qr-codes/{code}': sentence('delete', qr_code),
  'POST /conversational-automation': sentence('change', changed(ofNumber('the automation'))),
  'POST /blocked': sentence('block', ofNumber('users')),
  'DELETE /blocked': sentence('unblock', ofNumber('users')),
  'POST /commerce-settings': sentence('change', changed(ofNumber('the commerce settings'))),
  'POST /settings': sentence('change', changed(ofNumber('the settings'))),
  'POST /clients/register-from-code': sentence('connect', number),
  'POST /connect/session': sentence(
    'create',
    words`a sign-up link${given('display_name', '', ' for ')}`,
  ),
  'POST /clients/register': sentence('register', number),
  'DELETE /clients/{waba_id}': sentence('delete', account),
  'POST /clients/{waba_id}/refresh': sentence('refresh', account),
  'POST /clients/{waba_id}/resubscribe-webhook': sentence(
    'subscribe',
    words`${account} to webhooks again`,
  ),
  'POST /people': sentence('invite', words`${person}${given('role', '', ' as ')}`),
  'PATCH /people/{person_id}': sentence('change', changed(person)),
  'DELETE /people/{person_id}': sentence('remove', person),
  'POST /people/{person_id}/invitation': sentence(
    'make/made',
    words`a new invitation for ${person}`,
  ),
  'POST /phone/request-code': sentence('request', ofNumber('the verification code')),
  'POST /phone/verify-code': sentence('verify/verified', number),
  'POST /phone/two-step': sentence('change', ofNumber('the two-step PIN')),
  'POST /phone/register': sentence('bring/brought', words`${number} online`),
  'POST /phone/deregister': sentence('take/took', words`${number} offline`),
  'PUT /profile': sentence('change', changed(ofNumber('the profile'))),
  'POST /webhooks/retry/{event_id}': sentence('retry/retried', event),
  'POST /webhooks/retry-all': sentence('retry/retried', words`all failed events`),
  'POST /templates': sentence('create', template),
  'POST /templates/upload-header': sentence('upload', ofNumber('a sample file for a template')),
  'PATCH /templates/{template_name}': sentence('change', changed(template)),
  'DELETE /templates/{template_name}': sentence('delete', template),
  'PATCH /webhook': sentence('change', changed(words`the settings of the webhook URL`)),
  'POST /webhook/rotate-secret': sentence('rotate', own_secret),
  'POST /webhook-endpoints': sentence('create', endpoint),
  'PATCH /webhook-endpoints/{endpoint_id}': sentence('change', changed(endpoint)),
  'DELETE /webhook-endpoints/{endpoint_id}': sentence('delete', endpoint),
  'POST /webhook-endpoints/{endpoint_id}/rotate-secret': sentence(
    'rotate',
    words`the secret of ${endpoint}`,
  ),
  'POST /webhook-endpoints/{endpoint_id}/test': sentence('test', endpoint),
  'POST /webhook-shadows': sentence('start', shadow),
  'POST /webhook-shadows/{shadow_id}/stop': sentence('stop/stopped', shadow),
};

/** A log-in that was refused names no person, and need not be that of a holder of the key. */
const logIn = (how: string): Sentence => sentence('sign in/signed in', () => how, 'A browser');

/** The console's own routes. */
const CONSOLE: Readonly<Record<string, Sentence>> = {
  'console POST /session': logIn('with the partner key'),
  'console POST /session/passkey': logIn('with a passkey'),
  'console POST /session/issuer': logIn('with the identity provider'),
  'console POST /invitation/accept': logIn('by an invitation'),
  'console DELETE /session': sentence('sign out/signed out', words``),
  'console DELETE /sessions': sentence('end', words`all own sessions`),
  'console DELETE /sessions/:session_id': sentence('end', the('session', 'session_id')),
  'console POST /passkeys': sentence('add', passkey),
  'console PATCH /passkeys/:passkey_id': sentence('rename', passkey),
  'console DELETE /passkeys/:passkey_id': sentence('delete', passkey),
  'console PATCH /settings': sentence('change', changed(words`the settings`)),
  'console POST /webhook-secret/reveal': sentence('reveal', own_secret),
  'console POST /webhook-secret/rotate': sentence('rotate', own_secret),
  'console POST /card': sentence('open', words`the page that stores a card`),
};

/** The operator's commands that concern a partner. */
const COMMANDS: Readonly<Record<string, Sentence>> = {
  'bmg partner create': sentence('create', words`this partner`),
  'bmg partner update': sentence('change', changed(words`this partner`)),
  'bmg partner contact': sentence('change', changed(words`the contacts`)),
  'bmg partner notify': sentence('send/sent', words`a notice${given('subject', '', ': ')}`),
  'bmg partner rotate-key': sentence('rotate', words`the partner key`),
  'bmg partner rotate-webhook-secret': sentence('rotate', own_secret),
  'bmg partner card': sentence('open', words`the page that stores a card`),
  'bmg key create': sentence('create', key),
  'bmg key update': sentence('change', changed(key)),
  'bmg key rotate': sentence('rotate', key),
  'bmg key revoke': sentence('revoke', key),
  'bmg people invite': sentence('invite', words`${person}${given('role', '', ' as ')}`),
  'bmg people update': sentence('change', changed(person)),
  'bmg people remove': sentence('remove', person),
  'bmg people erase': sentence('erase', words`the address of a person from this log`),
  'bmg client restore': sentence('restore', account),
  'bmg client purge': sentence('delete', words`the data of ${account} for good`),
  'bmg events retry': sentence('retry/retried', (record, nameOf) =>
    record.target['event_id'] === undefined ? 'all failed events' : event(record, nameOf),
  ),
  'bmg listen': sentence('point', changed(words`the webhook URL at a trial receiver`)),
};

export const SENTENCES: Readonly<Record<string, Sentence>> = {
  ...ENDPOINTS,
  ...CONSOLE,
  ...COMMANDS,
};

/** A refused read, a refused send, or an action of a later release. */
function unknown(action: string): Sentence {
  const [verb, path] = action.split(' ');
  return verb === 'GET' ? sentence('read/read', () => path ?? '') : sentence('call', () => action);
}

/** Refusals because of the rights of the actor; other failures are those of the change itself. */
const RIGHTS = new Set([
  'SCOPE_MISSING',
  'KEY_RESTRICTED',
  'PERSON_REQUIRED',
  'FRESH_LOG_IN_REQUIRED',
  'SECOND_PERSON_REQUIRED',
  'ADDRESS_NOT_ALLOWED',
]);

export function sentenceOf(record: Recorded, nameOf: NameOf): string {
  const { verb, what, who } = SENTENCES[record.action] ?? unknown(record.action);
  const is_unnamed = record.actor.type === 'console' && record.outcome !== 'succeeded';
  const actor = (is_unnamed && who) || actorOf(record);
  const rest = [
    what(record, nameOf),
    ...(record.count > 1 ? [`(${record.count} times)`] : []),
  ].join(' ');
  const [base, past] = verb.map((one) => `${one} ${rest}`.trim());
  if (record.outcome === 'succeeded') return `${actor} ${past}`;
  if (record.outcome !== 'failed') return `${actor} may have ${past}`;
  const does = record.code !== null && RIGHTS.has(record.code) ? 'was refused: ' : 'tried to ';
  return `${actor} ${does}${base}${record.code === null ? '' : ` (${record.code})`}`;
}
