import type { Received } from '@bmg/common/bus';
import type { Event, Usage } from '@bmg/proto/stream';
import { calling, useWorld } from '../../../test/world';
import { COUNTED_MESSAGES, createMessageUsage, MESSAGE_USAGE } from './store/message-usage';
import { ENDPOINT_USAGE } from './store/endpoint-usage';
import { countCalls, countMessages } from './consumers';
import { createUsageHandlers } from './handlers';
import { NEXT_YEAR } from '../../../../../test/testkit/next-year';
import { statusesOfEvents } from '../../../../../test/testkit/state-of-events';

const MONTH = `${NEXT_YEAR}-09`;
const DAY = `${MONTH}-14`;
const RANGE = { from_day: `${MONTH}-01`, to_day: `${MONTH}-30` };

const world = useWorld();

/** Makes the account active without a payment. */
const place = (partner_id: string, waba_id: string): Promise<boolean> =>
  world.deps.partners.activateWaba({ partner_id, waba_id, month: MONTH }, Infinity);

const received = <T>(message: T): Received<T> => ({
  message,
  key: '',
  span: undefined,
  partition: 0,
  offset: '0',
});

let ids = 0;
const usage = (change: Partial<Usage> = {}): Usage => ({
  id: `use_${(ids += 1)}`,
  partner_id: 'ptn_1',
  day: DAY,
  rows: [{ endpoint: '/messages/send', calls: 3, errors: 1 }],
  ...change,
});
/** A report with its number, as a gateway process sends it. */
const numbered = (sequence: number, change: Partial<Usage> = {}): Usage =>
  usage({ process: 'gwp_a', sequence, ...change });

const status = (
  name: string,
  given: { message_id?: string; partner?: string | undefined; pricing?: object | null } = {},
): Event => ({
  occurrence_id: 'occ_1',
  event: `message.${name}`,
  internal: false,
  waba_id: '900',
  phone_number_id: '800',
  contact: '15550100777',
  timestamp: Date.parse(`${DAY}T10:00:00Z`) / 1_000,
  data: JSON.stringify({
    message_id: given.message_id ?? 'wamid.1',
    pricing: given.pricing === undefined ? { category: 'utility', billable: true } : given.pricing,
  }),
  received_at_ms: Date.now(),
  partner_ids: ['ptn_1', 'ptn_2'],
  opaque: 'partner' in given ? given.partner && `bmg1:${given.partner}:req_1` : 'bmg1:ptn_1:req_1',
});

describe('calls', () => {
  const MEDIA = { endpoint: '/media/{media_id}', calls: 2, errors: 0 };
  const add = (...messages: Usage[]) => countCalls(world.deps)(messages.map(received));
  const sum = (partner_id = 'ptn_1') => world.deps.endpointUsage.sum(partner_id, RANGE);
  /** The sum of this many reports. */
  const ofReports = (count: number) => [
    { endpoint: '/messages/send', calls: 3 * count, errors: count },
  ];
  const many = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_none, index) => make(index));

  it('are added up by partner, day, method and endpoint', async () => {
    await add(
      usage(),
      usage({ rows: [MEDIA] }),
      usage({ rows: ['POST', 'GET', 'GET'].map((method) => ({ ...MEDIA, method })) }),
      usage({ day: `${MONTH}-15` }),
      usage({ day: `${NEXT_YEAR}-10-01` }),
      usage({ partner_id: 'ptn_2' }),
    );
    expect(await sum()).toEqual([
      MEDIA,
      { ...MEDIA, method: 'GET', calls: 4 },
      { ...MEDIA, method: 'POST' },
      ...ofReports(2),
    ]);
    expect(await sum('ptn_2')).toEqual(ofReports(1));
  });

  const [one, two] = [usage(), usage()];
  const first = numbered(1);
  const unnumbered = many(1_500, () => usage());
  const backlog = many(1_500, (index) => numbered(index + 1));

  it.each<[when: string, batches: Usage[][], reports: number]>([
    ['a message is repeated', [[one, one], [one, two], [two]], 2],
    ['a whole backlog of one partner is repeated', [unnumbered, unnumbered], 1_500],
    [
      'a numbered report is published again',
      [
        [numbered(1), numbered(1), numbered(2)],
        [numbered(2), numbered(3)],
        [numbered(1, { process: 'gwp_b' }), numbered(3)],
      ],
      4,
    ],
    [
      'a numbered backlog is read again',
      [backlog.slice(0, 700), backlog.slice(300, 1_000), backlog],
      1_500,
    ],
    [
      'a report was counted by its id before the release with numbers',
      [[{ ...first, process: undefined, sequence: undefined }], [first, numbered(2), usage()]],
      3,
    ],
  ])('count once when %s', async (_when, batches, reports) => {
    for (const batch of batches) await add(...batch);
    expect(await sum()).toEqual(ofReports(reports));
  });

  it('count once when several workers get the same message', async () => {
    const message = usage();
    await Promise.allSettled([add(message), add(message), add(message)]);
    await add(message);
    expect(await sum()).toEqual(ofReports(1));
  });

  it('need no list of numbered reports', async () => {
    await add(...backlog);
    const stored = await world.mongo.db.collection(ENDPOINT_USAGE).findOne();
    expect(stored).toMatchObject({ processes: { gwp_a: 1_500 } });
    expect(stored).not.toHaveProperty('applied');
  });

  it('count once when two workers read overlapping parts of a backlog', async () => {
    const [half, rest] = [backlog.slice(0, 20), backlog.slice(20, 40)];
    const settle = async (part: Usage[]): Promise<void> => {
      // As the bus does: a failed batch is retried.
      for (let turn = 0; turn < 40; turn += 1) {
        const failed = await add(...part).catch((error: unknown) => error as Error);
        if (failed === undefined) return;
      }
      throw new Error('the batch was never counted');
    };
    await Promise.all([half, half, half.slice(10)].map(settle));
    await Promise.all([[...half.slice(10), ...rest], rest].map(settle));
    expect(await sum()).toEqual(ofReports(40));
  });

  it('keep the numbers of processes for eight days', async () => {
    await add(numbered(1), usage());
    const stored = () => world.mongo.db.collection(ENDPOINT_USAGE).findOne();
    const days = (count: number) => new Date(Date.parse(DAY) + count * 86_400_000);
    await world.deps.endpointUsage.forgetReports(days(8));
    expect(await stored()).toMatchObject({
      processes: { gwp_a: 1 },
      applied: [expect.any(String)],
    });
    await world.deps.endpointUsage.forgetReports(days(9));
    expect(await stored()).not.toHaveProperty('processes');
    expect(await stored()).not.toHaveProperty('applied');
    expect(await sum()).toEqual(ofReports(2));
  });

  it('may have an endpoint name with dots and dollar signs', async () => {
    await add(usage({ rows: [{ endpoint: '/a.b/$c%d', calls: 1, errors: 0 }] }));
    expect(await sum()).toEqual([{ endpoint: '/a.b/$c%d', calls: 1, errors: 0 }]);
  });

  it('without an ID, partner or day are ignored', async () => {
    await add(usage({ partner_id: '' }), usage({ day: 'today' }), usage({ id: '' }));
    await add(numbered(1, { process: 'a.$b' }), numbered(0));
    expect(await sum()).toEqual([]);
  });
});

describe('messages', () => {
  const apply = (...events: Event[]) =>
    countMessages(world.deps)(statusesOfEvents(events.map(received)));
  const sum = (partner_id = 'ptn_1') => world.deps.messageUsage.sum(partner_id, RANGE);

  it('count each status once, by category', async () => {
    const life = [status('sent'), status('delivered'), status('read', { pricing: null })];
    await apply(...life);
    await apply(...life);
    await apply(status('sent', { message_id: 'wamid.2', pricing: null }));
    expect(await sum()).toEqual({
      utility: { sent: 1, delivered: 1, read: 1, billable: 1 },
      unknown: { sent: 1 },
    });
  });

  it('count only for the partner that sent them', async () => {
    await apply(status('sent'), status('sent', { message_id: 'wamid.2', partner: undefined }));
    await apply(status('sent', { message_id: 'wamid.3', partner: 'ptn_2' }));
    expect(await sum('ptn_1')).toEqual({ utility: { sent: 1 } });
    expect(await sum('ptn_2')).toEqual({ utility: { sent: 1 } });
  });

  it('count for no partner that does not own the number that they were sent from', async () => {
    const foreign = { ...status('sent', { partner: 'ptn_1' }), partner_ids: ['ptn_2'] };
    await apply(foreign, { ...foreign, event: 'message.delivered' });
    await apply({ ...status('sent'), phone_number_id: undefined });
    const [record] = statusesOfEvents([received(status('sent'))]);
    if (!record) throw new Error('no record');
    const { waba_id, statuses } = record.message;
    await countMessages(world.deps)([received({ waba_id, statuses })]);
    expect([await sum('ptn_1'), await sum('ptn_2')]).toEqual([{}, {}]);
  });

  it('count correctly when workers process the same message at the same time', async () => {
    const events = ['sent', 'delivered', 'read', 'sent', 'delivered'].map((name) => status(name));
    let rest = events;
    // As the bus does: failed batches are retried.
    for (let turn = 0; rest.length > 0 && turn < 20; turn += 1) {
      const outcomes = await Promise.allSettled(rest.map((one) => apply(one)));
      rest = rest.filter((_one, index) => outcomes[index]?.status === 'rejected');
    }
    expect(rest).toEqual([]);
    await world.deps.messageUsage.addPendingCounts(new Date(Date.now() + 120_000));
    const totals = await sum();
    expect(totals['utility']).toEqual({ sent: 1, delivered: 1, read: 1, billable: 1 });
    expect(Object.values(totals['unknown'] ?? {}).every((count) => count === 0)).toBe(true);
  });

  it('are neither lost nor doubled when a worker crashes between its writes', async () => {
    const { db } = world.mongo;
    for (const dies of ['before the counters', 'after the counters'] as const) {
      const broken = createMessageUsage({
        collection: (name: string) => {
          const whole = db.collection(name);
          const bulkWrite = whole.bulkWrite.bind(whole);
          const die = async (): Promise<never> => {
            throw new Error('the process died');
          };
          if (name === MESSAGE_USAGE && dies === 'before the counters') whole.bulkWrite = die;
          else if (name === COUNTED_MESSAGES && dies === 'after the counters') {
            whole.updateMany = die;
          } else whole.bulkWrite = bulkWrite;
          return whole;
        },
      } as never);
      const message_id = `wamid.${dies}`;
      const events = [status('sent', { message_id }), status('delivered', { message_id })];
      const count = countMessages({ messageUsage: broken, now: world.deps.now });
      await expect(count(statusesOfEvents(events.map(received)))).rejects.toThrow('died');
      // Kafka delivers them again; nothing is counted twice.
      await apply(...events);
      for (const ms of [0, 120_000, 240_000]) {
        await world.deps.messageUsage.addPendingCounts(new Date(Date.now() + ms));
      }
    }
    expect(await sum()).toEqual({ utility: { sent: 2, delivered: 2, billable: 2 } });
    const pending = { pending_at: { $exists: true } };
    expect(await db.collection(COUNTED_MESSAGES).countDocuments(pending)).toBe(0);
  });

  it('with dots or dollar signs in the category stay one counter', async () => {
    await apply(status('sent', { pricing: { category: 'a.b$c', billable: true } }));
    expect(await sum()).toEqual({ a_b_c: { sent: 1 } });
  });
});

describe('the usage of a partner', () => {
  let _id: string;
  beforeEach(async () => {
    ({ _id } = await world.partner());
  });
  const ask = (from?: Date, to?: Date) => world.handlers.getUsage({ partner_id: _id, from, to });
  const sent = (name: string, more = {}) => ({
    ...status(name, { partner: _id, ...more }),
    partner_ids: [_id],
  });
  const count = (...events: Event[]) =>
    countMessages(world.deps)(statusesOfEvents(events.map(received)));

  it('has the period, the counters and the bill', async () => {
    for (const waba_id of ['1', '2', '3', '4']) await place(_id, waba_id);
    await world.deps.partners.releaseWaba(_id, '4', MONTH);
    await place(_id, '4');
    await place(_id, '4');
    await world.deps.partners.releaseWaba(_id, '1', MONTH);
    await countCalls(world.deps)([received(usage({ partner_id: _id }))]);
    await count(sent('sent'));
    const from = new Date(`${MONTH}-01T00:00:00Z`);
    const to = new Date(`${MONTH}-30T23:59:59.999Z`);
    expect(await ask(from, to)).toEqual({
      from,
      to,
      endpoints: [{ endpoint: '/messages/send', calls: 3, errors: 1 }],
      messages: [
        { category: 'utility', sent: 1, delivered: 0, read: 0, failed: 0, billable: 0, free: 0 },
      ],
      billing: { slots: 2, peak_active_wabas: 4, active_wabas: 3, fee_usd: 20 },
    });
    const october = await ask(undefined, new Date(`${NEXT_YEAR}-10-05T00:00:00Z`));
    expect(october).toMatchObject({
      from: new Date(`${NEXT_YEAR}-10-01T00:00:00Z`),
      endpoints: [],
      billing: { slots: 1, peak_active_wabas: 3, active_wabas: 3, fee_usd: 10 },
    });
  });

  it('lists the messages of each day by category', async () => {
    await count(sent('sent'), sent('delivered'), sent('sent', { message_id: 'wamid.2' }));
    const listAt = async (now: Date) => {
      const handlers = calling(createUsageHandlers({ ...world.deps, now: () => now }));
      return (await handlers.listMessageDays({ partner_id: _id })).days;
    };
    const at = Date.parse(`${DAY}T12:00:00Z`);
    const days_later = (days: number): Date => new Date(at + days * 86_400_000);
    expect(await listAt(days_later(59))).toMatchObject([
      { day: DAY, category: 'utility', sent: 2, delivered: 1, read: 0, failed: 0 },
    ]);
    expect(await listAt(days_later(60))).toEqual([]);
  });

  it('counts accounts correctly when many are added and removed at the same time', async () => {
    const wabas = [...'abcdefghijkl'];
    await Promise.all(wabas.map((waba_id) => place(_id, waba_id)));
    await Promise.all(
      wabas.slice(0, 6).map((waba_id) => world.deps.partners.releaseWaba(_id, waba_id, MONTH)),
    );
    const partner = await world.deps.partners.find(_id);
    expect(partner?.wabas).toHaveLength(6);
    expect(partner?.months).toEqual({ [MONTH]: { peak: 12, last: 6 } });
  });
});
