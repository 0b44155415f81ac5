// Completes the embedded sign-up: code → token → account and number → client. Every step can be
// repeated, so the same code sent again (a retry after a crash, a double click) ends in the same
// client.
import { ApiError, invalidField, missingFields, rewrap, toApiError } from '@bmg/common/errors';
import { contentId } from '@bmg/common/ids';
import type { Call } from '@bmg/common/rpc';
import type { RegisterFromCodeRequest, RegisterFromCodeResponse } from '@bmg/proto/onboarding';
import { clientMessage, storeClient } from '../clients';
import type { DueEvent } from '../../ground/due-events';
import type { NumberScope } from '../../ground/clients';
import { exchangeTokenIdentity, type CodeExchange } from './store/code-exchanges';
import type { Session } from './store/connect-sessions';
import {
  type App,
  exchangeCode,
  exchangeFailed,
  inspectToken,
  type ListedNumber,
  listNumbers,
  readFailure,
} from '../upstream';
import { syncCoexistence, syncFacts } from '../sync';
import { chooseAccount, chooseSignedUpNumber } from './discovery';
import { createOnboardingLog, type OnboardingLog } from '../onboarding-log';
import { findCompletableSession, holdCode, tieSession } from './session-code';
import type { Dependencies } from '../../dependencies';

export function registerFromCode(deps: Dependencies) {
  return async (
    request: RegisterFromCodeRequest,
    call: Call,
  ): Promise<RegisterFromCodeResponse> => {
    check(request);
    const { partner_id, code } = request;
    const session = await findCompletableSession(deps, request);
    const steps = createOnboardingLog(deps, partner_id, session);
    const _id = await exchangeId(deps, partner_id, code);
    if (session) await tieSession(deps, session, _id);
    const { exchange, release } = await holdCode(deps, { _id, partner_id }, call);
    try {
      const { failure } = exchange;
      if (failure) {
        return await steps.run('CODE_EXCHANGE', () => Promise.reject(exchangeFailed(failure)));
      }
      if (exchange.status === 'done') return await answerAgain(deps, exchange, session);
      return await complete(deps, request, { exchange, session, steps }, call);
    } catch (error) {
      if (session) {
        const event = failed(toApiError(error), { key: _id, at: deps.now() }, steps.about());
        await deps.sessions.abandon(session, _id, event).catch(() => undefined);
        deps.onEventsDue();
      }
      throw error;
    } finally {
      await release();
    }
  };
}

/** Reports a final failure. The page repeats a request that is retryable, and reports its end. */
const failed = (
  { code, message, retryable }: ApiError,
  once: Pick<DueEvent, 'key' | 'at'>,
  {
    waba_id = null,
    phone_number_id = null,
  }: { waba_id?: string | null | undefined; phone_number_id?: string | null | undefined },
): DueEvent | undefined =>
  retryable
    ? undefined
    : { event: 'client.failed', ...once, data: { code, message, waba_id, phone_number_id } };

/**
 * The ID under which the code's exchange is stored. Replicas that have the same peppers in another
 * order choose the same one for a new code.
 */
async function exchangeId(
  { exchanges, peppers }: Pick<Dependencies, 'exchanges' | 'peppers'>,
  partner_id: string,
  code: string,
): Promise<string> {
  const ids = peppers
    .hashes(code)
    .sort()
    .map((hash) => contentId('cex', partner_id, hash));
  const [first, ...others] = ids as [string, ...string[]];
  for (const _id of others) if (await exchanges.find(_id)) return _id;
  return first;
}

function check({ code, connection_mode }: RegisterFromCodeRequest): void {
  if (code.trim() === '') throw missingFields(['code']);
  if (connection_mode !== undefined && connection_mode !== 'coexistence') {
    throw invalidField('connection_mode', 'must be coexistence');
  }
}

interface Work {
  exchange: CodeExchange;
  session: Session | null;
  steps: OnboardingLog;
}

async function complete(
  deps: Dependencies,
  request: RegisterFromCodeRequest,
  { exchange, session, steps }: Work,
  call: Call,
): Promise<RegisterFromCodeResponse> {
  const { exchanges, sessions } = deps;
  const { _id, partner_id } = exchange;
  const app = await steps.run('CODE_EXCHANGE', () =>
    obtainToken(deps, exchange, request.code, call),
  );
  const { access_token } = app;
  const { numbers, ...found } = await steps.run(
    'DISCOVERY',
    () => discover(deps, app, request, call),
    ({ waba_id, phone_number_id }) => ({ waba_id, phone_number_id }),
  );
  const scope: NumberScope = { partner_id, ...found };
  const display_name = request.display_name ?? session?.display_name ?? undefined;
  const stored = await steps.run('REGISTRATION', () =>
    storeClient(
      deps,
      scope,
      { access_token, display_name, onboarding_id: _id, numbers, state: session?.state },
      call,
    ),
  );
  const synced = await syncCoexistence(deps, stored.client, call);
  const { client, sync } = synced;
  await steps.record('COEXISTENCE_SYNC', syncFacts(synced));
  if (session) await sessions.consume(session, _id);
  await exchanges.finish(_id, { ...found, sync });
  await steps.record('COMPLETED');
  return {
    client: clientMessage(client),
    state: session?.state ?? undefined,
    coexistence_sync: sync,
    created: stored.created,
  };
}

/** Exchanges the code once. After a crash, the token stored with the exchange is used instead. */
async function obtainToken(
  { exchanges, vault, upstream, app: appOf }: Dependencies,
  { _id, token }: CodeExchange,
  code: string,
  call: Call,
): Promise<App & { access_token: string }> {
  const app = appOf();
  if (token) return { ...app, access_token: vault.open(exchangeTokenIdentity(_id), token) };
  try {
    const access_token = await exchangeCode(upstream, app, code, call);
    await exchanges.keepToken(_id, vault.seal(exchangeTokenIdentity(_id), access_token));
    return { ...app, access_token };
  } catch (error) {
    const failure = readFailure(error);
    if (failure) await exchanges.fail(_id, failure);
    throw error;
  }
}

/** The account and number that the sign-up is for, and all numbers of the account. */
async function discover(
  { upstream }: Dependencies,
  app: App & { access_token: string },
  claim: Pick<RegisterFromCodeRequest, 'waba_id' | 'phone_number_id'>,
  call: Call,
): Promise<{ waba_id: string; phone_number_id: string; numbers: ListedNumber[] }> {
  const grant = await inspectToken(upstream, app, app.access_token, call);
  const waba_id = chooseAccount(grant, claim.waba_id);
  const numbers = await listNumbers(upstream, waba_id, app.access_token, call).catch(
    (error: unknown) => {
      // The upstream refuses this account to the token, so the sign-up does not cover it.
      const refused =
        error instanceof ApiError && error.upstream_code !== undefined && !error.retryable;
      if (!refused) throw error;
      throw rewrap(error, { code: 'DISCOVERY_FAILED' });
    },
  );
  return {
    waba_id,
    phone_number_id: chooseSignedUpNumber(numbers, claim.phone_number_id),
    numbers,
  };
}

/** Answers a repeated request with the client that the code registered. */
async function answerAgain(
  { clients }: Dependencies,
  { partner_id, result }: CodeExchange,
  session: Session | null,
): Promise<RegisterFromCodeResponse> {
  const client = result && (await clients.find({ partner_id, ...result }));
  if (!client) throw new ApiError('NOT_FOUND', 'the client of this code no longer exists');
  return {
    client: clientMessage(client),
    state: session?.state ?? undefined,
    coexistence_sync: result.sync,
    created: false,
  };
}
