// Every screen of the console, and its panels, as each role sees it: no request is refused, the
// browser reports no error, and axe finds no fault.
import type { Page } from 'playwright-core';
import { ONE, type TestPartner } from '../harness/shared-mesh';
import { chosenSecret } from '../testkit/partner';
import { createBroadcast, people, untilCompleted } from './broadcast-support';
import { STAGE_LIMIT_MS } from './connect-browser';
import {
  faultsOf,
  LIMIT_MS,
  openConsoleStage,
  SCREENS,
  settle,
  shoot,
  type ConsoleStage,
} from './console-stage';
import { consoleOf, joinMeshWithName } from './people-support';

let stage: ConsoleStage;
let partner: TestPartner;
/** Addresses with a panel that is open. */
let panels: Record<string, string>;

beforeAll(async () => {
  stage = await openConsoleStage(() => joinMeshWithName());
  ({ partner } = stage);
  const headers = { 'x-waba-id': ONE.waba_id, 'x-phone-number-id': ONE.phone_number_id };
  const { body } = await partner.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    headers,
  );
  const broadcast = await createBroadcast(partner, ONE, people(2), { name: 'Spring sale' });
  await untilCompleted(partner, broadcast, LIMIT_MS);
  const { body: log } = await partner.call('GET', '/events?limit=1');
  const { body: created } = await partner.call('POST', '/webhook-endpoints', {
    url: partner.receiver.url,
    description: 'CRM',
    events: ['message.*'],
    secret: chosenSecret(),
  });
  const { body: templates } = await partner.call('GET', '/templates', undefined, headers);
  panels = {
    number: `numbers?open=${encodeURIComponent(`${ONE.waba_id}/${ONE.phone_number_id}`)}`,
    message: `messages?open=${body.message_id}`,
    event: `events?open=${log.events[0].event_id}`,
    broadcast: `broadcasts?open=${broadcast}`,
    'endpoint-known': `settings/receivers/${created.endpoint.endpoint_id}`,
    template: `templates?open=${templates.templates[0].id}`,
  };
}, STAGE_LIMIT_MS);
afterEach(() => stage.tidy());
afterAll(() => stage.close());

/** A page of a person who has accepted an invitation. */
async function openAs(role: string): Promise<Page> {
  const invited = await partner.call('POST', '/people', { email: `${role}@example.com`, role });
  const { accept } = consoleOf(stage.mesh);
  const { headers } = await accept(invited.body.invitation_url as string);
  const [cookie = ''] = (headers.get('set-cookie') as string).split(';');
  const [name = '', value = ''] = cookie.split('=');
  const page = await stage.open('');
  await page.getByRole('textbox', { name: 'Partner key' }).waitFor();
  await page.context().addCookies([{ name, value, url: `${stage.origin}/dashboard` }]);
  return page;
}

test.each(['owner', 'developer', 'support', 'billing'])(
  'the role %s walks over all screens without a refusal, an error or a fault',
  async (role) => {
    const page = await openAs(role);
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    for (const [name, path] of Object.entries({ ...SCREENS, ...panels })) {
      await page.goto(`${stage.origin}/dashboard/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settle(page);
      // An owner sees what the partner key sees, which other tests check.
      const faults = role === 'owner' ? [] : await faultsOf(page);
      expect([name, faults, refused, stage.complaints]).toEqual([name, [], [], []]);
      await shoot(page, `${role}-${name}`);
    }
  },
);
