import { contentId } from '@bmg/common/ids';
import { useRedis } from '../../common/test/redis';
import { createMemory } from './memory';
import type { NormalisedEvent } from './normalise';

/** Two spellings of one number. */
const LONG = '5511987650001';
const SHORT = '551187650001';

const { shared: redis } = useRedis();

const aStatus = (
  message_id: string,
  status: 'sent' | 'delivered' | 'read',
  source?: string,
): NormalisedEvent => ({
  occurrence: `status|1|${message_id}|${status}`,
  event: `message.${status}`,
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
  display_phone_number: null,
  contact: '15550100777',
  timestamp: 1_790_000_000,
  data: { message_id, ...(source && { source }) },
});

const tell = async (event: NormalisedEvent) => {
  await createMemory(redis).complete([event], []);
  return { superseded: event.data['superseded'] === true, duplicate: event.duplicate === true };
};

test('a status that gap repair reported is dropped when its webhook arrives late', async () => {
  const fresh = { superseded: false, duplicate: false };
  expect(await tell(aStatus('wamid.1', 'delivered', 'reconciled'))).toEqual(fresh);
  expect(await tell(aStatus('wamid.1', 'delivered'))).toMatchObject({ duplicate: true });
  // A source may repeat a status that a crash kept from being published.
  expect(await tell(aStatus('wamid.1', 'delivered', 'reconciled'))).toEqual(fresh);
  expect(await tell(aStatus('wamid.1', 'read'))).toEqual(fresh);
});

test('a status that a webhook reported is dropped when gap repair finds it too', async () => {
  expect(await tell(aStatus('wamid.2', 'read'))).toMatchObject({ duplicate: false });
  expect(await tell(aStatus('wamid.2', 'read', 'reconciled'))).toMatchObject({ duplicate: true });
  expect(await tell(aStatus('wamid.2', 'read'))).toMatchObject({ duplicate: false });
});

test('a lower status from gap repair is superseded', async () => {
  await tell(aStatus('wamid.3', 'read'));
  expect(await tell(aStatus('wamid.3', 'sent', 'reconciled'))).toEqual({
    superseded: true,
    duplicate: false,
  });
});

test('remembers a reconciled status for longer than the upstream repeats webhooks', async () => {
  await tell(aStatus('wamid.4', 'delivered', 'reconciled'));
  await tell(aStatus('wamid.4', 'read'));
  const key = contentId('status', '800000000000001', 'wamid.4');
  expect(await redis.redis.ttl(key)).toBeGreaterThan(7 * 86_400);
});

test('a repeated category change has the prices of the first one', async () => {
  const changed = (cost: object): NormalisedEvent => ({
    ...aStatus('', 'sent'),
    occurrence: 'template_category|900000000000001|300000000000001|MARKETING',
    event: 'template.category_updated',
    data: { new_category: 'MARKETING', cost },
  });
  const first = changed({ currency: null, reason: 'the prices could not be read' });
  const repeated = changed({ currency: 'USD', reason: null });
  await createMemory(redis).complete([first], []);
  await createMemory(redis).complete([repeated], []);
  expect(JSON.stringify(repeated.data)).toBe(JSON.stringify(first.data));
});

describe('the handler of a thread', () => {
  const thread = (contact: string) => ({ ...aStatus('', 'sent'), contact });
  const handOver = (contact: string, current_handler = 'other_app') =>
    createMemory(redis).complete(
      [],
      [{ ...thread(contact), kind: 'handover', timestamp: 100, data: { current_handler } }],
    );
  const receive = (contact: string, timestamp: number) =>
    createMemory(redis).complete(
      [{ ...thread(contact), event: 'message.received', timestamp, data: { message_id: 'w' } }],
      [],
    );
  const handlerOf = async (contact: string): Promise<unknown> => {
    const event: NormalisedEvent = {
      ...thread(contact),
      event: 'standby.message_received',
      data: { current_handler: 'ai_agent' },
    };
    await createMemory(redis).complete([event], []);
    return event.data['current_handler'];
  };

  test('is the one of the last handover, until the app receives a message of the thread', async () => {
    await handOver('15550100001');
    await handOver('15550100002');
    expect(await handlerOf('15550100001')).toBe('other_app');
    await receive('15550100001', 101);
    expect(await handlerOf('15550100001')).toBe('ai_agent');
    expect(await handlerOf('15550100002')).toBe('other_app');
  });

  test('stays when a message from before the handover arrives late', async () => {
    await handOver('15550100003');
    await receive('15550100003', 99);
    expect(await handlerOf('15550100003')).toBe('other_app');
  });

  test('is that of both spellings of its number', async () => {
    await handOver(SHORT, 'business');
    expect([await handlerOf(LONG), await handlerOf(SHORT)]).toEqual(['business', 'business']);
    await handOver(LONG, 'partner');
    expect([await handlerOf(LONG), await handlerOf(SHORT)]).toEqual(['partner', 'partner']);
    expect(await handlerOf('551141234567')).toBe('ai_agent');
  });
});

test.each([
  ['participant', '15550100777', '15550100778'],
  ['participant_bsuid', 'US.4Qm7Zr81Kd02', 'US.8Bo'],
])('statuses of a group are told apart by their %s', async (field, ada, bo) => {
  const of = (person: string, status: 'delivered' | 'failed', source?: string) => {
    const event = aStatus(`wamid.group-${field}`, 'sent', source);
    event.event = `message.${status}`;
    return { ...event, data: { ...event.data, [field]: person } };
  };
  const fresh = { superseded: false, duplicate: false };
  expect(await tell(of(ada, 'failed'))).toEqual(fresh);
  expect(await tell(of(bo, 'delivered'))).toEqual(fresh);
  expect(await tell(of(ada, 'delivered'))).toEqual({ superseded: true, duplicate: false });
});

test('the two spellings of a number are one contact of the address book', async () => {
  const synced = async (phone_number: string, action: string): Promise<unknown> => {
    const event: NormalisedEvent = {
      ...aStatus('', 'sent'),
      occurrence: `contact|${phone_number}|${action}|${Math.random()}`,
      event: 'contact.synced',
      data: { action, phone_number },
    };
    await createMemory(redis).complete([event], []);
    return event.data['action'];
  };
  expect(await synced(SHORT, 'add')).toBe('add');
  expect(await synced(LONG, 'add')).toBe('update');
  expect(await synced(LONG, 'remove')).toBe('remove');
  expect(await synced(SHORT, 'add')).toBe('add');
});
