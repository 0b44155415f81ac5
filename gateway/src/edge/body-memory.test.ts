// The memory that is reserved for a body covers what the body takes, measured over hostile bodies.
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readBody } from './body';

const MIB = 1024 * 1024;
const NODES_MAX = 200_000;
const BODY_BYTES = 3 * MIB;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const used = async (rounds: number): Promise<number> => {
  for (let round = 0; round < rounds; round += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const many = (count: number, item: (at: number) => string): string =>
  `{"contacts":[${Array.from({ length: count }, (_, at) => item(at)).join()}]}`;
/** Items that together use up both limits. */
const wide = (per_contact: number, item: (at: number) => string): string =>
  many(Math.floor((NODES_MAX - 10) / per_contact), (at) => {
    const text = item(at);
    return text.padEnd(Math.floor((BODY_BYTES * per_contact) / NODES_MAX));
  });

const BODIES: Readonly<Record<string, () => string>> = {
  'empty objects': () => wide(2, () => '{}'),
  'objects with one long key each': () => wide(2, (at) => `{"k${at}${'y'.repeat(40)}":1}`),
  contacts: () => wide(11, (at) => `{"to":"1555${at}","params":["a","b","c","d","e","f","g"]}`),
  'one character beyond Latin in each text': () =>
    wide(1, (at) => `"\u4e00${'x'.repeat(24)}${at}"`),
  'long texts': () => many(1_000, (at) => `"${at}${'x'.repeat(14_000)}"`),
  'an object with many keys': () =>
    `{"a":{${Array.from({ length: NODES_MAX / 20 }, (_, at) => `"k${at}":{}`).join()}}}`,
};

test.each(Object.entries(BODIES))('%s take less than is reserved', async (_name, make) => {
  const body = Buffer.from(make());
  const chunks = function* () {
    for (let at = 0; at < body.length; at += 65_536)
      yield Buffer.from(body.subarray(at, at + 65_536));
  };
  let reserved = 0;
  const memory = {
    reserve: (bytes: number) => (reserved += bytes) > 0,
    release: () => undefined,
  };
  const before = await used(1);
  const request = Object.assign(Readable.from(chunks()), { headers: {} });
  const value = await readBody(request as unknown as IncomingMessage, {
    limit_bytes: 16 * MIB,
    nodes_max: NODES_MAX,
    memory,
  });
  const taken = (await used(2)) - before;
  expect(value).toBeDefined();
  expect(taken).toBeLessThan(reserved);
});
