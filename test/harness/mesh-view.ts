// A mesh as a test sees it, in the test's process or in the worker's mesh host: addresses, the
// emulator, the operator's RPCs, and partners with a receiver each.
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { ServiceName } from '@bmg/local';
import { createRpcClient, type Call, type Client } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { OperatorDefinition, type CreatePartnerResponse } from '@bmg/proto/onboarding';
import type { EmulatorClient } from '../emulator/client';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { callRest, type Answer, type SeededNumber } from '../testkit/rest';

/** A partner's calls of the REST interface, with its key. */
export interface PartnerCalls {
  /** Calls a path under {base_url}; a body is sent as JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Registers a number of the emulator; defaults to the first account's. */
  register(number?: SeededNumber): Promise<Answer>;
}

export function callsOf(
  { partner_key }: CreatePartnerResponse,
  base_url: string,
  first_number: SeededNumber,
): PartnerCalls {
  const call: PartnerCalls['call'] = (method, path, body, headers = {}) =>
    callRest(base_url, method, path, body, { 'x-partner-key': partner_key, ...headers });
  return {
    call,
    async register(number = first_number) {
      // The engines answer late while several meshes start; a registration may be repeated.
      for (let tries = 1; ; tries += 1) {
        const answer = await call('POST', '/clients/register', number);
        if (answer.status !== 503 || tries === REGISTER_TRIES_MAX) return answer;
        await sleep(1_000);
      }
    },
  };
}

/** A partner with a key, a receiver, and a client of the REST interface. */
export interface TestPartner extends CreatePartnerResponse, PartnerCalls {
  receiver: PartnerReceiver;
}

export interface MeshParts {
  base_url: string;
  ingress_url: string;
  emulator: EmulatorClient;
  env: NodeJS.ProcessEnv;
  startService(name: ServiceName, changed?: NodeJS.ProcessEnv): Promise<void>;
  stopService(name: ServiceName): Promise<void>;
}

export interface Mesh extends MeshParts {
  operator: Client<OperatorDefinition>;
  /** Call options of the operator, with a deadline. */
  call(): Call;
  createPartner(
    options?: Partial<{
      name: string;
      rate_limit_per_sec: number;
      max_wabas: number;
      webhook_url: string;
    }>,
  ): Promise<TestPartner>;
  stop(): Promise<void>;
}

/** Suspends a partner, so that the mesh posts nothing more to it. */
export async function suspend(
  partner_id: string,
  operator: Client<OperatorDefinition>,
  call: Call,
): Promise<void> {
  const unchanged = {
    name: undefined,
    webhook_url: undefined,
    rate_limit_per_sec: undefined,
    max_wabas: undefined,
  };
  await operator.updatePartner({ partner_id, status: 'suspended', ...unchanged }, call);
}

const REGISTER_TRIES_MAX = 20;
const CALL_LIMIT_MS = 60_000;

export interface MeshViewOptions extends MeshParts {
  /** The default number of `register`. */
  first_number: SeededNumber;
  /** Stops the mesh behind the view; the view closes its own connections and receivers. */
  close(mesh: Pick<Mesh, 'operator' | 'call'>, partners: TestPartner[]): Promise<void>;
}

export function createMeshView({ close, first_number, ...parts }: MeshViewOptions): Mesh {
  const client = createRpcClient(OperatorDefinition, parts.env['ONBOARDING_ADDR'] as string);
  const operator = client.rpc;
  const call = (): Call => ({
    deadline: Date.now() + CALL_LIMIT_MS,
    span: unsampled(),
    request_id: randomUUID(),
  });
  const partners: TestPartner[] = [];
  return {
    ...parts,
    operator,
    call,
    async createPartner(options = {}) {
      const receiver = await startPartner();
      const created = await operator.createPartner(
        {
          name: options.name ?? 'A partner',
          webhook_url: options.webhook_url ?? receiver.url,
          rate_limit_per_sec: options.rate_limit_per_sec,
          max_wabas: options.max_wabas,
        },
        call(),
      );
      const partner: TestPartner = {
        ...created,
        receiver,
        ...callsOf(created, parts.base_url, first_number),
      };
      partners.push(partner);
      return partner;
    },
    async stop() {
      await Promise.all(partners.map(({ receiver }) => receiver.close()));
      await close({ operator, call }, partners);
      await client.stop();
    },
  };
}
