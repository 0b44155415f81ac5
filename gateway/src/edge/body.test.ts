// Reading a body: any JSON object arrives as JSON.parse reads it, however it is cut and parsed.
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import type { BodyMemory } from '../limits/load';
import { readBody, type BodyLimits } from './body';

const MIB = 1024 * 1024;
const LIMITS: BodyLimits = { limit_bytes: 16 * MIB, nodes_max: 400_000 };

const CHUNK_BYTES = 64 * 1024;

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES);
}

const requestOf = (chunks: Iterable<Buffer> | AsyncIterable<Buffer>): IncomingMessage =>
  Object.assign(Readable.from(chunks), { headers: {} }) as unknown as IncomingMessage;

const read = (text: string | Buffer, limits: Partial<BodyLimits> = {}): Promise<unknown> =>
  readBody(requestOf(chunksOf(Buffer.from(text))), { ...LIMITS, ...limits });

/** Makes a body large enough to be parsed in slices. */
const filler = (bytes: number): string[] =>
  Array.from({ length: bytes / 1_024 }, () => 'é"\\,[{'.repeat(128));

const message = (text: string): object => ({ code: 'INVALID_PAYLOAD', message: text });

test('reads an absent body as an empty object', async () => {
  expect(await read('')).toEqual({});
});

const refused = /"(__proto__|constructor)":/;
const values = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }))
  .filter((value) => !refused.test(JSON.stringify(value)));

test('reads any object as JSON.parse does', async () => {
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      const text = JSON.stringify(value, undefined, 1);
      expect(await read(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('reads any object as JSON.parse does when it is parsed in slices', async () => {
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      const whole = { ...value, long: filler(1.2 * MIB), longer: [value, ...filler(0.2 * MIB)] };
      const text = JSON.stringify(whole, undefined, 1);
      expect(await read(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 5 },
  );
});

test('takes the last of two equal keys, also in slices', async () => {
  const [one, two] = [JSON.stringify(filler(MIB)), JSON.stringify(['b', ...filler(0.5 * MIB)])];
  const read_body = (await read(`{"a":${one},"a":${two}}`)) as { a: string[] };
  expect(read_body.a[0]).toBe('b');
  expect(await read(`{"a":${one},"a":1}`)).toEqual({ a: 1 });
});

test('keeps every digit of integers beyond 2^53, in one turn or in slices', async () => {
  const part = '{"flow_id":122097329108006499,"data":[{"order_no":9007199254740993}]}';
  const long = JSON.stringify(filler(1.2 * MIB)).slice(1, -1);
  for (const text of [`{"a":[${part}]}`, `{"a":[${part},${long},${part}]}`]) {
    expect(JSON.stringify(await read(text))).toBe(text);
  }
});

test.each([
  ['{"text":"\\ud83d"}', 'text'],
  ['{"a":[{"text":"ok \\ud83d\\ude00"},{"text":"\\uDE00 half"}]}', 'a[1].text'],
  ['{"a":{"\\ud83d":1}}', 'a'],
])('refuses half a surrogate pair: %s', async (text, field) => {
  await expect(read(text)).rejects.toMatchObject({ code: 'INVALID_FIELD', details: { field } });
});

test('takes escaped surrogate pairs', async () => {
  expect(await read('{"text":"\\ud83d\\ude00 \\\\ud83d"}')).toEqual({ text: '😀 \\ud83d' });
});

describe('in a body that is parsed in slices', () => {
  const long = JSON.stringify(filler(1.2 * MIB)).slice(1, -1);
  test.each([
    ['a comma at the end of a list', `{"a":[${long},]}`],
    ['a comma at the beginning of a list', `{"a":[,${long}]}`],
    ['two commas in a list', `{"a":[${long},,${long}]}`],
    ['a list closed by a brace', `{"a":[${long}}}`],
    ['an item closed by a brace', `{"a":[${long},[1}]}`],
    ['text after the object', `{"a":[${long}]}x`],
  ])('refuses %s', async (_name, text) => {
    await expect(read(text)).rejects.toMatchObject(message('the body is not valid JSON'));
  });

  test('refuses a forbidden key in an item', async () => {
    await expect(read(`{"a":[${long},{"__proto__":{}}]}`)).rejects.toMatchObject(
      message('the keys __proto__ and constructor are not allowed in the body'),
    );
  });

  test('refuses a part that cannot be cut', async () => {
    const text = JSON.stringify('x'.repeat(1.5 * MIB));
    for (const body of [
      `{"a":${text}}`,
      `{"a":[1,${text}]}`,
      `{"a":{"b":[${long}]}}`,
      `{"a":[${long}`,
    ]) {
      await expect(read(body)).rejects.toMatchObject(
        message('the body has a part larger than 1048576 bytes'),
      );
    }
  });

  test('lets other work run', async () => {
    const items = Array.from({ length: 10_000 }, (_, at) => ({
      to: `1555${at}`,
      params: filler(1_024),
    }));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await read(JSON.stringify({ items }));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

test('refuses a body of too many values, or nested too deeply, before it has arrived', async () => {
  const endless = async function* (chunk: string) {
    for (;;) yield Buffer.from(chunk);
  };
  const first = (chunk: string): Promise<unknown> => readBody(requestOf(endless(chunk)), LIMITS);
  await expect(first('{},')).rejects.toMatchObject(message('the body has more than 400000 values'));
  await expect(first('[')).rejects.toMatchObject(
    message('the body is nested deeper than 30 levels'),
  );
});

test('answers an error of the row for a list that is too long', async () => {
  const limits = {
    nodes_max: 100,
    checkItems: (items: number) => {
      if (items > 50) throw new Error(`list of ${items}`);
    },
  };
  const list = (count: number): string =>
    JSON.stringify({ a: Array.from({ length: count }, () => [1]) });
  await expect(read(list(60), limits)).rejects.toThrow('list of 60');
  await expect(
    read(JSON.stringify({ a: { b: Array(200).fill(1) } }), limits),
  ).rejects.toMatchObject(message('the body has more than 100 values'));
});

test('refuses a body for which no memory is left, and reserves nothing after its release', async () => {
  const memory: BodyMemory = { reserve: () => false, release: () => undefined };
  await expect(read('{"a":1}', { memory })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('of several large bodies, at most two chunks are read in a pass of the event loop', async () => {
  let pass = 0;
  let is_over = false;
  const count = (): void => {
    pass += 1;
    if (!is_over) setImmediate(count);
  };
  count();
  const body = Buffer.from(JSON.stringify({ long: filler(2 * MIB) }));
  /** The passes in which a chunk was read, apart from the first MiB of each body. */
  const passes: number[] = [];
  const readOne = (): Promise<unknown> => {
    let read_bytes = 0;
    const reserve = (): boolean => {
      read_bytes += CHUNK_BYTES;
      if (read_bytes > MIB) passes.push(pass);
      return true;
    };
    return readBody(requestOf(chunksOf(body)), {
      ...LIMITS,
      memory: { reserve, release: () => undefined },
    });
  };
  await Promise.all(Array.from({ length: 3 }, readOne));
  is_over = true;
  expect(passes.length).toBeGreaterThan(3 * 16);
  // Two: one turn can begin in the timers phase of a pass, and the next one in its last phase.
  const most = Math.max(...passes.map((one) => passes.filter((other) => other === one).length));
  expect(most).toBeLessThanOrEqual(2);
});

describe('a slow body', () => {
  beforeEach(() =>
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance'] }),
  );
  afterEach(() => jest.useRealTimers());

  const drops = (every_ms: number, bytes: number) =>
    async function* () {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, every_ms));
        yield Buffer.from(' '.repeat(bytes));
      }
    };
  const LATE = message('the body did not arrive in time: send it again');

  test('is refused at the end of its time, however fast it arrives', async () => {
    const request = requestOf(drops(100, 1_000)());
    const reading = expect(
      readBody(request, { ...LIMITS, within_ms: 5_000 }),
    ).rejects.toMatchObject(LATE);
    await jest.advanceTimersByTimeAsync(5_000);
    await reading;
  });

  test('is refused when it arrives below the minimum rate', async () => {
    const reading = expect(
      readBody(requestOf(drops(1_000, 1_000)()), LIMITS),
    ).rejects.toMatchObject(LATE);
    await jest.advanceTimersByTimeAsync(5_000);
    await reading;
  });

  test('is read when it keeps the minimum rate', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(60_000) });
    const slowly = async function* () {
      for (let at = 0; at < text.length; at += 1_500) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        yield Buffer.from(text.slice(at, at + 1_500));
      }
    };
    const reading = readBody(requestOf(slowly()), LIMITS);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await reading).toEqual(JSON.parse(text));
  });
});
