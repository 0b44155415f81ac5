// The upstream stub of the benchmarks, used for the mesh and the bare chain, with minimal HTTP. If
// STUB_WEBHOOKS is set, it also posts the statuses of each send, in a webhook each.
import { createServer } from 'node:http';
import { requestBytes } from '../testkit/request-bytes';
import { bodyOf, signed, statusChange } from '../testkit/upstream-webhooks';
import { SILENT } from './stub-rules';
import { createWireClient } from './wire-client';

/** The answer to every path except sends: reads find their object, changes succeed. */
const SETTINGS =
  '{"success":true,"data":[{"id":"1","is_cart_enabled":true,"is_catalog_visible":true}]}';
const STATUSES = ['sent', 'delivered', 'read'] as const;

/** Address of the ingress, and the account of each number. */
const webhooks = process.env['STUB_WEBHOOKS'];
const accounts = JSON.parse(process.env['STUB_ACCOUNTS'] ?? '{}') as Record<string, string>;
const ingress = webhooks === undefined ? undefined : createWireClient(webhooks);

let count = 0;
createServer((request, response) => {
  const chunks: Buffer[] = [];
  if (ingress) request.on('data', (chunk: Buffer) => chunks.push(chunk));
  else request.resume();
  request.on('end', () => {
    count += 1;
    const { url = '' } = request;
    const id = `wamid.BENCH${count}`;
    const body = url.endsWith('/messages')
      ? `{"messaging_product":"whatsapp","contacts":[{"input":"15550100777","wa_id":"15550100777"}],"messages":[{"id":"${id}"}]}`
      : SETTINGS;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
    if (url.endsWith('/messages')) void postStatuses(url, id, Buffer.concat(chunks));
  });
}).listen(Number(process.env['STUB_PORT']), '127.0.0.1');

/** Each after the one before it was answered, as they take place. */
async function postStatuses(url: string, id: string, sent: Buffer): Promise<void> {
  if (!ingress || webhooks === undefined || sent.includes(SILENT)) return;
  const phone_number_id = url.split('/').at(-2) ?? '';
  const { to, biz_opaque_callback_data } = JSON.parse(String(sent)) as Record<string, string>;
  const number = { waba_id: accounts[phone_number_id] ?? '', phone_number_id };
  for (const status of STATUSES) {
    const change = statusChange(number, id, status, {
      timestamp: String(Math.floor(Date.now() / 1_000)),
      recipient_id: to,
      biz_opaque_callback_data,
      pricing: { billable: true, pricing_model: 'PMP', category: 'service' },
    });
    const body = bodyOf(number, [change]);
    await ingress.send(requestBytes(new URL(webhooks), '/webhooks/upstream', signed(body), body));
  }
}
