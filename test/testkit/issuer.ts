// Starts the issuer of issuer-process.mjs, which loads an ES module that jest cannot.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { freePort } from '@bmg/local';

export interface TestIssuer {
  /** The settings of the gateway and onboarding. */
  settings: NodeJS.ProcessEnv;
  url: string;
  stop(): Promise<void>;
}

const CLIENT_ID = 'console';
const CLIENT_SECRET = 'issuer-secret-for-tests';

export async function startIssuer(public_url: string): Promise<TestIssuer> {
  const port = String(await freePort());
  const callback = `${public_url}/dashboard/api/session/issuer/callback`;
  const file = resolve(__dirname, 'issuer-process.mjs');
  const child = fork(file, [port, callback, CLIENT_ID, CLIENT_SECRET], { silent: true });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  if (message !== 'ready') throw new Error('the issuer did not start');
  const url = `http://127.0.0.1:${port}`;
  return {
    settings: {
      OIDC_ISSUER: url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
    },
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
