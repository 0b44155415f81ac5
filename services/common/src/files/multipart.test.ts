import { text } from 'node:stream/consumers';
import { multipart } from './multipart';

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function render(filename: string, ...texts: string[]): Promise<string> {
  const size_bytes = Buffer.byteLength(texts.join(''));
  const form = multipart(
    { messaging_product: 'whatsapp', type: 'text/plain' },
    { name: 'file', filename, content_type: 'text/plain', size_bytes, chunks: pieces(...texts) },
  );
  const body = await text(form.chunks);
  expect(Buffer.byteLength(body)).toBe(form.length_bytes);
  const boundary = form.content_type.split('boundary=')[1] as string;
  return body.replaceAll(boundary, 'BOUNDARY');
}

test('holds the text fields, then the file, and has the announced length', async () => {
  expect(await render('a b.txt', 'one', 'two')).toBe(
    '--BOUNDARY\r\ncontent-disposition: form-data; name="messaging_product"\r\n\r\nwhatsapp\r\n' +
      '--BOUNDARY\r\ncontent-disposition: form-data; name="type"\r\n\r\ntext/plain\r\n' +
      '--BOUNDARY\r\ncontent-disposition: form-data; name="file"; filename="a b.txt"\r\n' +
      'content-type: text/plain\r\n\r\nonetwo\r\n--BOUNDARY--\r\n',
  );
});

test('escapes a file name so that it cannot end its header', async () => {
  const body = await render('a"\r\nx: y.txt', '');
  expect(body).toContain('filename="a%22%0D%0Ax: y.txt"\r\n');
});
