// Properties of the normaliser that hold for any body.

import fc from 'fast-check';
import { conversationKey, parseUpstream, split, stringifyData } from '@bmg/common/upstream-webhook';
import { FIELDS } from './fields';
import { normalise, type Normalised } from './index';

const NOW = 1_790_009_999;
/** The nightly run takes ten times as many bodies. */
const RUNS = process.env['BMG_FAULTS'] === 'long' ? 1_000 : 100;
const OBJECT = 'whatsapp_business_account';
const METADATA = { display_phone_number: '15550100001', phone_number_id: '800000000000001' };

/** Keys that the readers look for, so that arbitrary values pass the first checks. */
const KEYS = `
  messages statuses message_echoes history threads state_sync groups standby contacts
  contact errors metadata recipient sender id from to type status text body image
  caption timestamp event decision action user_id wa_id phone_number phone_number_id
  display_phone_number group_id waba_info waba_id control_passed message pricing
  conversation origin old_limit current_limit new_category correct_category
  new_quality_score user_id_update field volume_tier_info
  max_daily_conversations_per_business __proto__ constructor toString
`
  .trim()
  .split(/\s+/);

const WORDS = `
  text image order button sent delivered failed played FLAGGED contact
  THROUGHPUT_UPGRADE ACCOUNT_OFFBOARDED REJECTED 1790000000 15550100777 a|b %
`.split(/\s+/);

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(fc.constantFrom(...WORDS), fc.jsonValue({ maxDepth: 1 })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 6 }),
  ),
})).value;

const change = fc.record({ field: fc.constantFrom(...FIELDS.keys()), value: json });

function bodyOf(changes: unknown): unknown {
  return { object: OBJECT, entry: [{ id: '900000000000001', time: 1_790_000_000, changes }] };
}

function messagesBody(value: Record<string, unknown>): unknown {
  return bodyOf([{ field: 'messages', value: { metadata: METADATA, ...value } }]);
}

function occurrences({ events, state }: Normalised): string[] {
  return [...events, ...state].map((item) => item.occurrence);
}

describe('for any body', () => {
  test('returns a result and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (body) => {
        expect(Object.keys(normalise(body, NOW))).toEqual([
          'events',
          'state',
          'ignored',
          'unreadable',
        ]);
      }),
    );
  });

  test('accounts for every change of a well-framed body, without unexpected errors', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
        const { events, state, ignored, unreadable } = normalise(bodyOf(changes), NOW);
        const answers = events.length + state.length + ignored.size + unreadable.length;
        if (changes.length > 0) expect(answers).toBeGreaterThan(0);
        expect(unreadable.filter(({ reason }) => reason.startsWith('unexpected'))).toEqual([]);
        for (const { timestamp } of [...events, ...state]) {
          expect(Number.isSafeInteger(timestamp) && timestamp > 0).toBe(true);
        }
      }),
      { numRuns: 2 * RUNS },
    );
  });

  test('does not pollute prototypes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const { body } = parseUpstream(JSON.stringify(bodyOf(changes)));
        const before = Reflect.ownKeys(Object.prototype).length;
        normalise(body, NOW);
        expect(Reflect.ownKeys(Object.prototype)).toHaveLength(before);
      }),
    );
  });
});

/** Two people in both spellings of their numbers, a BSUID, a group, and no person. */
const PEOPLE = ['15550100777', '551187650001', '5511987650001', 'US.1555', 'group-1', null];
const person = fc.constantFrom(...PEOPLE);
const item = fc
  .tuple(fc.nat(9), person, person, fc.boolean())
  .map(([id, phone, user, with_group]) => ({
    id: `wamid.${id}`,
    status: 'sent',
    ...{ from: phone, to: phone, recipient_id: phone, wa_id: phone },
    ...{ from_user_id: user, to_user_id: user, recipient_user_id: user },
    ...(with_group && { group_id: 'group-1' }),
    ...{ user_id: { current: user }, contact: { phone_number: phone, user_id: user } },
    ...{ action: 'add', event: 'connect', direction: 'USER_INITIATED', type: 'text' },
  }));
const contact = fc.record({ wa_id: person, user_id: person, profile: fc.record({ name: person }) });
const contactsOf = fc.array(contact, { maxLength: 3 });
const framed = fc
  .tuple(fc.option(contactsOf), fc.array(item, { maxLength: 6 }), json)
  .map(([contacts, items, other]) => ({
    metadata: METADATA,
    contacts,
    ...{ messages: items, statuses: items, message_echoes: items, calls: items, groups: items },
    ...{ state_sync: items, user_id_update: items, user_preferences: items },
    other,
    ['__proto__']: other,
  }));
const handover = person.map((phone_number) => ({
  metadata: METADATA,
  ...{ type: 'control_passed', control_passed: { new_owner_role: 'app' } },
  sender: { phone_number },
}));
const inConversation = fc.record({
  field: fc.constantFrom(...FIELDS.keys()),
  value: fc.oneof(
    framed,
    handover,
    fc
      .tuple(fc.array(framed, { maxLength: 2 }), contactsOf)
      .map(([standby, contacts]) => ({ metadata: METADATA, contacts, standby })),
  ),
});

describe('a body that is split by conversation', () => {
  const parts = (body: unknown) =>
    split(Buffer.from(JSON.stringify(body))).map(({ key, bytes }) => ({
      key,
      result: normalise(parseUpstream(bytes).body, NOW),
    }));
  const ofAll = <T>(list: readonly T[]): string[] => list.map((one) => stringifyData(one, true));

  test('yields what the whole yields: nothing is lost, repeated or changed', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(change, inConversation), { maxLength: 3 }), (changes) => {
        const body = bodyOf(changes);
        const whole = normalise(parseUpstream(JSON.stringify(body)).body, NOW);
        const results = parts(body).map(({ result }) => result);
        for (const kind of ['events', 'state', 'unreadable'] as const) {
          const found = results.flatMap((result) => ofAll<unknown>(result[kind]));
          expect(found.sort()).toEqual(ofAll<unknown>(whole[kind]).sort());
        }
        const count = (of: Normalised[]) =>
          of
            .flatMap(({ ignored }) => [...ignored.values()])
            .reduce((sum, { count }) => sum + count, 0);
        expect(count(results)).toBe(count([whole]));
      }),
      { numRuns: RUNS },
    );
  });

  test('keeps each conversation in the part of its key, in its order', () => {
    fc.assert(
      fc.property(fc.array(inConversation, { maxLength: 3 }), (changes) => {
        const body = bodyOf(changes);
        const whole = ofAll(normalise(parseUpstream(JSON.stringify(body)).body, NOW).events);
        for (const { key, result } of parts(body)) {
          const own = ofAll(result.events);
          expect(own).toEqual(whole.filter((text) => own.includes(text)));
          for (const { event, contact } of result.events) {
            if (contact === null || event === 'message.history') continue;
            expect(key).toBe(conversationKey(METADATA.phone_number_id, contact));
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('occurrences', () => {
  test('are equal for a repeated body at any time', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), fc.nat(), (changes, later) => {
        const body = bodyOf(changes);
        const again = JSON.parse(JSON.stringify(body)) as unknown;
        const first = normalise(JSON.parse(JSON.stringify(body)), NOW);
        expect(occurrences(normalise(again, NOW + later))).toEqual(occurrences(first));
      }),
    );
  });

  test('are distinct for distinct messages and statuses', () => {
    const id = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a', 'a|sent', 'a%7Csent'));
    const status = fc.constantFrom('sent', 'delivered', 'read', 'failed');
    const item = fc.tuple(id, fc.option(status));
    fc.assert(
      fc.property(fc.uniqueArray(item, { selector: String }), (items) => {
        const messages = items.filter(([, s]) => s === null).map(([id]) => ({ id }));
        const statuses = items.flatMap(([id, s]) => (s === null ? [] : [{ id, status: s }]));
        const keys = occurrences(normalise(messagesBody({ messages, statuses }), NOW));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toHaveLength(items.length);
      }),
    );
  });

  test('are distinct for distinct contents without an id', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 2 }), (texts) => {
        const messages = texts.map((body) => ({ type: 'text', text: { body } }));
        const keys = occurrences(normalise(messagesBody({ messages }), NOW));
        expect(new Set(keys).size).toBe(texts.length);
      }),
    );
  });
});

describe('raw.message', () => {
  const extra = fc.dictionary(fc.string(), fc.jsonValue());

  test('is exactly the upstream object', () => {
    fc.assert(
      fc.property(extra, (message) => {
        const text = JSON.stringify(message);
        const body = JSON.stringify(messagesBody({ messages: [0] })).replace(
          '[0]',
          () => `[${text}]`,
        );
        const parsed = parseUpstream(body);
        const [event] = normalise(parsed.body, NOW).events;
        const raw = event?.data.raw as { message: unknown };
        expect(stringifyData(raw.message, parsed.lossless)).toBe(text);
        if (!parsed.lossless) expect(raw.message).toEqual(JSON.parse(text));
      }),
    );
  });

  test('keeps integers of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (number) => {
        const text = `{"id":"m","huge":${number}}`;
        const body = JSON.stringify(messagesBody({ messages: [0] })).replace('[0]', `[${text}]`);
        const parsed = parseUpstream(body);
        const raw = normalise(parsed.body, NOW).events[0]?.data.raw;
        expect(stringifyData(raw, parsed.lossless)).toBe(`{"message":${text}}`);
      }),
    );
  });
});

describe('items of one list', () => {
  test('a valid message survives any other items', () => {
    fc.assert(
      fc.property(fc.array(json), fc.array(json), (before, after) => {
        const messages = [
          ...before,
          { id: 'wamid.GOOD', type: 'text', text: { body: 'x' } },
          ...after,
        ];
        const { events } = normalise(messagesBody({ messages }), NOW);
        expect(events.map(({ data }) => data.message_id)).toContain('wamid.GOOD');
      }),
    );
  });

  test('a thousand items keep their order', () => {
    const messages = Array.from({ length: 1_000 }, (_, n) => ({ id: `m${n}`, from: `1555${n}` }));
    const contacts = messages.map(({ from }, n) => ({ wa_id: from, profile: { name: `P${n}` } }));
    const { events } = normalise(messagesBody({ contacts: contacts.reverse(), messages }), NOW);
    expect(events.map(({ data }) => data.message_id)).toEqual(messages.map(({ id }) => id));
    expect(events[7]?.data.contact).toEqual({ name: 'P7', wa_id: '15557' });
  });
});
