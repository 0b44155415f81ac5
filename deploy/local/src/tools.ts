// Finds programs on the machine: java, mvn, and the servers that replace a downloaded engine.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { LocalError } from './errors';

const run = promisify(execFile);
const JAVA_MIN = 17;
const VERSION_LIMIT_MS = 20_000;

/** The full path of a program on the PATH of the given environment, if it has one. */
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

/**
 * The path of a Java that is new enough, or an error that names the package to install or the
 * setting.
 */
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

/** Which engine needs a tool, and the alternative to installing it. */
export interface Wanted {
  what: string;
  instead: string;
}

/**
 * The flags of both Java engines. The serial collector needs no threads. That of the MongoDB
 * stand-in pauses no command.
 */
export const javaFlags = (heapMax: string, collector: 'Serial' | 'Z' = 'Serial'): string[] => [
  `-Xmx${heapMax}`,
  `-XX:+Use${collector}GC`,
  // Statistics for monitoring tools, for which an idle process would wake up twenty times a second.
  '-XX:-UsePerfData',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
  '-Dorg.slf4j.simpleLogger.showThreadName=false',
];

async function javaMajor(java: string, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  try {
    const { stdout, stderr } = await run(java, ['-version'], { env, timeout: VERSION_LIMIT_MS });
    return parseJavaMajor(stderr + stdout);
  } catch {
    // On macOS, /usr/bin/java exists and fails when no Java is installed.
    return undefined;
  }
}

/** Java's major version: `version "17.0.15"` is 17, the old form `version "1.8.0_392"` is 8. */
export function parseJavaMajor(text: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(text);
  return match ? Number(match[1]) : undefined;
}
