// Starts a connector process with bounds of its own: memory, files, priority, an empty environment,
// and access to nothing but its own code.
import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { resolve } from 'node:path';

/** The heap of JavaScript objects; buffers are outside of it. */
const HEAP_MAX_MIB = 96;
/**
 * The private memory that the process may map. V8 reserves 512 MiB of it for code, which take no
 * memory until they are used, and a started connector maps 115 MiB.
 */
const DATA_MAX_KIB = 832 * 1024;
const FILES_MAX = 1_024;
/**
 * The nice value gives a connector two thirds of the CPU that a process of normal priority gets.
 * A connector with a higher value starts too late on a busy machine.
 */
const NICE = 2;

const MAIN = resolve(__dirname, '../../dist/connector/main.js');
/** The folders that hold the code of this repository and of its libraries. */
const CODE = ['node_modules', 'proto', 'services'].map((folder) =>
  resolve(__dirname, '../../../..', folder),
);
const LIMITED = `ulimit -c 0 && ulimit -d ${DATA_MAX_KIB} && ulimit -n ${FILES_MAX} && exec "$@"`;

/** Node's own sandbox, in the versions that have it. */
const PERMISSIONS = process.allowedNodeEnvironmentFlags.has('--permission')
  ? ['--permission', ...CODE.map((folder) => `--allow-fs-read=${folder}/*`)]
  : [];

/** Requests go to its standard input, replies come from its fourth file; its output is dropped. */
export function spawnConnector(allow_private: boolean): ChildProcess {
  const node = [
    process.execPath,
    `--max-old-space-size=${HEAP_MAX_MIB}`,
    ...PERMISSIONS,
    MAIN,
    ...(allow_private ? ['--allow-private'] : []),
  ];
  const child = spawn('/bin/sh', ['-c', LIMITED, 'sh', ...node], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  if (child.pid !== undefined) lower(child.pid);
  return child;
}

/** A busy connector must not slow the service down. */
function lower(pid: number): void {
  try {
    setPriority(pid, NICE);
  } catch {
    // It has ended already, which its listeners report.
  }
}
