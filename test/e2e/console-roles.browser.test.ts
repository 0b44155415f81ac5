// Every screen of the console, and its panels, as each role sees it: no request is refused, the
// browser reports no error, and axe finds no fault.
import type { Page } from 'playwright-core';
import { ONE } from '../harness/shared-mesh';
import { chosenSecret } from '../testkit/partner';
import { createBroadcast, people, untilCompleted } from './broadcast-support';
import { consoleStage, faultsOf, LIMIT_MS, SCREENS, settle, shoot, visit } from './console-stage';
import { consoleOf, joinMeshWithName } from './people-support';

/** Addresses with a panel that is open. */
let panels: Record<string, string>;

const stage = consoleStage({ join: () => joinMeshWithName(), prepare });

async function prepare(): Promise<void> {
  const { partner } = stage;
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
}

/** A page of a person who has accepted an invitation. */
async function openAs(role: string): Promise<Page> {
  const invited = await stage.partner.call('POST', '/people', {
    email: `${role}@example.com`,
    role,
  });
  const { accept } = consoleOf(stage.mesh);
  const { headers } = await accept(invited.body.invitation_url as string);
  const [cookie = ''] = (headers.get('set-cookie') as string).split(';');
  const [name = '', value = ''] = cookie.split('=');
  const page = await stage.open('');
  await page.getByRole('textbox', { name: 'Partner key' }).waitFor();
  await page.context().addCookies([{ name, value, url: `${stage.origin}/dashboard` }]);
  return page;
}

const GUARDED = ['Overview', 'Usage', 'API keys', 'People'];

test.each([
  ['owner', GUARDED],
  ['developer', ['Overview', 'API keys', 'People']],
  ['support', ['Overview']],
  ['billing', ['Usage']],
])(
  'the role %s sees the links %j, and walks over all screens without a refusal or a fault',
  async (role, seen) => {
    const page = await openAs(role);
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    await visit(page, 'settings/profile');
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(GUARDED.filter((name) => links.includes(name))).toEqual(seen);
    for (const [name, path] of Object.entries({ ...SCREENS, ...panels })) {
      await visit(page, path);
      await settle(page);
      // An owner sees what the partner key sees, which other tests check.
      const faults = role === 'owner' ? [] : await faultsOf(page);
      expect([name, faults, refused, stage.complaints]).toEqual([name, [], [], []]);
      await shoot(page, `${role}-${name}`);
    }
  },
);
