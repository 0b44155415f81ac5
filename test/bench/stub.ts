// The upstream stub of the benchmarks, used for the mesh and the bare chain, with minimal HTTP.
import { createServer } from 'node:http';

/** The answer to every path except sends: reads find their object, changes succeed. */
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
