// The world of this service's tests: its stores on a database of their own, the emulator as the
// upstream, a fake clock, and the handlers as the service wires them.
import { randomBytes } from 'node:crypto';
import type { ApiError } from '@bmg/common/errors';
import { createPeppers } from '@bmg/common/keys';
import { openMongo, type Database } from '@bmg/common/mongo';
import type { Call } from '@bmg/common/rpc';
import { createPool } from '@bmg/common/overload';
import { createLogger, type Logger } from '@bmg/common/telemetry';
import { createUpstream, type Upstream } from '@bmg/common/upstream';
import type { RegisterFromCodeRequest } from '@bmg/proto/onboarding';
import { startEmulator, type Emulator } from '../../../test/emulator';
import { aCall } from '../../../test/testkit/call';
import { LOGO_FETCHES } from '../src/accounts/partners/logo';
import { createConnectHandlers, createSessionHandlers } from '../src/connect/sign-up/handlers';
import { createClientHandlers } from '../src/connect/clients/handlers';
import { createDirectoryHandlers } from '../src/connect/directory/handlers';
import { noPayments } from '../src/billing/payments/choose-processor';
import type { Config } from '../src/config';
import type { Dependencies as AllDependencies } from '../src/dependencies';
import { signUpApp } from '../src/connect/sign-up/dialog-config';
import type { NumberScope } from '../src/ground/clients';
import type { Partner } from '../src/ground/partners';
import { createStores, indexes } from '../src/stores';
import { createUsageHandlers } from '../src/billing/usage/handlers';
import { createVault } from '@bmg/common/vault';

export const PEPPER = 'test-pepper';
export const peppers = createPeppers(PEPPER);
export const KEYRING = 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
export const testCall = (limit_ms = 15_000): Call => aCall({ deadline: Date.now() + limit_ms });

export function silentLog(): Logger {
  const log = createLogger('test');
  log.level = 'silent';
  return log;
}

/** A database of its own, with the service's indexes; dropped at the end. */
export async function openDatabase(): Promise<Database & { drop(): Promise<void> }> {
  const settings = {
    MONGO_URL: process.env['MONGO_URL'] as string,
    MONGO_DATABASE_PREFIX: `t${randomBytes(5).toString('hex')}-`,
  };
  const mongo = openMongo(settings, 'onboarding', silentLog(), indexes);
  await mongo.start(new AbortController().signal);
  return {
    ...mongo,
    async drop() {
      await mongo.db.dropDatabase();
      await mongo.stop();
    },
  };
}

interface Published {
  partner_id: string;
  event: string;
  occurrence: string;
  data: string;
}

/**
 * What the service opens, without what needs Kafka or Redis. `bumped`: the version keys bumped so
 * far; `published`: the messages.
 */
export type Dependencies = AllDependencies & { bumped: string[]; published: Published[] };

/** A dependency for a time in which Kafka does not answer. */
export const NO_KAFKA = {
  bus: { publish: () => Promise.reject(new Error('unreachable')) } as never,
};

function dependencies(mongo: Database, upstream: Upstream, now: () => Date): Dependencies {
  const log = silentLog();
  const settings = {
    PUBLIC_URL: 'https://gateway.test/',
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_APP_ID: 'app-local',
    UPSTREAM_APP_SECRET: 'app-secret-local',
    UPSTREAM_CONFIG_ID: 'config-local',
    UPSTREAM_FEATURE_TYPE: 'messaging_business_app_onboarding',
    CONNECT_SESSIONS_MAX: 20,
    ALLOW_PRIVATE_URLS: false,
    AUDITED_CHANGES_MAX: 300,
    RATE_LIMIT_PER_SEC: 200,
    EVENT_LOG_DAYS: 7,
  } as Config;
  const bumped: string[] = [];
  const published: Published[] = [];
  return {
    ...createStores(mongo.db),
    vault: createVault(KEYRING),
    peppers,
    payments: noPayments,
    bumped,
    published,
    bus: {
      publish: async (messages: Array<{ message: Published }>) =>
        void published.push(...messages.map(({ message }) => message)),
    },
    logoFetches: createPool(LOGO_FETCHES, log),
    versions: {
      current: async () => undefined,
      bump: async (keys: string[]) => void bumped.push(...keys),
    },
    upstream,
    onTokensDue: () => undefined,
    onEventsDue: () => undefined,
    settings,
    app: () => signUpApp(settings),
    now,
    log,
  } as unknown as Dependencies;
}

type NumberOf = Pick<NumberScope, 'waba_id' | 'phone_number_id'>;

export interface World {
  mongo: Database;
  emulator: Emulator;
  deps: Dependencies;
  handlers: ReturnType<typeof handlersOf>;
  /** Moves the service's clock forward. */
  passTime(seconds: number): void;
  partner(change?: Partial<Partner>): Promise<Partner>;
  /** Registers a number by hand, with the emulator's token of its first account. */
  register(
    partner_id: string,
    given: NumberOf & { access_token?: string; display_name?: string },
  ): ReturnType<World['handlers']['registerClient']>;
  close(): Promise<void>;
}

/** Handlers to which a test need not give the call. */
export type Calling<H> = {
  [K in keyof H]: H[K] extends (request: infer R, call: Call) => infer A
    ? (request: R, call?: Call) => A
    : H[K];
};

export const calling = <H extends object>(handlers: H): Calling<H> =>
  Object.fromEntries(
    Object.entries(handlers as Record<string, (request: unknown, call: Call) => unknown>).map(
      ([name, handle]) => [name, (request: unknown, call = testCall()) => handle(request, call)],
    ),
  ) as Calling<H>;

export const handlersOf = (deps: Dependencies) =>
  calling({
    ...createClientHandlers(deps),
    ...createConnectHandlers(deps),
    ...createDirectoryHandlers(deps),
    ...createSessionHandlers(deps),
    ...createUsageHandlers(deps),
  });

export async function openWorld(): Promise<World> {
  const mongo = await openDatabase();
  const emulator = await startEmulator({ port: 0, webhook_url: 'http://127.0.0.1:9/none' });
  const upstream = createUpstream({
    UPSTREAM_URL: emulator.url,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
  let passed_ms = 0;
  const deps = dependencies(mongo, upstream, () => new Date(Date.now() + passed_ms));
  const handlers = handlersOf(deps);
  return {
    mongo,
    emulator,
    deps,
    handlers,
    register: (partner_id, given) =>
      handlers.registerClient({ partner_id, access_token: 'EMULATED-TOKEN-1', ...given }),
    passTime: (seconds) => void (passed_ms += seconds * 1_000),
    async partner(change = {}) {
      const partner = aPartner(change);
      await deps.partners.insert(partner);
      return partner;
    },
    async close() {
      await upstream.stop();
      await emulator.close();
      await mongo.drop();
    },
  };
}

/** Opens a world for each test. The returned one is that of the test that runs. */
export function useWorld(): World {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());
  return new Proxy({} as World, {
    get: (_none, name: keyof World) => world[name],
  });
}

export function aPartner(change: Partial<Partner> = {}): Partner {
  const _id = `ptn_${randomBytes(6).toString('hex')}`;
  return {
    _id,
    name: 'A partner',
    status: 'active',
    key_hash: peppers.hash(_id),
    key_hint: 'bmgk_…0000',
    webhook_url: null,
    webhook_secrets: [],
    rate_limit_per_sec: 200,
    max_wabas: null,
    wabas: [],
    created_at: new Date(),
    updated_at: new Date(),
    ...change,
  };
}

export const codeRequest = (
  partner_id: string,
  given: Partial<RegisterFromCodeRequest> = {},
): RegisterFromCodeRequest => ({
  partner_id,
  code: 'none',
  ...given,
});

/** A connect session of the partner; returns its id, as the gateway gets it for the token. */
export async function sessionOf(
  { handlers }: World,
  partner_id: string,
  given: { state?: string; display_name?: string } = {},
): Promise<string> {
  const { token } = await handlers.createConnectSession({ partner_id, ...given });
  const token_hash = peppers.hash(token);
  return (await handlers.authenticateSession({ token_hash })).session_id;
}

/** The onboarding log of the partner, in the order of its steps. */
export const stepsOf = async ({ deps }: World, partner_id: string): Promise<string[]> =>
  (await deps.events.list(partner_id, 200))
    .reverse()
    .map(({ current_step, error_code }) =>
      error_code ? `${current_step}: ${error_code}` : current_step,
    );

/** Expects a refusal with the code, which names the field or has the details. */
export async function refuses(
  work: Promise<unknown>,
  code: string,
  named: string | object = {},
): Promise<void> {
  const details = typeof named === 'string' ? { field: named } : named;
  const expected = Object.keys(details).length > 0 ? { code, details } : { code };
  expect(await failureOf(work)).toMatchObject(expected);
}

export const failureOf = async (work: Promise<unknown>): Promise<ApiError> =>
  work.then(
    () => new Error('it did not fail') as ApiError,
    (error: unknown) => error as ApiError,
  );
