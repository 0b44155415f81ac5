// Reads a ledger of 100,000 priced messages as CSV through real processes, in memory that does not
// grow with the number of rows: a small heap suffices. Prints the memory growth of each process.
import { MongoClient, type Collection } from 'mongodb';
import { request } from 'undici';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { dayOf } from '@bmg/common/time';
import { RatesDefinition } from '@bmg/proto/messaging';
import { eventually } from '../testkit/eventually';
import { growthDuring } from '../testkit/resident-memory';
import {
  ONE,
  startProcessMesh,
  type ProcessMesh,
  type ProcessPartner,
} from '../harness/process-mesh';

const ROWS = Number(process.env['BMG_LEDGER_ROWS'] ?? 100_000);
/** Read first, so that the heaps have their usual size before memory is measured. */
const WARM_UP_ROWS = ROWS / 5;
const BATCH = 1_000;
/** The objects of all rows do not fit beside the memory that a process needs anyway. */
const HEAP_MB = 128;
const GROWTH_MAX_MIB = 64;
const DAY_MS = 86_400_000;
const LIMIT_MS = 15 * 60_000;
const WATCHED = ['gateway', 'messaging'] as const;
const PRICE = '0.0456';

jest.setTimeout(LIMIT_MS);

let mesh: ProcessMesh;
let client: MongoClient;

beforeAll(async () => {
  // The stand-in for MongoDB reads all documents of a collection for many queries: more heap, and
  // no background work that reads messages.
  mesh = await startProcessMesh({
    own_engines: true,
    env: { MONGO_HEAP: '2g', GAP_REPAIR_DELAY_MS: '0', LEDGER_CLOSE_DAYS: '0' },
  });
  // A process without a limit lets its memory grow far before it collects garbage.
  for (const name of WATCHED) {
    await mesh.terminate(name);
    await mesh.start(name, { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
  }
  client = await MongoClient.connect(mesh.settings['MONGO_URL'] as string);
  const rates = createRpcClient(RatesDefinition, mesh.settings['MESSAGING_ADDR'] as string);
  await rates.rpc.loadRates(
    {
      csv: `currency,market,category,tier,valid_from,price\nEUR,Germany,utility,,2020-01-01,${PRICE}`,
    },
    ownCall(unsampled(), 30_000),
  );
  await rates.stop();
}, LIMIT_MS);
afterAll(async () => {
  await client?.close();
  await mesh?.stop();
});

const messages = (): Collection<{ _id: string }> =>
  client.db(`${mesh.env['MONGO_DATABASE_PREFIX'] as string}messaging`).collection('messages');

/** A partner with that many message records of delivered messages. */
async function partnerWith(rows: number): Promise<ProcessPartner> {
  const partner = await mesh.createPartner();
  const now = Date.now();
  for (let at = 0; at < rows; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, rows - at) }, (_, index) => {
      const sent_at = new Date(now - rows + at + index);
      return {
        _id: `${partner.partner_id}-${at + index}`,
        partner_id: partner.partner_id,
        waba_id: ONE.waba_id,
        phone_number_id: ONE.phone_number_id,
        message_id: `wamid.${partner.partner_id}${at + index}`,
        kind: 'template',
        template: { name: 'order_update', language: 'en_US' },
        recipient: `4915112${String(at + index).padStart(6, '0')}`,
        status: 'delivered',
        sent_at,
        updated_at: sent_at,
        arrived: true,
        pricing: {
          category: 'utility',
          billable: true,
          model: 'PMP',
          type: 'regular',
          market: 'Germany',
        },
      };
    });
    await messages().insertMany(batch);
  }
  return partner;
}

async function readCsv({ partner_key }: ProcessPartner) {
  const from = dayOf(new Date(Date.now() - DAY_MS));
  const { statusCode, body } = await request(`${mesh.base_url}/usage/ledger?from=${from}`, {
    headers: { 'x-partner-key': partner_key, accept: 'text/csv' },
    bodyTimeout: LIMIT_MS,
    headersTimeout: LIMIT_MS,
  });
  const found = {
    statusCode,
    rows: 0,
    bytes: 0,
    amounts: new Set<string>(),
    ids: new Set<string>(),
  };
  let columns: string[] | undefined;
  let rest = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    found.bytes += chunk.length;
    const lines = (rest + chunk.toString('latin1')).split('\r\n');
    rest = lines.pop() as string;
    for (const line of lines) {
      const cells = line.split(',');
      if (!columns) {
        columns = cells;
        continue;
      }
      found.rows += 1;
      found.ids.add(cells[columns.indexOf('message_id')] as string);
      found.amounts.add(cells[columns.indexOf('amount')] as string);
    }
  }
  return { ...found, rest };
}

test(`exports ${ROWS} rows in memory that does not grow with their number`, async () => {
  const few = await partnerWith(WARM_UP_ROWS);
  await eventually(async () => (await readCsv(few)).rows === WARM_UP_ROWS, LIMIT_MS);
  const many = await partnerWith(ROWS);
  const started = performance.now();
  const { result, grown_mib } = await growthDuring(
    `${ROWS} rows`,
    { names: WATCHED, pid: (name) => mesh.pid(name) },
    () => readCsv(many),
  );
  const { ids, amounts, bytes, ...csv } = result;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(`  ${(bytes / 1_048_576).toFixed(1)} MiB in ${seconds} s\n`);
  expect(csv).toEqual({ statusCode: 200, rows: ROWS, rest: '' });
  expect(ids.size).toBe(ROWS);
  expect([...amounts]).toEqual([PRICE]);
  for (const mib of grown_mib) expect(mib).toBeLessThan(GROWTH_MAX_MIB);
});
