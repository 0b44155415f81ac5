// One journal on a disk that fails, and its bounds.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@bmg/common/telemetry';
import { createSendJournal } from './journal';
import { openOwnJournal, type JournalEntry } from './own-journal';
import { NOTES_MAX, type Note } from './record';

const log = createLogger('test');
const attemptOf = (request_id: string, attempt = 1): Omit<Note, 'entry'> => ({
  request_id,
  attempt,
  partner_id: 'par_1',
  waba_id: '900',
});

let dir: string;
beforeEach(() => (dir = fs.mkdtempSync(join(tmpdir(), 'sends-'))));
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(dir, { recursive: true });
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
    const unlink = jest.spyOn(fs, 'rmSync').mockImplementation(full);
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
