// Runs the operator's command line as a process.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';

export const BMG = resolve(__dirname, '../../deploy/cli/bin/bmg.js');

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** The addresses of a mesh's services, as the command line takes them. */
export const addressesOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.endsWith('_ADDR')));

export const runBmg = (args: string[], env: Record<string, string | undefined>): Promise<Ran> =>
  new Promise((done) => {
    execFile(
      process.execPath,
      [BMG, ...args],
      { env: { PATH: process.env['PATH'], ...env } },
      (error, out, err) => done({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
