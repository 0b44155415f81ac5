import type { Received } from '@bmg/common/bus';
import { createLogger } from '@bmg/common/telemetry';
import type { SendResult } from '@bmg/proto/messaging';
import {
  Contacts_Contact_Kind,
  type Contacts,
  type Contacts_Contact,
  type Event,
} from '@bmg/proto/stream';
import { TARGET } from '../../test/builders';
import { createLearner } from '../send/learn-contacts';
import { applyContacts, factsOfStatuses, inboundFacts, noteFacts, noteLate } from './apply';
import { lookupContact } from './feature';
import { createRecentContacts, createRecentConversations } from './recent';
import type { ContactChange, ContactFact, ConversationFact } from './contact-changes';
import { contactsOfEvents, statusesOfEvents } from '../../../../test/testkit/state-of-events';

const WABA = TARGET.waba_id;
const AT = 1_790_000_000;

describe('lookupContact', () => {
  const find = async (_waba_id: string, phone: string) =>
    phone === '15550100777' ? { wa_id: '15550100778' } : null;

  test.each(['15550100777', '+1 555-010-0777'])('finds %s by its digits', async (phone) => {
    await expect(lookupContact({ find }, { target: TARGET, phone })).resolves.toEqual({
      phone: '15550100777',
      exists: true,
      wa_id: '15550100778',
    });
  });

  test('reports an unknown number as not existing', async () => {
    const answer = await lookupContact({ find }, { target: TARGET, phone: '15550100001' });
    expect(answer).toEqual({ phone: '15550100001', exists: false, wa_id: undefined });
  });

  test.each(['', 'abc', '0123456789', '123', 'US.4Qm7Zr81Kd02'])(
    'rejects %j as a phone number',
    async (phone) => {
      await expect(lookupContact({ find }, { target: TARGET, phone })).rejects.toMatchObject({
        code: 'INVALID_FIELD',
        details: { field: 'phone' },
      });
    },
  );
});

const received = (contact: Contacts_Contact): Received<Contacts> => ({
  message: { waba_id: WABA, contacts: [contact] },
  ...{ key: WABA, span: undefined, partition: 0, offset: '0' },
});

/** What events need, with this store. */
const applying = (
  contacts: Partial<Parameters<typeof applyContacts>[0]['contacts']>,
  clock = { now: AT },
) => ({
  contacts: { apply: async () => {}, noteLate: async () => {}, ...contacts },
  recent: createRecentContacts(),
  recentConversations: createRecentConversations(),
  now: () => new Date(clock.now * 1_000),
});

describe('a send', () => {
  const log = createLogger('test');
  log.level = 'silent';

  async function learned(
    contacts: SendResult['contacts'],
    times = 1,
    fail = false,
  ): Promise<ContactFact[]> {
    const facts: ContactFact[] = [];
    const learning = createLearner({
      contacts: {
        learn: async (fact) => {
          facts.push(fact);
          if (fail) throw new Error('away');
        },
      },
      recent: createRecentContacts(),
      now: () => new Date(AT * 1_000),
      log,
    });
    const send = learning(async () => ({ message_id: 'wamid.1', contacts }));
    for (let time = 0; time < times; time += 1) {
      await send({ target: TARGET }, undefined as never);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return facts;
  }

  test.each([
    ['of its recipient', '15550100777', '15550100777', ['15550100777']],
    [
      'under both spellings of a number that the platform spells differently',
      '+5511900000000',
      '551100000000',
      ['5511900000000', '551100000000'],
    ],
  ])('stores the platform id %s', async (_name, input, wa_id, phones) => {
    const fact = { waba_id: WABA, wa_id, source: 'traffic', at: new Date(AT * 1_000) };
    await expect(learned([{ input, wa_id }])).resolves.toEqual(
      phones.map((phone) => ({ ...fact, phone })),
    );
  });

  test('to a BSUID stores nothing', async () => {
    const user_id = 'US.4Qm7Zr81Kd02';
    await expect(learned([{ input: user_id, user_id }])).resolves.toEqual([]);
  });

  test('is stored again within the hour only if storing failed', async () => {
    const contacts = [{ input: '15550100777', wa_id: '15550100777' }];
    await expect(learned(contacts, 3)).resolves.toHaveLength(1);
    await expect(learned(contacts, 3, true)).resolves.toHaveLength(3);
  });
});

/** Events as the records that fan-out makes of them. */
const eventsOf = (events: Array<[string, object]>, over: object = {}) =>
  events.map(([event, data]) => ({
    message: { event, waba_id: WABA, timestamp: AT, data: JSON.stringify(data), ...over },
  })) as unknown as Received<Event>[];

describe('an event', () => {
  async function changes(...events: Array<[string, object]>): Promise<ContactChange[]> {
    let applied: ContactChange[] = [];
    const store = { apply: async (all: ContactChange[]) => void (applied = all) };
    await applyContacts(applying(store))(contactsOfEvents(eventsOf(events)));
    return applied;
  }
  const about = { waba_id: WABA, phone: '15550100777', at: new Date(AT * 1_000) };

  test.each(['message.received', 'standby.message_received'])(
    '%s stores its sender',
    async (name) => {
      await expect(
        changes(
          [name, { from: '15550100777', contact: { wa_id: '15550100778', name: 'Ada' } }],
          [name, { from: '15550100777' }],
          [name, { bsuid: 'US.4Qm7Zr81Kd02' }],
        ),
      ).resolves.toEqual([
        { learn: { ...about, wa_id: '15550100778', source: 'traffic' } },
        { learn: { ...about, wa_id: '15550100777', source: 'traffic' } },
      ]);
    },
  );

  test('contact.synced stores a number, and removes only numbers it has stored', async () => {
    await expect(
      changes(
        ['contact.synced', { action: 'add', phone_number: '15550100777' }],
        ['contact.synced', { action: 'update', phone_number: '15550100777' }],
        ['contact.synced', { action: 'remove', phone_number: '15550100777' }],
        ['contact.synced', { action: 'add', phone_number: null, bsuid: 'US.4Qm7Zr81Kd02' }],
      ),
    ).resolves.toEqual([
      { learn: { ...about, wa_id: '15550100777', source: 'sync' } },
      { learn: { ...about, wa_id: '15550100777', source: 'sync' } },
      { remove: { ...about, source: 'sync' } },
    ]);
  });

  test('message.failed removes a number that turned out to be unreachable, in both spellings', async () => {
    const recipient = '551187650001';
    const at = new Date(AT * 1_000 + 5_000);
    await expect(
      changes(
        ['message.failed', { recipient, errors: [{ code: 131026 }] }],
        ['message.failed', { recipient, errors: [{ code: 131047 }] }],
        ['message.failed', { recipient, errors: null }],
      ),
    ).resolves.toEqual([
      { remove: { waba_id: WABA, phone: recipient, at } },
      { remove: { waba_id: WABA, phone: '5511987650001', at, reported_as: recipient } },
    ]);
  });

  test('of another kind stores nothing', async () => {
    await expect(
      changes(['message.sent', { recipient: '15550100777' }], ['constructor', {}]),
    ).resolves.toEqual([]);
  });
});

describe('the facts about conversations', () => {
  const PLACE = { waba_id: WABA, phone_number_id: '800', at: new Date(AT * 1_000) };

  function factsOf(event: string, data: object, over: object = {}): ConversationFact[] {
    const batch = eventsOf([[event, data]], { phone_number_id: '800', ...over });
    const contacts = contactsOfEvents(batch).flatMap(({ message }) =>
      message.contacts.flatMap((contact) => inboundFacts(message.waba_id, contact)),
    );
    return [...contacts, ...factsOfStatuses(statusesOfEvents(batch))];
  }

  test('a message opens the window of its sender, known by number and BSUID', () => {
    const data = { from: '15550100777', bsuid: 'US.4Qm7Zr81Kd02', raw: { message: {} } };
    expect(factsOf('message.received', data)).toEqual([
      { ...PLACE, kind: 'inbound', contact: '15550100777', bsuid: 'US.4Qm7Zr81Kd02' },
    ]);
    expect(factsOf('standby.message_received', { bsuid: 'US.4Qm7Zr81Kd02' })).toEqual([
      { ...PLACE, kind: 'inbound', contact: 'US.4Qm7Zr81Kd02' },
    ]);
  });

  test('a message from an ad opens the free entry point window too', () => {
    const data = { from: '15550100777', raw: { message: { referral: { source_type: 'ad' } } } };
    expect(factsOf('message.received', data).map(({ kind }) => kind)).toEqual(['inbound', 'entry']);
  });

  test('records failures that concern the customer, and free entry point prices', () => {
    const failed = (code: number) =>
      factsOf('message.failed', { recipient: '15550100777', errors: [{ code }] });
    expect(failed(131_026)).toEqual([
      { ...PLACE, kind: 'failed', code: 131_026, contact: '15550100777' },
    ]);
    expect(failed(131_047)).toEqual([]);
    const priced = (type: string) =>
      factsOf('message.sent', { recipient: '15550100777', pricing: { type } });
    expect(priced('free_entry_point').map(({ kind }) => kind)).toEqual(['free_entry']);
    expect(priced('regular')).toEqual([]);
  });

  test.each([
    ['another event', 'message.echo', {}],
    ['the address book', 'contact.synced', {}],
    ['an event without a number', 'message.received', { phone_number_id: undefined }],
  ])('ignores %s', (_name, event, over) => {
    expect(factsOf(event, { from: '15550100777', phone_number: '15550100777' }, over)).toEqual([]);
  });
});

describe('a contact that is known and unchanged', () => {
  const phone = '15550100777';
  const record = (kind: Contacts_Contact_Kind, timestamp = AT, wa_id?: string) =>
    received({ kind, phone, wa_id, timestamp });
  const { KIND_TRAFFIC, KIND_SYNCED, KIND_UNSYNCED, KIND_UNDELIVERABLE } = Contacts_Contact_Kind;

  function appliedTo(failing = { store: false }) {
    const written: number[] = [];
    const clock = { now: AT };
    const store = {
      async apply(all: ContactChange[]) {
        if (failing.store) throw new Error('away');
        written.push(all.length);
      },
    };
    return { apply: applyContacts(applying(store, clock)), written, clock };
  }

  test('is written once an hour', async () => {
    const { apply, written, clock } = appliedTo();
    for (const second of [0, 1, 3_599, 3_600, 3_601]) {
      clock.now = AT + second;
      await apply([record(KIND_TRAFFIC, clock.now)]);
    }
    await apply([record(KIND_SYNCED, clock.now)]);
    expect(written).toEqual([1, 0, 0, 1, 0, 0]);
  });

  test('is written again after a removal, with another id, and after a failed write', async () => {
    const failing = { store: false };
    const { apply, written } = appliedTo(failing);
    await apply([record(KIND_TRAFFIC)]);
    await apply([record(KIND_UNDELIVERABLE), record(KIND_TRAFFIC, AT + 10)]);
    await apply([record(KIND_TRAFFIC, AT, '15550100778')]);
    failing.store = true;
    await expect(apply([record(KIND_UNSYNCED, AT + 20)])).rejects.toThrow('away');
    failing.store = false;
    await apply([record(KIND_UNSYNCED, AT + 20), record(KIND_SYNCED, AT + 21)]);
    expect(written).toEqual([1, 2, 1, 2]);
  });

  test('stays when an older removal arrives late, though its last message was not written', async () => {
    const { apply, written } = appliedTo();
    await apply([record(KIND_TRAFFIC)]);
    await apply([record(KIND_TRAFFIC, AT + 600)]);
    await apply([record(KIND_UNDELIVERABLE, AT + 300)]);
    expect(written).toEqual([1, 0, 0]);
  });
});

describe('a customer who writes again and again', () => {
  const PHONE = '15550100777';
  const at = (second: number): Date => new Date((AT + second) * 1_000);
  const failure = (second: number): ConversationFact => ({
    waba_id: WABA,
    phone_number_id: '800',
    contact: PHONE,
    at: at(second),
    kind: 'failed',
  });

  function conversing() {
    const written: Array<[number, ...string[]]> = [];
    const clock = { now: AT };
    const store = {
      async apply(all: ContactChange[]) {
        const kinds = all.map((change) => ('note' in change ? change.note.kind : 'learn'));
        if (all.length > 0) written.push([clock.now - AT, ...kinds]);
      },
      async noteLate({ kind, at: of }: ConversationFact) {
        written.push([clock.now - AT, kind, of.toISOString()]);
      },
    };
    const deps = applying(store, clock);
    const apply = applyContacts(deps);
    const writes = (second: number): Promise<void> => {
      clock.now = AT + second;
      const kind = Contacts_Contact_Kind.KIND_TRAFFIC;
      const said = { kind, phone: PHONE, timestamp: clock.now, phone_number_id: '800' };
      return apply([received(said)]);
    };
    return { deps, written, clock, writes };
  }

  test('costs one write in a quarter of an hour, and the latest message is stored later', async () => {
    const { deps, written, clock, writes } = conversing();
    for (const second of [0, 10, 899, 300]) await writes(second);
    expect(written).toEqual([[0, 'learn', 'inbound']]);
    clock.now = AT + 900;
    await noteLate(deps);
    await noteLate(deps);
    expect(written.slice(1)).toEqual([[900, 'inbound', at(899).toISOString()]]);
    await writes(1_800);
    expect(written.slice(2)).toEqual([[1_800, 'inbound']]);
  });

  test('is stored at once after a failure, and failures always', async () => {
    const { deps, written, writes } = conversing();
    await writes(0);
    await noteFacts(deps, [failure(1)]);
    await noteFacts(deps, [failure(2)]);
    await writes(3);
    expect(written).toEqual([
      [0, 'learn', 'inbound'],
      [0, 'failed'],
      [0, 'failed'],
      [3, 'inbound'],
    ]);
  });
});
