// The upstream stub of the benchmarks against the bare chain: the same for both, and as little as HTTP allows.
import { createServer } from 'node:http';

/** Of every other path than that of sends: whatever is asked is there, whatever is changed succeeds. */
const SETTINGS =
  '{"success":true,"data":[{"id":"1","is_cart_enabled":true,"is_catalog_visible":true}]}';

let count = 0;
createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    count += 1;
    const body = request.url?.endsWith('/messages')
      ? `{"messaging_product":"whatsapp","contacts":[{"input":"15550100777","wa_id":"15550100777"}],"messages":[{"id":"wamid.BENCH${count}"}]}`
      : SETTINGS;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(Number(process.env['STUB_PORT']), '127.0.0.1');
