// The programs on the machine that the engines need: java, mvn, and servers that are used when they
// are there.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { LocalError } from './errors';

const run = promisify(execFile);
const JAVA_MIN = 17;
const VERSION_LIMIT_MS = 20_000;

/** The full path of a program on the PATH of the given environment. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return (env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** A java that is new enough, or a one-line error that says what to install or to set. */
export async function findJava(env: NodeJS.ProcessEnv, wanted: Wanted): Promise<string> {
  const home = env['JAVA_HOME'];
  const ofHome = home ? path.join(home, 'bin', 'java') : undefined;
  const java = ofHome && isProgram(ofHome) ? ofHome : findProgram('java', env);
  const major = java && (await javaMajor(java, env));
  if (java && major && major >= JAVA_MIN) return java;
  const found = major ? ` (found: Java ${major})` : '';
  throw new LocalError(
    `Java ${JAVA_MIN} or newer is needed for ${wanted.what}${found}: ` +
      `install a JDK, or ${wanted.instead}`,
  );
}

/** What asks for a tool, and what a person can do without it. */
export interface Wanted {
  what: string;
  instead: string;
}

async function javaMajor(java: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  try {
    const { stdout, stderr } = await run(java, ['-version'], { env, timeout: VERSION_LIMIT_MS });
    return parseJavaMajor(stderr + stdout);
  } catch {
    // On a Mac /usr/bin/java is there without a Java behind it, and fails.
    return undefined;
  }
}

/** `version "17.0.15"` is 17, and the old spelling `version "1.8.0_392"` is 8. */
export function parseJavaMajor(text: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match ? Number(match[1]) : undefined;
}
