// deploy/DATA.md names every collection and topic of a running mesh with its retention, which
// matches the TTL index or gives the reason for none. The purge treats each collection as the page
// says.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MongoClient, type Db } from 'mongodb';
import {
  DEAD_LETTER_RETENTION_HOURS,
  deadLetterName,
  topics,
} from '../../services/common/src/bus/topics';
import type { PurgeRow } from '../../services/common/src/purge';
import { purgeRows as broadcasts } from '../../services/broadcasts/src/collections';
import { purgeRows as messaging } from '../../services/messaging/src/collections';
import { purgeRows as onboarding } from '../../services/onboarding/src/operator/purge';
import { purgeRows as templates } from '../../services/templates/src/store';
import { createPacker } from '../../services/webhooks/src/event-log/packer';
import { purgeRows as webhooks } from '../../services/webhooks/src/collections';
import { eventually } from '../testkit/eventually';
import { ONE, joinMesh, type Mesh } from '../harness/shared-mesh';

const ROOT = resolve(__dirname, '../..');
const page = readFileSync(resolve(ROOT, 'deploy/DATA.md'), 'utf8');

interface Row {
  collection: string;
  kept: string;
  purge: string;
}
const rows = [
  ...page.matchAll(
    /^\| `((?:onboarding|messaging|templates|broadcasts|number-admin|webhooks)\.\w+)` \|(.*)\|$/gm,
  ),
].map(([, collection, cells]): Row => {
  const [, , kept = '', purge = ''] = (cells as string).split(' | ').map((cell) => cell.trim());
  return { collection: collection as string, kept, purge };
});

const purged: Record<string, PurgeRow[]> = {
  onboarding,
  messaging,
  templates,
  broadcasts,
  'number-admin': [],
  webhooks: webhooks(createPacker(undefined, false)),
};

let mesh: Mesh;
let client: MongoClient;

beforeAll(async () => {
  mesh = await joinMesh();
  client = await MongoClient.connect(mesh.env['MONGO_URL'] as string);
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const headers = { 'x-waba-id': ONE.waba_id };
  await partner.call('POST', '/messages/send', { to: '15550100777', text: 'Hello' }, headers);
  await partner.call('GET', '/analytics?days=7', undefined, headers);
  await eventually(() => partner.receiver.of('message.sent')[0]);
});
afterAll(async () => {
  await client.close();
  await mesh.stop();
});

async function collections(): Promise<Array<{ name: string; db: Db; collection: string }>> {
  const prefix = mesh.env['MONGO_DATABASE_PREFIX'] as string;
  const { databases } = await client.db().admin().listDatabases();
  const found = [];
  for (const { name } of databases.filter((one) => one.name.startsWith(prefix))) {
    const db = client.db(name);
    for (const { name: collection } of await db.listCollections().toArray()) {
      found.push({ name: `${name.slice(prefix.length)}.${collection}`, db, collection });
    }
  }
  return found;
}

test('lists every collection of the mesh', async () => {
  const there = await eventually(async () => {
    const found = await collections();
    return found.some(({ name }) => name === 'messaging.messages') && found;
  });
  expect(there.length).toBeGreaterThan(10);
  const listed = new Set(rows.map(({ collection }) => collection));
  expect(there.map(({ name }) => name).filter((name) => !listed.has(name))).toEqual([]);
});

const UNIT_S: Record<string, number> = { days: 86_400, hours: 3_600 };

/** `90 days (`sent_at`)`, or `until the row says so (`expires_at`)`. */
function promised(kept: string): { field: string; seconds: number } | undefined {
  const fixed = /(\d+) (days|hours) \(`(\w+)`\)/.exec(kept);
  if (fixed) {
    return {
      field: fixed[3] as string,
      seconds: Number(fixed[1]) * (UNIT_S[fixed[2] as string] ?? 0),
    };
  }
  const row = /until the row says so \(`(\w+)`\)/.exec(kept);
  return row ? { field: row[1] as string, seconds: 0 } : undefined;
}

test.each(rows.map((row) => [row.collection, row] as const))(
  '%s has the retention of the page',
  async (name, { kept }) => {
    const here = (await collections()).find((one) => one.name === name);
    // A collection that the first write creates may not exist yet, and has no index then.
    const indexes = here ? await here.db.collection(here.collection).indexes() : [];
    const ending = indexes
      .filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)
      .map(({ key, expireAfterSeconds }) => ({
        field: Object.keys(key as object)[0],
        seconds: expireAfterSeconds,
      }));
    const told = promised(kept);
    if (told && here) expect(ending).toEqual([told]);
    else {
      expect(ending).toEqual([]);
      expect(kept.length).toBeGreaterThan(20);
    }
  },
);

test('describes the effect of a purge on every collection', () => {
  for (const { collection, purge } of rows) {
    const [service, name] = collection.split('.') as [string, string];
    const row = purged[service]?.find((one) => one.collection === name);
    const wanted = row ? (row.of === 'account' ? 'deleted (account)' : 'deleted') : 'stays';
    expect([collection, purge.replace(/:.*/, '')]).toEqual([collection, wanted]);
  }
  const named = Object.entries(purged).flatMap(([service, list]) =>
    list.map((one) => `${service}.${one.collection}`),
  );
  const listed = new Set(rows.map(({ collection }) => collection));
  expect(named.filter((name) => !listed.has(name))).toEqual([]);
});

test('lists every topic with its retention', () => {
  for (const { name, retention_hours } of Object.values(topics)) {
    expect(page).toMatch(
      new RegExp(`^\\| \`${name}\` \\|.*\\| ${retention_hours} hours \\|$`, 'm'),
    );
    expect(page).toMatch(
      new RegExp(
        `^\\|.*\`${deadLetterName(name)}\`.*\\| ${DEAD_LETTER_RETENTION_HOURS} hours \\|$`,
        'm',
      ),
    );
  }
});
