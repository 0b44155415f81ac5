// Runs the commands of a guide in a shell, against a mesh.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../deploy/local/src/tools';
import { joinMesh, ONE, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';

const run = promisify(execFile);
export const GUIDES_FOLDER = resolve(__dirname, '../../gateway/docs/guides');
/** A command fails with an answer above 399, and its answers are one on a line. */
const PRELUDE = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@"; echo; }\n';
const COMMANDS_LIMIT_MS = 240_000;

export const readGuide = (name: string): string =>
  readFileSync(resolve(GUIDES_FOLDER, `${name}.md`), 'utf8');

/** A sample for this run's accounts and receiver. */
const here = (script: string, { receiver }: TestPartner): string =>
  script
    .replaceAll('900000000000001', ONE.waba_id)
    .replaceAll('800000000000001', ONE.phone_number_id)
    .replaceAll('EMULATED-TOKEN-1', ONE.access_token)
    .replaceAll('https://crm.example.com/messages', receiver.url)
    .replaceAll('https://new.example.com/hooks', `${receiver.url}?new`);

export interface GuideShell {
  mesh: Mesh;
  /** Where files that the commands write go. */
  folder: string;
  /** A partner with the number that the guides use. */
  newPartner(): Promise<TestPartner>;
}

/**
 * For a test file: the mesh and the folder, set before its first test and closed after its last
 * one.
 */
export function useGuideShell(): GuideShell {
  const shell = {
    async newPartner() {
      const partner = await shell.mesh.createPartner();
      // Beside other tests the upstream's answer may come too late: the guides are about what
      // follows.
      await eventually(async () => {
        const { status, body } = await partner.register(ONE);
        if (status >= 300) throw new Error(`registering: ${status} ${JSON.stringify(body)}`);
        return true;
      });
      return partner;
    },
  } as GuideShell;
  beforeAll(async () => {
    shell.folder = await mkdtemp(join(tmpdir(), 'guides-'));
    shell.mesh = await joinMesh();
  });
  afterAll(async () => {
    await rm(shell.folder, { recursive: true, force: true });
    await shell.mesh.stop();
  });
  return shell;
}

export interface CommandsOf extends Pick<GuideShell, 'mesh' | 'folder'> {
  partner: TestPartner;
  /** Variables beside the address and the key. */
  env?: Record<string, string>;
}

/** Returns what the commands print; throws if one of them fails. */
export async function runCommands(
  script: string,
  { mesh, partner, folder, env = {} }: CommandsOf,
): Promise<string> {
  return runProgram(['bash', '-c', PRELUDE + here(script, partner)], {
    mesh,
    partner,
    folder,
    env,
  });
}

/** The programs that run a translated sample: Node, and Python if the machine has it. */
const RUNNERS = {
  node: () => [process.execPath, '--input-type=module', '--eval'],
  python: () => {
    const found = findProgram('python3', process.env);
    return found === undefined ? undefined : [found, '-c'];
  },
};

/**
 * Runs a sample in another language; returns what it prints, undefined if the language is not here.
 */
export async function runTranslated(
  language: keyof typeof RUNNERS,
  code: string,
  of: CommandsOf,
): Promise<string | undefined> {
  const runner = RUNNERS[language]();
  return runner && runProgram([...runner, here(code, of.partner)], of);
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  { mesh, partner, folder, env = {} }: CommandsOf,
): Promise<string> {
  const { stdout } = await run(program, args, {
    env: {
      PATH: process.env['PATH'],
      BASE_URL: mesh.base_url,
      KEY: partner.partner_key,
      EMULATOR_URL: mesh.emulator.url,
      ...env,
    },
    cwd: folder,
    timeout: COMMANDS_LIMIT_MS,
  });
  return stdout;
}
