// The embedded sign-up's end: code → token → account and number → client. Every step can be repeated, so
// that the same code, sent again after a crash or by a double click, ends in the same client.
import { ApiError, invalidField, missingFields, rewrap } from '@bmg/common/errors';
import { contentId } from '@bmg/common/ids';
import { hashKey } from '@bmg/common/keys';
import type { Call } from '@bmg/common/rpc';
import type { RegisterFromCodeRequest, RegisterFromCodeResponse } from '@bmg/proto/onboarding';
import { createAttempt, type Attempt, type AttemptDependencies } from './onboarding-log';
import { clientMessage } from '../clients/message';
import {
  exchangeCode,
  exchangeFailed,
  inspectToken,
  readFailure,
  type App,
} from '../upstream/code-exchange';
import { holdCode } from './code-lease';
import { syncCoexistence, syncFacts } from './coexistence-sync';
import { chooseAccount, chooseSignedUpNumber } from './discovery';
import { listNumbers, type ListedNumber } from '../upstream/number-facts';
import { storeClient, type RegisterDependencies } from '../clients/register';
import { isCompletable } from './connect-session';
import type { NumberScope } from '../store/clients';
import { exchangeTokenIdentity, type Exchange, type Exchanges } from '../store/code-exchanges';
import type { Session, Sessions } from '../store/connect-sessions';

export interface CodeDependencies extends RegisterDependencies, AttemptDependencies {
  sessions: Sessions;
  exchanges: Exchanges;
  settings: { KEY_PEPPER: string };
  /** Throws PLATFORM_NOT_CONFIGURED without an app. */
  app(): App;
}

export function registerFromCode(deps: CodeDependencies) {
  return async (
    request: RegisterFromCodeRequest,
    call: Call,
  ): Promise<RegisterFromCodeResponse> => {
    check(request);
    const { partner_id, code } = request;
    const session = await sessionOf(deps, request);
    const attempt = createAttempt(deps, partner_id, session);
    const _id = contentId('cex', partner_id, hashKey(code, deps.settings.KEY_PEPPER));
    if (session) await takeSession(deps, session, _id);
    const { exchange, release } = await holdCode(
      deps.exchanges,
      { _id, partner_id },
      deps.now,
      call,
    );
    try {
      const { failure } = exchange;
      if (failure) {
        return await attempt.run('CODE_EXCHANGE', () => Promise.reject(exchangeFailed(failure)));
      }
      if (exchange.status === 'done') return await answerAgain(deps, exchange, session);
      return await complete(deps, request, { exchange, session, attempt }, call);
    } catch (error) {
      if (session) await deps.sessions.abandon(session, _id).catch(() => undefined);
      throw error;
    } finally {
      await release();
    }
  };
}

function check({ code, connection_mode }: RegisterFromCodeRequest): void {
  if (code.trim() === '') throw missingFields(['code']);
  if (connection_mode !== undefined && connection_mode !== 'coexistence') {
    throw invalidField('connection_mode', 'must be coexistence');
  }
}

/** Null for a self-hosted popup, which completes under the partner key. */
async function sessionOf(
  { sessions, now }: CodeDependencies,
  { partner_id, session_id }: RegisterFromCodeRequest,
): Promise<Session | null> {
  if (session_id === undefined) return null;
  const session = await sessions.find(partner_id, session_id);
  if (!session || !isCompletable(session, now())) throw linkOver();
  return session;
}

export const linkOver = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'the connect link is over: create a new one');

/** One session, one onboarding: the session is tied to the code that is being worked on. */
async function takeSession(
  { sessions, exchanges, now }: CodeDependencies,
  session: Session,
  exchange_id: string,
): Promise<void> {
  if (await sessions.begin(session, exchange_id)) return;
  const current = await sessions.find(session.partner_id, session._id);
  if (current?.exchange_id === exchange_id) return;
  if (current?.status === 'completing' && current.exchange_id !== null) {
    // Whoever was at the other code has died, or could not let go of the session.
    const other = await exchanges.find(current.exchange_id);
    const idle = !other || (other.status !== 'done' && other.lease_until <= now());
    if (idle) {
      await sessions.abandon(session, current.exchange_id);
      if (await sessions.begin(session, exchange_id)) return;
    }
  }
  throw new ApiError('UNAUTHORIZED', 'the connect link has been used: create a new one');
}

interface Work {
  exchange: Exchange;
  session: Session | null;
  attempt: Attempt;
}

async function complete(
  deps: CodeDependencies,
  request: RegisterFromCodeRequest,
  { exchange, session, attempt }: Work,
  call: Call,
): Promise<RegisterFromCodeResponse> {
  const { exchanges, sessions } = deps;
  const { _id, partner_id } = exchange;
  const app = await attempt.run('CODE_EXCHANGE', () =>
    obtainToken(deps, exchange, request.code, call),
  );
  const { access_token } = app;
  const { numbers, ...found } = await attempt.run(
    'DISCOVERY',
    () => discover(deps, app, request, call),
    ({ waba_id, phone_number_id }) => ({ waba_id, phone_number_id }),
  );
  const scope: NumberScope = { partner_id, ...found };
  const display_name = request.display_name ?? session?.display_name ?? undefined;
  const stored = await attempt.run('REGISTRATION', () =>
    storeClient(deps, scope, { access_token, display_name, onboarding_id: _id, numbers }, call),
  );
  const synced = await syncCoexistence(deps, stored.client, access_token, call);
  const { client, sync } = synced;
  await attempt.note('COEXISTENCE_SYNC', syncFacts(synced));
  if (session) await sessions.consume(session, _id);
  await exchanges.finish(_id, { ...found, sync });
  await attempt.note('COMPLETED');
  return {
    client: clientMessage(client),
    state: session?.state ?? undefined,
    coexistence_sync: sync,
    created: stored.created,
  };
}

/** The code is exchanged once. What a crash came after is taken up with the token that was kept. */
async function obtainToken(
  { exchanges, vault, upstream, app: appOf }: CodeDependencies,
  { _id, token }: Exchange,
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

async function discover(
  { upstream }: CodeDependencies,
  app: App & { access_token: string },
  claim: Pick<RegisterFromCodeRequest, 'waba_id' | 'phone_number_id'>,
  call: Call,
): Promise<{ waba_id: string; phone_number_id: string; numbers: ListedNumber[] }> {
  const grant = await inspectToken(upstream, app, app.access_token, call);
  const waba_id = chooseAccount(grant, claim.waba_id);
  const numbers = await listNumbers(upstream, waba_id, app.access_token, call).catch(
    (error: unknown) => {
      // The upstream does not open this account to the token: the sign-up has not left it to us.
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

/** A double click, or a repeat after an answer that was lost: the same client, nothing is done twice. */
async function answerAgain(
  { clients }: CodeDependencies,
  { partner_id, result }: Exchange,
  session: Session | null,
): Promise<RegisterFromCodeResponse> {
  const client = result && (await clients.find({ partner_id, ...pick(result) }));
  if (!client) throw new ApiError('NOT_FOUND', 'the client of this code is not there any more');
  return {
    client: clientMessage(client),
    state: session?.state ?? undefined,
    coexistence_sync: result.sync,
    created: false,
  };
}

const pick = ({ waba_id, phone_number_id }: { waba_id: string; phone_number_id: string }) => ({
  waba_id,
  phone_number_id,
});
