// A client as its users have it: made, packed and installed in a folder beside the program of its
// quick start and a driver, which the tests command.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { codeBlock } from '../contract/receiving/page';
import { ONE } from '../harness/process-mesh';
import { run, type Command as Program } from './commands';
import type { Command, Result } from './conformance';

const CLIENTS = resolve(__dirname, '../../gateway/clients');
const GUIDE = resolve(CLIENTS, '../docs/guides/client.md');
const GENERATE = join(CLIENTS, 'generate.mjs');

export interface PackedClient {
  /** The name in the titles of the tests. */
  name: string;
  /** The language in code blocks of pages, and of its folder in gateway/clients. */
  language: string;
  /** Programs that the machine has to have. */
  needs: readonly string[];
  /** The file of its quick start, which the guide shows, and its README if it has one. */
  quick_start: string;
  /**
   * Installs the package that the gateway serves below `site` in the folder, where `start/` has the
   * quick start.
   */
  install(folder: string, site: string, home: string): Promise<Programs>;
}

export interface Programs {
  env?: NodeJS.ProcessEnv;
  /** Runs the quick start in `start/`. */
  start: Program;
  /** Runs `programs/driver.*`. */
  driver: Program;
}

export interface InstalledClient extends Programs {
  folder: string;
  remove(): Promise<void>;
}

const isGenerated = ({ language }: PackedClient): boolean => language !== 'js';

/** TypeScript's is packed by `make build`. */
export async function pack(clients: readonly PackedClient[]): Promise<void> {
  const languages = clients.filter(isGenerated).map(({ language }) => language);
  await run([process.execPath, GENERATE, ...languages, '--pack'], CLIENTS);
}

export async function installPacked(client: PackedClient, site: string): Promise<InstalledClient> {
  const { language, quick_start, install } = client;
  const home = join(CLIENTS, language);
  const folder = await mkdtemp(join(tmpdir(), `bmg-${language}-`));
  await mkdir(join(folder, 'start'));
  const pages = isGenerated(client) ? [join(home, 'README.md'), GUIDE] : [GUIDE];
  const programs = await Promise.all(
    pages.map(async (page) => codeBlock(await readFile(page, 'utf8'), language, quick_start)),
  );
  expect(new Set(programs).size).toBe(1);
  const [program = ''] = programs;
  await writeFile(
    join(folder, 'start', quick_start),
    program.replaceAll('900000000000001', ONE.waba_id),
  );
  const installed = await install(folder, site, home);
  return { ...installed, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A running driver: it performs one command at a time. */
export class Driver {
  readonly #process: ChildProcess;
  readonly #results: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  constructor({ driver: [program, ...args], env, folder }: InstalledClient) {
    this.#process = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#ended = once(this.#process, 'exit');
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    this.#results = lines[Symbol.asyncIterator]();
  }

  async perform(command: Command): Promise<Result> {
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#results.next();
    if (done) throw new Error('the driver has ended');
    return JSON.parse(value) as Result;
  }

  async stop(): Promise<void> {
    this.#process.stdin?.end();
    await this.#ended;
  }
}
