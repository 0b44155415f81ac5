// The upstream stub of the send benchmark: the same for both chains, and as little as HTTP allows.
import { createServer } from 'node:http';

let count = 0;
createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    count += 1;
    const body = `{"messaging_product":"whatsapp","contacts":[{"input":"15550100777","wa_id":"15550100777"}],"messages":[{"id":"wamid.BENCH${count}"}]}`;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(Number(process.env['STUB_PORT']), '127.0.0.1');
