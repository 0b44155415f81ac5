import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { readBody } from './read-body';

const request = (chunks: Iterable<string> | AsyncIterable<string>, declared?: number) =>
  Object.assign(
    Readable.from(chunks, { objectMode: false }).map((chunk: Buffer) => Buffer.from(chunk)),
    { headers: declared === undefined ? {} : { 'content-length': String(declared) } },
  ) as unknown as IncomingMessage;

test('returns the whole body', async () => {
  expect(String(await readBody(request(['ab', 'cd']), 4))).toBe('abcd');
});

test('refuses a body whose declared length is above the limit, without reading it', async () => {
  const body = request(['abcde'], 5);
  await expect(readBody(body, 4)).rejects.toMatchObject({ problem: 'too_large' });
  expect(body.readableDidRead).toBe(false);
});

test('refuses a body that grows above the limit, and leaves the request open', async () => {
  const body = request(['abc', 'de']);
  await expect(readBody(body, 4)).rejects.toMatchObject({ problem: 'too_large' });
  expect(body.destroyed).toBe(false);
});

test('refuses a body when no room is left', async () => {
  let room = 3;
  const reserve = (bytes: number): boolean => (room -= bytes) >= 0;
  await expect(readBody(request(['ab', 'cd']), 10, reserve)).rejects.toMatchObject({
    problem: 'no_room',
  });
});

test('reports a body that breaks off, with the cause', async () => {
  const broken = new Error('connection reset');
  async function* chunks() {
    yield 'ab';
    throw broken;
  }
  await expect(readBody(request(chunks()), 10)).rejects.toMatchObject({
    problem: 'incomplete',
    cause: broken,
  });
});
