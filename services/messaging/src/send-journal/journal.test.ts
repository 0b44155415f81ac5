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

let dir: string;
const processes: ChildProcess[] = [];
beforeEach(() => (dir = fs.mkdtempSync(join(tmpdir(), 'sends-'))));
afterEach(async () => {
  await Promise.all(processes.splice(0).map(kill));
  fs.rmSync(dir, { recursive: true });
});

/**
 * A process with a journal in each folder. Its code runs for each, and may use `journal`,
 * `attemptOf` and `out`, which writes a line to the parent.
 */
function start(code: string, folders: string[] = [dir]): ChildProcess {
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
const started = async (code: string, folders?: string[]): Promise<ChildProcess> => {
  const child = start(code, folders);
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
    const KILLS = 6;
    let sent_of_all = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const child = start(`
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
    await kill(await started(ONE_OF_EACH, [sends]));
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

  describe('a journal', () => {
    let base: string;
    const folderOf = (name: string): string =>
      join(base, String(Object.keys(CHANGES).indexOf(name)));
    beforeAll(async () => {
      base = fs.mkdtempSync(join(tmpdir(), 'left-'));
      const folders = Object.keys(CHANGES).map(folderOf);
      for (const folder of folders) fs.mkdirSync(folder);
      await kill(await started(ONE_OF_EACH, folders));
    });
    afterAll(() => fs.rmSync(base, { recursive: true }));

    test.each(Object.entries(CHANGES))('%s: it is removed', async (name, change) => {
      const folder = folderOf(name);
      change(journalIn(folder));
      expect(await settled(folder)).toEqual([]);
      expect(fs.readdirSync(folder)).toEqual([]);
    });
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

test('a process that ends in order removes its journal, unless attempts have not ended', async () => {
  const idle = await openOwnJournal(dir, log);
  idle.note(attemptOf('ended'))?.end();
  idle.close();
  expect(fs.readdirSync(dir)).toEqual([]);

  await once(start(`journal.note(attemptOf('noted')); journal.close(); process.exit(0);`), 'exit');
  expect(await settled()).toEqual(['noted']);
});
