// Fetches the engines' jars that pom.xml names, with Maven, and compiles our Java against them:
// once, and again when pom.xml or the source changes.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { unzipSync } from 'fflate';
import { LocalError, messageOf } from './errors';
import { DOWNLOADS, LOCAL } from './paths';
import type { Log } from './processes';
import { findProgram, type Wanted } from './tools';

const run = promisify(execFile);
const POM = path.join(LOCAL, 'pom.xml');
const DOWNLOAD_LIMIT_MS = 10 * 60_000;
const COMPILE_LIMIT_MS = 60_000;
const OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024;
const ERROR_LINES = 5;
/** Lines that Maven adds to every error. */
const CHATTER =
  /^(\[ERROR\])?\s*(To see the full stack|Re-run Maven|For more information|\[Help|$)/;

/** The folder with all jars, fetched when needed. Safe to call from two processes at once. */
export async function requireJars(
  env: NodeJS.ProcessEnv,
  wanted: Wanted,
  log: Log,
): Promise<string> {
  const lib = path.join(DOWNLOADS, 'lib');
  const stamp = stampOf(POM);
  if (readStamp(lib) === stamp) return lib;

  const maven = findProgram('mvn', env);
  if (!maven) {
    throw new LocalError(
      `Maven (mvn) is needed once, to fetch ${wanted.what}: install it, or ${wanted.instead}`,
    );
  }
  log('fetching the local engines with Maven, once (about 60 MB) ...');
  const began = Date.now();
  await fill(lib, stamp, (folder) => copyJars(maven, folder, env));
  log(`fetched the local engines in ${Math.ceil((Date.now() - began) / 1000)} s`);
  return lib;
}

/**
 * The folder with the classes of a Java source, compiled when needed: Java would otherwise compile
 * it at every start, which takes four times as long as the start. Safe to call from two processes
 * at once.
 */
export async function requireClasses(java: string, source: string, lib: string): Promise<string> {
  const classes = path.join(DOWNLOADS, 'classes');
  const stamp = stampOf(POM, source);
  if (readStamp(classes) === stamp) return classes;
  const jars = fs.readdirSync(lib).filter((name) => name.endsWith('.jar'));
  const classPath = jars.map((name) => path.join(lib, name)).join(path.delimiter);
  await fill(classes, stamp, async (folder) => {
    const compiler = ['--module', 'jdk.compiler/com.sun.tools.javac.Main', '-nowarn'];
    try {
      await run(java, [...compiler, '-d', folder, '-cp', classPath, source], {
        timeout: COMPILE_LIMIT_MS,
      });
    } catch (error) {
      throw new LocalError(
        `failed to compile ${path.basename(source)}: ${messageOf(error)} (a JDK is needed, not a JRE)`,
      );
    }
  });
  return classes;
}

const stampOf = (...files: string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(fs.readFileSync(file));
  return hash.digest('hex');
};

/** Fills another folder and renames it: an interrupted fill must not look complete. */
async function fill(
  folder: string,
  stamp: string,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const fresh = `${folder}.${process.pid}.new`;
  const old = `${folder}.${process.pid}.old`;
  try {
    fs.mkdirSync(fresh, { recursive: true });
    await work(fresh);
    fs.writeFileSync(path.join(fresh, STAMP), `${stamp}\n`);
    try {
      if (fs.existsSync(folder)) fs.renameSync(folder, old);
      fs.renameSync(fresh, folder);
    } catch (error) {
      // Another process may have filled it first.
      if (readStamp(folder) !== stamp) throw error;
    }
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
    fs.rmSync(old, { recursive: true, force: true });
  }
}

const STAMP = '.stamp';

function readStamp(folder: string): string | undefined {
  const file = path.join(folder, STAMP);
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined;
}

async function copyJars(maven: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  try {
    await run(maven, ['-q', '-B', '-f', POM, ...goal], {
      env,
      cwd: LOCAL,
      timeout: DOWNLOAD_LIMIT_MS,
      maxBuffer: OUTPUT_LIMIT_BYTES,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const text = stripVTControlCharacters(`${stdout}\n${stderr}`);
    const lines = text.split('\n').filter((line) => !CHATTER.test(line));
    const shown = lines.length > 0 ? lines.slice(0, ERROR_LINES) : [messageOf(error)];
    throw new LocalError(
      ['Maven failed to fetch the local engines:', ...shown.map((line) => `  ${line}`)].join('\n'),
    );
  }
}

/**
 * Reads an entry of the jar in the folder whose name starts with the prefix, so that neither unzip
 * nor the JDK's jar tool is needed. Only the entry is decompressed; the jar is read whole.
 */
export function readJar(lib: string, prefix: string, name: string): Uint8Array {
  const jar = fs.readdirSync(lib).find((name) => name.startsWith(prefix) && name.endsWith('.jar'));
  if (jar === undefined) {
    throw new LocalError(`${lib} has no ${prefix}*.jar: remove that folder and try again`);
  }
  const file = path.join(lib, jar);
  const entry = unzipSync(fs.readFileSync(file), { filter: (one) => one.name === name })[name];
  if (entry === undefined) throw new Error(`${file} has no entry ${name}`);
  return entry;
}
