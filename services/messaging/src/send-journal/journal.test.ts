// The journal with real files, and with real processes that are killed (the built code runs in
// them).
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '@bmg/common/telemetry';
import { settleLeftJournals } from './left-journals';
import { createSendJournal } from './journal';
import { openOwnJournal } from './own-journal';
import { decodeRecord, encodeRecord, RECORD_BYTES, type Header, type Note } from './record';

const log = createLogger('test');
const attemptOf = (request_id: string, attempt = 1): Omit<Note, 'entry'> => ({
  request_id,
  attempt,
  partner_id: 'par_1',
  waba_id: '900',
});

const base = fs.mkdtempSync(join(tmpdir(), 'sends-'));
afterAll(() => fs.rmSync(base, { recursive: true }));
const newFolder = (): string => fs.mkdtempSync(join(base, 'f'));
const processes: ChildProcess[] = [];
afterEach(() => Promise.all(processes.splice(0).map(kill)));

/**
 * A process with a journal in each folder. Its code runs for each, and may use `journal`,
 * `attemptOf` and `out`, which writes a line to the parent.
 */
function start(code: string, ...folders: string[]): ChildProcess {
  const script = `
    const { openOwnJournal } = require('./dist/send-journal/own-journal.js');
    const { writeSync } = require('node:fs');
    const log = { warn() {} };
    const attemptOf = (request_id, attempt = 1) =>
      ({ request_id, attempt, partner_id: 'par_1', waba_id: '900' });
    const out = (line) => writeSync(1, line + '\\n');
    setInterval(() => undefined, 1_000);
    const run = async (journal) => { ${code} };
    Promise.all(process.argv.slice(1).map((folder) => openOwnJournal(folder, log).then(run)))
      .then(() => out('ready'));`;
  const child = spawn(process.execPath, ['-e', script, ...folders], {
    cwd: join(__dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  return child;
}
const started = async (folders: string[], code = ONE_OF_EACH): Promise<ChildProcess> => {
  const child = start(code, ...folders);
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  return child;
};
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
};

/** One attempt of each kind. */
const ONE_OF_EACH = `
  journal.note(attemptOf('noted'));
  journal.note(attemptOf('leaving')).leaving();
  const ended = journal.note(attemptOf('ended'));
  ended.leaving();
  ended.end();
`;

/** Folders with the journal of a process that was killed, one for each test. */
const left: string[] = [];
beforeAll(async () => {
  left.push(...Array.from({ length: 20 }, newFolder));
  // Below the folder of an operator.
  const sends = join(newFolder(), 'bmg-sends');
  fs.mkdirSync(sends);
  left.unshift(sends);
  await kill(await started(left));
});
const aLeftFolder = (): string => left.pop() as string;

/** The requests that were certainly not sent, by the journals of the folder. */
async function settled(folder: string): Promise<string[]> {
  const found: string[] = [];
  await settleLeftJournals(
    folder,
    async (notes) => void found.push(...notes.map(({ request_id }) => request_id)),
    log,
  );
  return found.sort();
}
const journalIn = (folder: string): string =>
  join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.sends')) as string);

describe('after a kill', () => {
  test('a process that starts with the folder settles the attempts of the one before', async () => {
    const dir = join(left[0] as string, '..');
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

  test('the noted attempts that were not leaving are settled once, with all of their fields', async () => {
    const folder = aLeftFolder();
    const settle = jest.fn(async (_notes: Note[]) => undefined);
    await settleLeftJournals(folder, settle, log);
    await settleLeftJournals(folder, settle, log);
    expect(settle.mock.calls).toEqual([
      [[{ ...attemptOf('noted'), entry: expect.stringMatching(/^[0-9a-f-]{36}\.1$/) }]],
    ]);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  const SENDING = `
    out('ready');
    for (let at = 0; ; at += 1) {
      const entry = journal.note(attemptOf('r' + at));
      if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      entry.leaving();
      out('r' + at);
      entry.end();
    }`;

  test('no attempt that reached the wire counts as not sent, whenever the kill comes', async () => {
    const KILLS = 6;
    let sent_of_all = 0;
    const folder = newFolder();
    for (let round = 0; round < KILLS; round += 1) {
      const child = start(SENDING, folder);
      const sent = new Set<string>();
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      const closed = once(lines, 'close');
      lines.on('line', (line) => sent.add(line));
      await once(lines, 'line');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await kill(child);
      await closed;
      for (const request_id of await settled(folder)) expect(sent).not.toContain(request_id);
      sent_of_all += sent.size - 1;
    }
    expect(sent_of_all).toBeGreaterThan(KILLS);
  });

  test('a journal stays until its attempts are settled', async () => {
    const folder = aLeftFolder();
    const unavailable = new Error('the database is unavailable');
    await expect(settleLeftJournals(folder, () => Promise.reject(unavailable), log)).rejects.toBe(
      unavailable,
    );
    expect(await settled(folder)).toEqual(['noted']);
  });

  test('several journals are settled', async () => {
    const [folder, other] = [aLeftFolder(), aLeftFolder()];
    for (const name of fs.readdirSync(other)) {
      fs.renameSync(join(other, name), join(folder, name));
    }
    expect(await settled(folder)).toEqual(['noted', 'noted']);
  });
});

describe('what proves nothing', () => {
  test('a journal of a process that lives, or is stopped', async () => {
    const folder = newFolder();
    const child = await started([folder]);
    expect(await settled(folder)).toEqual([]);
    child.kill('SIGSTOP');
    expect(await settled(folder)).toEqual([]);
    expect(fs.readdirSync(folder)).toHaveLength(2);
    await kill(child);
    expect(await settled(folder)).toEqual(['noted']);
  });

  /** Replaces a part of the header, as it would be on another machine, or by another release. */
  const rewriteHeader = (path: string, change: Partial<Header>): void => {
    const bytes = fs.readFileSync(path);
    const header = decodeRecord('header', bytes.subarray(0, RECORD_BYTES)) as Header;
    (encodeRecord('header', { ...header, ...change }) as Buffer).copy(bytes);
    fs.writeFileSync(path, bytes, { flag: 'r+' });
  };
  const copyAside = (path: string): void => {
    fs.copyFileSync(path, `${path}.copy`);
    fs.renameSync(`${path}.copy`, path);
  };
  const CHANGES: Record<string, (path: string) => void> = {
    'from before a restart of the machine': (path) => rewriteHeader(path, { boot_id: 'another' }),
    'of another format': (path) => rewriteHeader(path, { format: 2 }),
    'of another id': (path) => rewriteHeader(path, { journal_id: 'another' }),
    'that was copied': copyAside,
    'without its lock': (path) => fs.rmSync(path.replace('.sends', '.lock')),
    'that is cut off': (path) => fs.truncateSync(path, 10 * RECORD_BYTES),
    'whose header is damaged': (path) => fs.writeFileSync(path, 'HHHH', { flag: 'r+' }),
  };

  test.each(Object.entries(CHANGES))('a journal %s: it is removed', async (_name, change) => {
    const folder = aLeftFolder();
    change(journalIn(folder));
    expect(await settled(folder)).toEqual([]);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test('a journal whose lock is not a socket: it stays', async () => {
    const folder = aLeftFolder();
    const lock = journalIn(folder).replace('.sends', '.lock');
    fs.rmSync(lock);
    fs.writeFileSync(lock, '');
    expect(await settled(folder)).toEqual([]);
    expect(fs.readdirSync(folder)).toHaveLength(2);
  });

  test('a damaged note', async () => {
    const folder = newFolder();
    const two = `journal.note(attemptOf('a')); journal.note(attemptOf('b'));`;
    await kill(await started([folder], two));
    const bytes = fs.readFileSync(journalIn(folder));
    bytes.writeUInt8(bytes.readUInt8(RECORD_BYTES + 60) ^ 1, RECORD_BYTES + 60);
    fs.writeFileSync(journalIn(folder), bytes, { flag: 'r+' });
    expect(await settled(folder)).toEqual(['b']);
  });
});

test('a process that ends in order removes its journal, unless attempts have not ended', async () => {
  const folder = newFolder();
  const idle = await openOwnJournal(folder, log);
  idle.note(attemptOf('ended'))?.end();
  idle.close();
  expect(fs.readdirSync(folder)).toEqual([]);

  const ending = start(`${ONE_OF_EACH} journal.close(); process.exit(0);`, folder);
  await once(ending, 'exit');
  expect(await settled(folder)).toEqual(['noted']);
});
