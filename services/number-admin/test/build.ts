// The service's handlers with a stub upstream and a configurable directory.
import { createLogger } from '@bmg/common/telemetry';
import type { Call, Handlers } from '@bmg/common/rpc';
import { createCredentials } from '@bmg/common/directory';
import { createUpstream } from '@bmg/common/upstream';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import type { GetCredentialResponse, StorePinRequest } from '@bmg/proto/onboarding';
import { createNumberAdminHandlers } from '../src/service';
import { aCall } from '../../../test/testkit/call';
import { useLocalServers } from '../../common/test/local-servers';
import { createUpstreamStub } from './upstream-stub';

export type Method = keyof NumberAdminDefinition['methods'];

export const WABA = '900000000000001';
export const NUMBER = '800000000000001';
export const OTHER_NUMBER = '800000000000002';
export const TARGET = {
  partner_id: 'par_1',
  waba_id: WABA,
  phone_number_id: NUMBER,
  directory_version: 'v1',
};

interface DirectoryDouble {
  credential: Partial<GetCredentialResponse>;
  /** The numbers that are registered. */
  clients: Set<string>;
  pins: Map<string, string>;
  stored: StorePinRequest[];
  /** The error that storing a PIN throws, if any. */
  failStore?: Error;
}

/** A rig for each test of a file. */
export function useRig(timeout_ms = 60_000): Rig {
  const { http } = useLocalServers();
  const rig = {} as Rig;
  beforeEach(async () => {
    const upstream = createUpstreamStub();
    Object.assign(rig, createRig(upstream, await http(upstream.listener), timeout_ms));
  });
  afterEach(() => rig.stop());
  return rig;
}

type Rig = ReturnType<typeof createRig>;

function createRig(
  upstream: ReturnType<typeof createUpstreamStub>,
  UPSTREAM_URL: string,
  timeout_ms: number,
) {
  const client = createUpstream({
    UPSTREAM_URL,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: timeout_ms,
  });
  const directory: DirectoryDouble = {
    credential: {},
    clients: new Set([NUMBER]),
    pins: new Map(),
    stored: [],
  };
  const credentials = createCredentials(
    {
      getCredentials: async ({ scopes }) => {
        const credential = {
          access_token: 'token-1',
          sending: 'active',
          phone_number: '15550100001',
          is_on_biz_app: true,
          business_id: '600000000000001',
          ...directory.credential,
        };
        return {
          found: scopes.map(({ phone_number_id }) =>
            directory.clients.has(phone_number_id) ? { credential } : {},
          ),
        };
      },
    },
    { current: async () => undefined },
  );
  const handlers = createNumberAdminHandlers({
    upstream: client,
    credentials,
    directory: {
      async storePin(request) {
        if (directory.failStore) throw directory.failStore;
        directory.stored.push(request);
        return { stored: request.phone_number_id === NUMBER };
      },
      getPin: async ({ phone_number_id }) => ({ pin: directory.pins.get(phone_number_id) }),
    },
    platform_pin: '000000',
    log: createLogger('test'),
  });
  const rpc = throughCodec(handlers);
  return {
    upstream,
    directory,
    /** Calls an RPC for the target, unless the request names another. */
    run: <M extends Method>(method: M, request: object = {}) =>
      rpc[method]({ target: TARGET, ...request } as never, aCall()) as ReturnType<(typeof rpc)[M]>,
    stop: () => client.stop(),
  };
}

/** Requests and replies go over the wire format, as between processes. */
function throughCodec(handlers: Handlers<NumberAdminDefinition>): Handlers<NumberAdminDefinition> {
  const wrapped = Object.entries(NumberAdminDefinition.methods).map(([name, method]) => {
    const handler = handlers[name as keyof typeof handlers] as (
      request: unknown,
      call: Call,
    ) => Promise<unknown>;
    const { requestType, responseType } = method as unknown as Record<
      'requestType' | 'responseType',
      Codec
    >;
    return [
      name,
      async (request: object, call: Call) => {
        const received = requestType.decode(
          requestType.encode(requestType.fromPartial(request)).finish(),
        );
        const reply = await handler(received, call);
        return responseType.decode(responseType.encode(reply).finish());
      },
    ];
  });
  return Object.fromEntries(wrapped) as Handlers<NumberAdminDefinition>;
}

interface Codec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
  fromPartial(message: object): unknown;
}
