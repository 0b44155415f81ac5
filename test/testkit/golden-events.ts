// The pairs of test/golden/events: a body of the upstream, and the outcome of normalising it. Both
// files leave out what is usual, so that they show their case:
// - A file with `changes` is one entry of the usual account; a change may have the fields of its
//   value beside `field`. Any other file is a whole body.
// - `"=": "number"` stands for the fields of that part, and `"=ada"` for a whole part (PARTS).
// - An outcome names what it repeats by its place in the value of a change, `=0/messages/1`, or in
//   the whole body, `=/entry/0/changes/0`.
// - An outcome leaves out the fields that have the usual value of their event (`usualOf`); an event
//   without a name is `message.received`, and a `raw` that is a place stands for its usual key.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseUpstream, stringifyData } from '@bmg/common/upstream-webhook';

type Fields = Record<string, unknown>;

/** Digits and numbers keep their spelling. */
export const print = (value: unknown): string => stringifyData(value, true);

export const FOLDER = join(__dirname, '../golden/events');

/** The time of the normaliser in these tests. */
export const NOW = 1_790_009_999;
const ACCOUNT = '900000000000001';
const NUMBER = '800000000000001';
const PHONE = '15550100777';
const BSUID = 'US.4Qm7Zr81Kd02';

const PARTS: Readonly<Record<string, Fields>> = {
  number: {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100001', phone_number_id: NUMBER },
  },
  ada: { profile: { name: 'Ada', username: 'ada.l' }, wa_id: PHONE, user_id: BSUID },
  'from ada': { from: PHONE, from_user_id: BSUID, timestamp: '1790000000' },
  'from a phone': { from: PHONE, timestamp: '1790000000' },
  'to ada': { recipient_id: PHONE, recipient_user_id: BSUID, timestamp: '1790000005' },
  'of a group': { group_id: 'Y2FwaV9ncm91cDpJTlZFTlRFRA==', timestamp: '1790000000' },
  order_update: {
    message_template_id: 300_000_000_000_001,
    message_template_name: 'order_update',
    message_template_language: 'en_US',
  },
};

const USUAL_OUTCOME = { events: [], state: [], ignored: [], unreadable: [] };
const OF_ACCOUNT =
  /^(?:waba|template|number|payment|flow|business|solution|partner|offboarded|reconnected|throughput)\b/;
const OF_CONTACT = /^(?:message|standby|contact|call|handover|user_id)/;
const WITHOUT_TIME = /^(?:upstream\.other|history_sync)$/;
const STATUS = /^message\.(sent|delivered|read|failed)$/;
const WITH_TIME = /^(?:message\.(?!received)|standby\.message_(?!received)|call\.)/;
const USUAL_DATA: ReadonlyArray<[of: RegExp, Fields]> = [
  [
    /message.received$/,
    {
      from: PHONE,
      bsuid: BSUID,
      type: 'text',
      contact: { name: 'Ada', username: 'ada.l', wa_id: PHONE },
    },
  ],
  [/^standby\./, { standby: true, current_handler: 'ai_agent' }],
  [STATUS, { recipient: PHONE, recipient_bsuid: BSUID, pricing: null, conversation: null }],
  [/echo$/, { to: PHONE, bsuid: BSUID, type: 'text' }],
  [/^message\.history$/, { history: true, bsuid: BSUID, type: 'text', status: null }],
  [/^message\.history$|^history_sync$/, { phase: 0, progress: 55 }],
  [/^history_sync$/, { error_code: null, error_message: null }],
  [/^call\./, { bsuid: BSUID, direction: null, session: null, status: null }],
  [
    /^template\./,
    { template_id: '300000000000001', template_name: 'order_update', template_language: 'en_US' },
  ],
];
/** The first part of the occurrence of an event that is known by its message. */
const SPACES: Readonly<Record<string, string>> = {
  'message.received': 'message',
  'message.history': 'history',
  'message.echo': 'echo',
  'standby.message_received': 'standby_message',
  'standby.message_echo': 'standby_echo',
};

const RECEIVED = 'message.received';
/** The key of what an event repeats in `raw`, if it is no message. */
const RAW_KEYS: Readonly<Record<string, string>> = {
  'contact.id_changed': 'change',
  'handover.updated': 'handover',
};
const nameOf = ({ event, kind = RECEIVED }: Fields): string => String(event ?? kind);
const rawKeyOf = (name: string): string =>
  RAW_KEYS[name] ?? (name.startsWith('call.') ? 'call' : 'message');

/** The usual fields of an event or a change of state; some follow from its others. */
function usualOf(of: Fields): Fields {
  const { kind, phone_number_id, timestamp, data } = of;
  const name = nameOf(of);
  const [, status] = STATUS.exec(name) ?? [];
  const space = status === undefined ? SPACES[name] : 'status';
  const { message_id } = isComposed(data) ? data : {};
  const identity = [space, phone_number_id, message_id, ...(status ? [status] : [])];
  return {
    ...(kind === undefined && { event: RECEIVED }),
    ...(space !== undefined && { occurrence: identity.join('|') }),
    waba_id: ACCOUNT,
    phone_number_id: OF_ACCOUNT.test(name) ? null : NUMBER,
    display_phone_number: null,
    contact: OF_CONTACT.test(name) ? PHONE : null,
    timestamp: WITHOUT_TIME.test(name) ? NOW : status ? 1_790_000_005 : 1_790_000_000,
    data: {
      ...(WITH_TIME.test(name) && { timestamp }),
      ...(status !== undefined && { status }),
      ...Object.fromEntries(
        USUAL_DATA.filter(([of]) => of.test(name)).flatMap(([, usual]) => Object.entries(usual)),
      ),
    },
  };
}

/** Stands for a field that an outcome lacks, which is not usual. */
const ABSENT = '=absent';
/** What is shorter is easier to read than its place. */
const PLACE_MIN_LENGTH = 40;
const PLACE = /^=(\d*)((?:\/.*)?)$/;
const IN_VALUE = /^=\/entry\/0\/changes\/(\d+)\/value/;

export const goldenNames = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.in.json'))
  .map((file) => file.slice(0, -'.in.json'.length));

export const readGolden = (name: string, side: 'in' | 'out'): string =>
  readFileSync(join(FOLDER, `${name}.${side}.json`), 'utf8');

/** The text of a body, as the upstream posts it. */
export function bodyOf(name: string): string {
  const file = expand(parseUpstream(readGolden(name, 'in')).body);
  if (!isComposed(file) || !('changes' in file)) return print(file);
  const changes = (file.changes as unknown[]).map((change) => {
    if (!isComposed(change) || !('field' in change) || 'value' in change) return change;
    const { field, ...value } = change;
    return { field, value };
  });
  const object = 'whatsapp_business_account';
  return print({ object, entry: [{ id: ACCOUNT, ...file, changes }] });
}

/** Puts the parts in their places. */
const expand = (value: unknown): unknown =>
  mapped(value, (part) => {
    if (typeof part === 'string' && part.startsWith('=')) return PARTS[part.slice(1)];
    if (!isComposed(part) || !('=' in part)) return undefined;
    const { '=': name, ...own } = part;
    return { ...PARTS[String(name)], ...(expand(own) as Fields) };
  });

/** The outcome as its file has it: with the places of what it repeats, and what is not usual. */
export function shorten(
  outcome: Fields & { events: object[]; state: object[] },
  body: unknown,
): object {
  const places = placesOf(body);
  const placed = mapped(outcome, (value) => places.get(print(value))) as typeof outcome;
  const [events, state] = [placed.events, placed.state].map((list) =>
    list.map((one) => {
      const { data, ...facts } = one as Fields;
      const { data: usual, ...usualFacts } = usualOf(one as Fields);
      const kept = withoutUsual(facts, usualFacts);
      if (!isComposed(data)) return { ...kept, data };
      const { raw, ...own } = withoutUsual(data, usual as Fields);
      return { ...kept, data: { ...own, raw: shortRaw(raw, rawKeyOf(nameOf(facts))) } };
    }),
  );
  return withoutUsual({ ...placed, events, state }, USUAL_OUTCOME);
}

/** The place of what is under the usual key and no other. A place itself gets another form. */
function shortRaw(raw: unknown, usual: string): unknown {
  if (!isComposed(raw)) return raw === undefined ? raw : { '=': raw };
  const { [usual]: place, ...others } = raw;
  return typeof place === 'string' && Object.keys(others).length === 0 ? place : raw;
}

/** The places of the body's parts by their texts. */
function placesOf(body: unknown): Map<string, string> {
  const places = new Map<string, string>();
  const note = (value: unknown, place: string): void => {
    if (!isComposed(value)) return;
    const text = print(value);
    if (text.length >= PLACE_MIN_LENGTH && !places.has(text)) {
      places.set(text, place.replace(IN_VALUE, '=$1'));
    }
    for (const [key, part] of Object.entries(value)) note(part, `${place}/${key}`);
  };
  // Not for the whole body, which has no place of its own.
  for (const [key, part] of Object.entries(body ?? {})) note(part, `=/${key}`);
  return places;
}

function withoutUsual(fields: Fields, usual: Fields): Fields {
  const absent = Object.keys(usual).filter((name) => fields[name] === undefined);
  const kept = Object.entries(fields).filter(
    ([name, value]) => !(name in usual) || print(value) !== print(usual[name]),
  );
  return Object.fromEntries([...kept, ...absent.map((name) => [name, ABSENT])]);
}

/** The events of an outcome, with their usual fields and all that they repeat from the body. */
export function goldenEvents<T>(name: string): T[] {
  const body = JSON.parse(bodyOf(name)) as unknown;
  const { events = [] } = JSON.parse(readGolden(name, 'out')) as { events?: Fields[] };
  const partAt = (value: unknown): unknown => {
    const [, change = '', place] = PLACE.exec(String(value)) ?? [];
    if (place === undefined) return undefined;
    const [, ...keys] = `${change && `/entry/0/changes/${change}/value`}${place}`.split('/');
    return keys.reduce<unknown>((part, key) => (part as Fields)[key], body);
  };
  // Some usual fields follow from others.
  return events.map((event) => mapped(withUsual(event, withUsual(event, event)), partAt)) as T[];
}

function withUsual(event: Fields, known: Fields): Fields {
  const { data: usual, ...facts } = usualOf(known);
  const { data } = event;
  if (!isComposed(data)) return { ...facts, ...event };
  const { raw } = data;
  const whole: Fields = {
    ...(usual as Fields),
    ...data,
    ...(typeof raw === 'string' && { raw: { [rawKeyOf(nameOf(event))]: raw } }),
  };
  const present = Object.entries(whole).filter(([, value]) => value !== ABSENT);
  return { ...facts, ...event, data: Object.fromEntries(present) };
}

/** Copies a value; `change` returns what stands for a part, or undefined. */
function mapped(value: unknown, change: (part: unknown) => unknown): unknown {
  const other = change(value);
  if (other !== undefined) return other;
  if (!isComposed(value)) return value;
  if (Array.isArray(value)) return value.map((part) => mapped(part, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapped(part, change)]),
  );
}

/** An object or a list, but no number of a library. */
const isComposed = (value: unknown): value is Fields =>
  Array.isArray(value) ||
  (typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null));
