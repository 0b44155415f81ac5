// One command's connection to the mesh: clients, a deadline, and what came of it on the right stream.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '@bmg/common/errors';
import { createRpcClient, type Call, type Client, type Definition } from '@bmg/common/rpc';

export interface Session {
  /** A client of one of onboarding's services. */
  client<D extends Definition>(definition: D): Client<D>;
  call(): Call;
  close(): Promise<void>;
}

const DEADLINE_MS = 15_000;
const DEFAULT_ADDR = '127.0.0.1:50051';

/** The environment's address, else that of a mesh that runs from this folder, else the local default. */
export function settingOf(name: string, fallback: string): string {
  const given = process.env[name];
  if (given) return given;
  const file = join(process.cwd(), '.run', 'env');
  const line = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .find((one) => one.startsWith(`${name}=`))
    : undefined;
  return line?.slice(name.length + 1) ?? fallback;
}

export function openSession(): Session {
  const address = settingOf('ONBOARDING_ADDR', DEFAULT_ADDR);
  const open: Array<{ stop(): Promise<void> }> = [];
  return {
    client(definition) {
      const made = createRpcClient(definition, address);
      open.push(made);
      return made.rpc;
    },
    call: () => ({
      deadline: Date.now() + DEADLINE_MS,
      span: {
        traceId: randomUUID().replaceAll('-', ''),
        spanId: randomUUID().replaceAll('-', '').slice(0, 16),
        traceFlags: 0,
      },
      request_id: `cli-${randomUUID()}`,
    }),
    async close() {
      await Promise.all(open.map((one) => one.stop()));
    },
  };
}

/** A failure in words for a person. */
export function explain(error: unknown): string {
  if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE') {
    const address = settingOf('ONBOARDING_ADDR', DEFAULT_ADDR);
    return `the onboarding service does not answer at ${address}: start the mesh (make up), or set ONBOARDING_ADDR`;
  }
  return error instanceof Error ? error.message : String(error);
}
