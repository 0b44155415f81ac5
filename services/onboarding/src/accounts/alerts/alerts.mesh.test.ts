// Alerts against a real database: each cause, at most one a day, and none lost before it is
// published.
import type { Handlers } from '@bmg/common/rpc';
import type { AlertsDefinition } from '@bmg/proto/alerts';
import { calling, NO_KAFKA, useWorld } from '../../../test/world';
import { alerts, raiseDue } from './alerts';

const world = useWorld();
const told = (): unknown[] =>
  world.deps.published.map(({ partner_id, data }) => [
    partner_id,
    (JSON.parse(data) as { cause: string }).cause,
  ]);

async function watcher(alerts: Record<string, string>): Promise<string> {
  const { _id } = await world.partner();
  await world.deps.partners.change(_id, { alerts }, new Date());
  return _id;
}

test('raises a failure rate and unpaid slots once, for partners that watch them', async () => {
  const partner_id = await watcher({ failure_rate: '10', unpaid_slots: 'true' });
  const silent = await watcher({ webhook_failures: '1' });
  const day = world.deps.now().toISOString().slice(0, 10);
  for (const id of [partner_id, silent]) {
    await world.deps.messageUsage.count(
      Array.from({ length: 30 }, (_none, index) => ({
        partner_id: id,
        message_id: `wamid.${id}.${index}`,
        status: index < 3 ? 'failed' : 'sent',
        day,
        category: 'utility',
        billable: null,
      })),
      world.deps.now(),
    );
    await world.mongo.db
      .collection<{ _id: string }>('partners')
      .updateOne({ _id: id }, { $set: { waiting_wabas: ['9'] } });
  }
  await raiseDue(world.deps);
  await raiseDue(world.deps);
  expect(told()).toEqual([
    [partner_id, 'failure_rate'],
    [partner_id, 'unpaid_slots'],
  ]);
  const raised = await world.deps.partnerAlerts.of(partner_id, 10);
  expect(raised).toContainEqual(
    expect.objectContaining({ cause: 'failure_rate', value: '11', threshold: '10' }),
  );
  expect(raised).toContainEqual(expect.objectContaining({ cause: 'unpaid_slots', value: '1' }));
});

test('takes reports of other services for watchers only, and publishes after Kafka is back', async () => {
  const partner_id = await watcher({ spend_per_day: '50' });
  const [served] = alerts(world.deps).rpcs ?? [];
  const handlers = calling(served?.handlers as Handlers<AlertsDefinition>);
  const report = { partner_id, cause: 'spend_per_day', day: '2026-10-05', value: '51.20' };
  const list = () => handlers.listWatchers({ cause: 'spend_per_day' });
  expect(await list()).toEqual({ watchers: [{ partner_id, threshold: '50' }] });
  await handlers.raiseAlert({ ...report, currency: 'USD' });
  await handlers.raiseAlert({ ...report, value: '60' });
  await handlers.raiseAlert({ ...report, cause: 'webhook_failures' });
  await expect(raiseDue({ ...world.deps, ...NO_KAFKA })).rejects.toThrow('unreachable');
  await raiseDue(world.deps);
  await raiseDue(world.deps);
  const { published } = world.deps;
  expect(published).toHaveLength(1);
  expect(JSON.parse(published[0]?.data ?? '')).toEqual({
    cause: 'spend_per_day',
    day: '2026-10-05',
    value: '51.20',
    threshold: '50',
    currency: 'USD',
    phone_number_id: null,
  });
  await expect(handlers.listWatchers({ cause: 'rain' })).rejects.toMatchObject({
    details: { field: 'cause' },
  });
});
