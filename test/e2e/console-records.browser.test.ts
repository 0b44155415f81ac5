// What the console shows of the past: quality and limit of a number by day, and the audit log with
// its filters.
import { ONE } from '../harness/shared-mesh';
import { consoleStage, inspect, reload, saved, settle, shoot } from './console-stage';
import { withDatabase } from './stored';

const DAY_MS = 86_400_000;
const { waba_id, phone_number_id } = ONE;

const stage = consoleStage();

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Past days cannot be waited for: they are stored as onboarding stores them. */
function storeDays(days: Array<[before: number, quality: string]>): Promise<unknown> {
  const { partner_id } = stage.partner;
  const documents = days.map(([before, quality_rating]) => {
    const day = dayBefore(before);
    const number = { partner_id, waba_id, phone_number_id };
    const facts = { day, day_at: new Date(day), quality_rating, messaging_limit_tier: 'TIER_1K' };
    return { _id: `${partner_id}/${waba_id}/${phone_number_id}/${day}`, ...number, ...facts };
  });
  return withDatabase(stage.mesh, 'onboarding', (db) =>
    db.collection<{ _id: string }>('number_days').insertMany(documents),
  );
}

describe('quality and limit of a number over time', () => {
  beforeAll(() =>
    storeDays([
      [40, 'GREEN'],
      [39, 'YELLOW'],
      [38, 'RED'],
      [20, 'YELLOW'],
      [2, 'GREEN'],
      [1, 'GREEN'],
    ]),
  );

  test('are drawn by day, with the changes in words and in a table', async () => {
    const open = encodeURIComponent(`${waba_id}/${phone_number_id}`);
    const page = await stage.openSignedIn(`numbers?open=${open}`);
    const panel = page.getByRole('dialog');
    const quality = panel.getByRole('img', { name: /^Quality by day since .*: green now, 4/ });
    await quality.waitFor();
    await panel
      .getByRole('img', { name: /^Messaging limit .*: 2K a day now, 1 change$/ })
      .waitFor();
    await panel.getByText(/: from yellow to red$/).waitFor();
    await settle(page);
    await quality.scrollIntoViewIfNeeded();
    await shoot(page, 'number-history-desktop-light');
    await panel.getByText('Quality by day as a table').click();
    const table = panel.getByRole('table', { name: 'Quality by day' });
    await table.getByRole('row', { name: `${dayBefore(38)} red` }).waitFor();
    // Every day since the first record has a row, those without one included.
    expect(await table.getByRole('row').count()).toBe(42);
    await table.getByRole('row', { name: `${dayBefore(30)} –` }).waitFor();
    await inspect(page);
  });

  test('are refused to another partner', async () => {
    const other = await stage.mesh.createPartner();
    const page = await stage.openSignedIn('numbers', undefined, other.partner_key);
    const answer = await page.request.get(
      `${stage.origin}/dashboard/api/numbers/${phone_number_id}/days`,
    );
    expect(await answer.json()).toEqual({ success: true, days: [] });
  });
});

const RENAMED = 'API key Orders changed the API key Reports: name from Reports to Monthly reports';
const LOGGED_IN = 'A holder of the partner key signed in with the partner key';

test('the audit log is filtered by who, action and day, in its address and its export', async () => {
  const own = await stage.mesh.createPartner({ name: 'Audited Software' });
  const create = async (name: string): Promise<{ key_id: string; secret: string }> => {
    const scopes = ['read', 'manage'];
    const { body } = await own.call('POST', '/keys', { name, scopes });
    return { key_id: body.key.key_id, secret: body.secret };
  };
  const [orders, reports] = [await create('Orders'), await create('Reports')];
  const patch = { name: 'Monthly reports' };
  const as_orders = { 'x-partner-key': orders.secret };
  const changed = await own.call('PATCH', `/keys/${reports.key_id}`, patch, as_orders);
  expect(changed.status).toBe(200);

  const page = await stage.openSignedIn('settings/audit', undefined, own.partner_key);
  const changes = page.getByRole('table', { name: 'Changes' });
  const actions = async (): Promise<string[]> => {
    await settle(page);
    return changes.getByRole('button').allTextContents();
  };
  await changes.getByRole('button', { name: RENAMED }).waitFor();
  expect(await actions()).toHaveLength(4);

  await page.getByRole('combobox', { name: 'Who' }).click();
  await page.getByRole('option', { name: 'API key Orders' }).click();
  await changes
    .getByRole('button', { name: / created the API key / })
    .first()
    .waitFor({ state: 'hidden' });
  expect(await actions()).toEqual([RENAMED]);
  await shoot(page, 'audit-filtered-desktop-light');
  await reload(page);
  await changes.getByRole('button', { name: RENAMED }).waitFor();
  expect(await saved(page.getByRole('button', { name: 'Export CSV' }))).not.toContain(
    ',POST /keys,',
  );
  await page.getByLabel('Show the changes of anyone').click();

  await page.getByRole('combobox', { name: 'Action' }).fill('POST /keys');
  await changes.getByRole('button', { name: RENAMED }).waitFor({ state: 'hidden' });
  expect(await actions()).toEqual([
    'The partner key created the API key Reports',
    'The partner key created the API key Orders',
  ]);
  await page.keyboard.press('Escape');
  await page.getByLabel('To').fill(dayBefore(1));
  await page.getByText('No change matches').waitFor();
  await page.getByLabel('To').fill('');
  await page.getByRole('combobox', { name: 'Action' }).fill('');
  await page.keyboard.press('Escape');

  await changes.getByRole('button', { name: RENAMED }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText(reports.key_id).waitFor();
  await drawer.getByText('"Monthly reports"').waitFor();
  await inspect(page, 'audit-desktop-light');
  await page.keyboard.press('Escape');
  await changes.getByRole('button', { name: LOGGED_IN }).click();
  await page.getByRole('button', { name: 'Show only the changes of this one' }).click();
  await changes
    .getByRole('button', { name: / created the API key / })
    .first()
    .waitFor({ state: 'hidden' });
  expect(await actions()).toEqual([LOGGED_IN]);
  await inspect(page);
});
