// The journal with real files, and with real processes that are killed (the built code runs in them).
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '@bmg/common/telemetry';
import { settleLeftJournals } from './left-journals';
import { createSendJournal } from './journal';
import { openOwnJournal, type JournalEntry } from './own-journal';
import {
  decodeRecord,
  encodeRecord,
  NOTES_MAX,
  RECORD_BYTES,
  type Header,
  type Note,
} from './record';

const log = createLogger('test');
const attemptOf = (request_id: string, attempt = 1): Omit<Note, 'entry'> => ({
  request_id,
  attempt,
  partner_id: 'par_1',
  waba_id: '900',
});

let dir: string;
const processes: ChildProcess[] = [];
beforeEach(() => (dir = fs.mkdtempSync(join(tmpdir(), 'sends-'))));
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(processes.splice(0).map(kill));
  fs.rmSync(dir, { recursive: true });
});

/** Its code may use `journal`, `attemptOf` and `out`, which writes a line to the parent. */
const start = async (code: string, folder = dir): Promise<ChildProcess> => {
  const script = `
    const { openOwnJournal } = require('./dist/send-journal/own-journal.js');
    const { writeSync } = require('node:fs');
    const log = { warn() {} };
    const attemptOf = (request_id, attempt = 1) =>
      ({ request_id, attempt, partner_id: 'par_1', waba_id: '900' });
    const out = (line) => writeSync(1, line + '\\n');
    openOwnJournal(process.argv[1], log).then(async (journal) => {
      setInterval(() => undefined, 1_000);
      ${code}
    });`;
  const child = spawn(process.execPath, ['-e', script, folder], {
    cwd: join(__dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  return child;
};
const started = async (code: string, folder = dir): Promise<ChildProcess> => {
  const child = await start(`${code}; out('ready');`, folder);
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  return child;
};
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
};

/** The requests that were certainly not sent, by the journals of the folder. */
async function settled(folder = dir): Promise<string[]> {
  const found: string[] = [];
  await settleLeftJournals(
    folder,
    async (notes) => void found.push(...notes.map(({ request_id }) => request_id)),
    log,
  );
  return found.sort();
}
const journalIn = (folder = dir): string =>
  join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.sends')) as string);

/** One attempt of each kind. */
const ONE_OF_EACH = `
  journal.note(attemptOf('noted'));
  journal.note(attemptOf('leaving')).leaving();
  const ended = journal.note(attemptOf('ended'));
  ended.leaving();
  ended.end();
`;

describe('after a kill', () => {
  test('the noted attempts that were not leaving are settled once, with all of their fields', async () => {
    await kill(await started(ONE_OF_EACH));
    const settle = jest.fn(async (_notes: Note[]) => undefined);
    await settleLeftJournals(dir, settle, log);
    await settleLeftJournals(dir, settle, log);
    expect(settle.mock.calls).toEqual([
      [[{ ...attemptOf('noted'), entry: expect.stringMatching(/^[0-9a-f-]{36}\.1$/) }]],
    ]);
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  test('no attempt that reached the wire counts as not sent, whenever the kill comes', async () => {
    const KILLS = 12;
    let sent_of_all = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const child = await start(`
        out('ready');
        for (let at = 0; ; at += 1) {
          const entry = journal.note(attemptOf('r' + at));
          if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
          entry.leaving();
          out('r' + at);
          entry.end();
        }`);
      const sent = new Set<string>();
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      const closed = once(lines, 'close');
      lines.on('line', (line) => sent.add(line));
      await once(lines, 'line');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await kill(child);
      await closed;
      for (const request_id of await settled()) expect(sent).not.toContain(request_id);
      sent_of_all += sent.size - 1;
    }
    expect(sent_of_all).toBeGreaterThan(KILLS);
  });

  test('a journal stays until its attempts are settled', async () => {
    await kill(await started(ONE_OF_EACH));
    const unavailable = new Error('the database is unavailable');
    await expect(settleLeftJournals(dir, () => Promise.reject(unavailable), log)).rejects.toBe(
      unavailable,
    );
    expect(await settled()).toEqual(['noted']);
  });

  test('several journals are settled', async () => {
    for (const name of ['one', 'two']) {
      await kill(await started(`journal.note(attemptOf('${name}'))`));
    }
    expect(await settled()).toEqual(['one', 'two']);
  });

  test('a process that starts with the folder settles the attempts of the one before', async () => {
    const sends = join(dir, 'bmg-sends');
    fs.mkdirSync(sends);
    await kill(await started(ONE_OF_EACH, sends));
    const released: Note[] = [];
    const journal = createSendJournal({
      dir,
      log,
      sendClaims: { releaseNoted: async (notes) => released.push(...notes) },
    });
    await journal.start(new AbortController().signal);
    expect(released.map(({ request_id }) => request_id)).toEqual(['noted']);
    expect(journal.note(attemptOf('next'))).toBeDefined();
    await journal.stop();
  });
});

describe('what proves nothing', () => {
  test('a journal of a process that lives, or is stopped', async () => {
    const child = await started(ONE_OF_EACH);
    expect(await settled()).toEqual([]);
    child.kill('SIGSTOP');
    expect(await settled()).toEqual([]);
    expect(fs.readdirSync(dir)).toHaveLength(2);
    await kill(child);
    expect(await settled()).toEqual(['noted']);
  });

  /** Replaces a part of the header, as it would be on another machine, or by another release. */
  const rewriteHeader = (change: Partial<Header>): void => {
    const path = journalIn();
    const bytes = fs.readFileSync(path);
    const header = decodeRecord('header', bytes.subarray(0, RECORD_BYTES)) as Header;
    (encodeRecord('header', { ...header, ...change }) as Buffer).copy(bytes);
    fs.writeFileSync(path, bytes, { flag: 'r+' });
  };
  const copyAside = (path: string): void => {
    fs.copyFileSync(path, `${path}.copy`);
    fs.renameSync(`${path}.copy`, path);
  };
  test.each<[string, () => void]>([
    ['from before a restart of the machine', () => rewriteHeader({ boot_id: 'another' })],
    ['of another format', () => rewriteHeader({ format: 2 })],
    ['of another id', () => rewriteHeader({ journal_id: 'another' })],
    ['that was copied', () => copyAside(journalIn())],
    ['without its lock', () => fs.rmSync(journalIn().replace('.sends', '.lock'))],
    ['that is cut off', () => fs.truncateSync(journalIn(), 10 * RECORD_BYTES)],
    ['whose header is damaged', () => fs.writeFileSync(journalIn(), 'HHHH', { flag: 'r+' })],
  ])('a journal %s: it is removed', async (_name, change) => {
    await kill(await started(ONE_OF_EACH));
    change();
    expect(await settled()).toEqual([]);
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  test('a journal whose lock is not a socket: it stays', async () => {
    await kill(await started(ONE_OF_EACH));
    copyAside(journalIn());
    const lock = journalIn().replace('.sends', '.lock');
    fs.rmSync(lock);
    fs.writeFileSync(lock, '');
    expect(await settled()).toEqual([]);
    expect(fs.readdirSync(dir)).toHaveLength(2);
  });

  test('a damaged note', async () => {
    await kill(await started(`journal.note(attemptOf('a')); journal.note(attemptOf('b'));`));
    const bytes = fs.readFileSync(journalIn());
    bytes.writeUInt8(bytes.readUInt8(RECORD_BYTES + 60) ^ 1, RECORD_BYTES + 60);
    fs.writeFileSync(journalIn(), bytes, { flag: 'r+' });
    expect(await settled()).toEqual(['b']);
  });
});

describe('without room', () => {
  const full = (): never => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };

  test('a note that cannot be written ends the journal, and the attempts before it leave', async () => {
    const journal = await openOwnJournal(dir, log);
    const before = journal.note(attemptOf('before')) as JournalEntry;
    const write = jest.spyOn(fs, 'writeSync').mockImplementation(full);
    expect(journal.note(attemptOf('refused'))).toBeUndefined();
    expect(fs.readdirSync(dir).filter((name) => name.endsWith('.sends'))).toEqual([]);
    before.leaving();
    write.mockRestore();
    expect(journal.note(attemptOf('later'))).toBeUndefined();
    journal.close();
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  test('a partly written note counts as not written', async () => {
    const journal = await openOwnJournal(dir, log);
    jest.spyOn(fs, 'writeSync').mockReturnValue(100);
    expect(journal.note(attemptOf('partly'))).toBeUndefined();
    journal.close();
  });

  test('an attempt that cannot be marked leaves only once the journal is removed', async () => {
    const journal = await openOwnJournal(dir, log);
    const [one, other] = ['one', 'other'].map((id) => journal.note(attemptOf(id)) as JournalEntry);
    jest.spyOn(fs, 'writeSync').mockImplementation(full);
    const unlink = jest.spyOn(fs, 'unlinkSync').mockImplementation(full);
    const refused = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(() => one?.leaving()).toThrow(refused as never);
    unlink.mockRestore();
    // The file is still there, and the note of the other one in it is still right.
    expect(() => other?.leaving()).toThrow(refused as never);
    journal.close();
  });

  test('an attempt that cannot be marked leaves if the journal can be removed', async () => {
    const journal = await openOwnJournal(dir, log);
    const one = journal.note(attemptOf('one')) as JournalEntry;
    jest.spyOn(fs, 'writeSync').mockImplementation(full);
    one.leaving();
    expect(fs.readdirSync(dir).filter((name) => name.endsWith('.sends'))).toEqual([]);
    journal.close();
  });

  test('a folder that cannot hold a journal leaves the attempts without notes', async () => {
    const long = join(dir, 'x'.repeat(100));
    fs.mkdirSync(long);
    const releaseNoted = async (): Promise<number> => 0;
    for (const folder of [long, join(dir, 'missing'), '/proc', undefined]) {
      const journal = createSendJournal({ dir: folder, log, sendClaims: { releaseNoted } });
      await journal.start(new AbortController().signal);
      expect(journal.note(attemptOf('any'))).toBeUndefined();
      await journal.stop();
    }
  });

  test('a full disk refuses the journal at the start, and leaves no file', async () => {
    jest.spyOn(fs, 'writeSync').mockImplementation(full);
    await expect(openOwnJournal(dir, log)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(fs.readdirSync(dir)).toEqual([]);
  });
});

test('as many attempts are noted as there are records; those that ended make room', async () => {
  const journal = await openOwnJournal(dir, log);
  const entries = Array.from({ length: NOTES_MAX }, (_unused, at) =>
    journal.note(attemptOf(`r${at}`)),
  );
  expect(new Set(entries.map((entry) => entry?.id)).size).toBe(NOTES_MAX);
  expect(journal.note(attemptOf('more'))).toBeUndefined();
  entries[0]?.end();
  entries[0]?.end();
  expect(journal.note(attemptOf('next'))).toBeDefined();
  expect(journal.note(attemptOf('more'))).toBeUndefined();
  expect(() => entries[0]?.leaving()).toThrow('nothing was sent');
  journal.close();
});

test('an attempt whose ids do not fit is not noted', async () => {
  const journal = await openOwnJournal(dir, log);
  expect(journal.note(attemptOf('x'.repeat(200)))).toBeUndefined();
  expect(journal.note(attemptOf('short'))).toBeDefined();
  journal.close();
});

test('a process that ends in order removes its journal, unless attempts have not ended', async () => {
  const idle = await openOwnJournal(dir, log);
  idle.note(attemptOf('ended'))?.end();
  idle.close();
  expect(fs.readdirSync(dir)).toEqual([]);

  await once(
    await start(`journal.note(attemptOf('noted')); journal.close(); process.exit(0);`),
    'exit',
  );
  expect(await settled()).toEqual(['noted']);
});

test('a note and its mark cost microseconds', async () => {
  const journal = await openOwnJournal(dir, log);
  const COUNT = 20_000;
  const began = performance.now();
  for (let at = 0; at < COUNT; at += 1) {
    const entry = journal.note(attemptOf(`bc_123456789_0_${at}_0123456789ab`)) as JournalEntry;
    entry.leaving();
    entry.end();
  }
  const us = ((performance.now() - began) / COUNT) * 1_000;
  process.stdout.write(`  a note and its mark: ${us.toFixed(1)} µs\n`);
  expect(us).toBeLessThan(1_000);
  journal.close();
});
