// The pace of broadcasts against the emulator's limiter, with the default settings: never above the
// limit of the number, and no refusals. The benchmark measures the speed.
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import {
  arrivalsOf,
  createBroadcast,
  detailOf,
  people,
  rateOf,
  refusedOf,
  scopeOf,
  spanOf,
} from './broadcast-support';
import { useMesh, usePartner } from './use-mesh';

/** Messages a second that the platform accepts of a number in use in the business app. */
const APP_PER_SEC = 20;
/** Generous: a busy machine misses pace slots, which are not made up. The test prints the rate. */
const COMPLETE_LIMIT_MS = 150_000;

const mesh = useMesh();
const partner = usePartner(mesh);

test('sends 200 contacts at no more than 20 a second without refusals, beside the partner’s own sends', async () => {
  const own: number[] = [];
  const id = await createBroadcast(partner, ONE, people(200));
  let estimated_at = 0;
  let rate_per_sec = 0;
  const detail = await eventually(async () => {
    // One ordinary send of the partner beside every poll.
    const body = { to: '15550100777', text: 'Between them' };
    own.push((await partner.call('POST', '/messages/send', body, scopeOf(ONE))).status);
    // Paces the partner's own sends.
    await new Promise((resolve) => setTimeout(resolve, 700));
    const now = await detailOf(partner, id);
    expect(now.sent + now.failed).toBeLessThanOrEqual(now.total);
    expect(now.delivered).toBeLessThanOrEqual(now.sent);
    if (now.status === 'processing' && now.sent > 60 && estimated_at === 0) {
      estimated_at = Date.parse(now.estimated_completion_at ?? '');
      rate_per_sec = now.rate_per_sec ?? 0;
    }
    return now.status === 'completed' && now;
  }, COMPLETE_LIMIT_MS);
  expect(detail).toMatchObject({ total: 200, sent: 200, failed: 0, error_log: null });
  const arrivals = await arrivalsOf(mesh.emulator, ONE);
  expect(new Set(arrivals.recipients).size).toBe(200);
  expect(arrivals.recipients).toHaveLength(200);
  expect(await refusedOf(mesh.emulator, ONE)).toBe(0);
  expect(spanOf(arrivals)).toBeGreaterThanOrEqual(199 / APP_PER_SEC);
  expect(own.every((status) => status === 200)).toBe(true);
  // The estimated end was at most 5 s too late.
  expect(rate_per_sec).toBeGreaterThan(0);
  expect(rate_per_sec).toBeLessThanOrEqual(APP_PER_SEC);
  expect(estimated_at - Date.parse(detail.completed_at ?? '')).toBeLessThan(5_000);
  await eventually(async () => (await detailOf(partner, id)).delivered === 200);
  process.stdout.write(
    `  200 contacts in ${spanOf(arrivals).toFixed(2)} s, ${rateOf(arrivals).toFixed(2)} /s, ${own.length} own sends beside them\n`,
  );
});
