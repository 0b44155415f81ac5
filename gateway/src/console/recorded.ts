// The console's own changes in the audit log: those of its routes, and log-ins.
import { sessionName } from '@bmg/common/people';
import type { Call, Client } from '@bmg/common/rpc';
import type { Session, SettingsDefinition } from '@bmg/proto/settings';
import type { Context } from 'koa';
import { actorOf, givenOf, type Change } from '../audit/change';
import type { Recorder } from '../audit/recorder';
import type { Route, RouteRequest, SessionRoute, Visitor } from './route';

/** Where people log in. A log-in is recorded though its route has no session yet. */
export const LOG_IN_PATHS = [
  '/session',
  '/session/passkey',
  '/session/issuer',
  '/invitation/accept',
] as const;
export type LogInPath = (typeof LOG_IN_PATHS)[number];

export const actionOf = ({ verb, path }: Pick<Route, 'verb' | 'path'>): string =>
  `console ${verb.toUpperCase()} ${path}`;

/**
 * Runs a route of a session. If the route has `audit`, its record is stored before and its outcome
 * after.
 */
export const createRecordedRun =
  (recorder: Recorder) =>
  async (route: SessionRoute, visitor: Visitor, request: RouteRequest): Promise<object> => {
    if (!route.audit) return route.run(visitor, request);
    const change: Change = {
      partner_id: visitor.partner_id,
      actor: actorOf({
        console_session: sessionName(visitor.token_hash),
        person_id: visitor.restriction?.person_id,
      }),
      action: actionOf(route),
      target: { ...(request.context['params'] as Record<string, string> | undefined) },
      ...givenOf(route, request.body),
    };
    const from = { call: request.call, address: request.context.ip };
    return recorder.run(change, from, () => route.run(visitor, request));
  };

/**
 * Records a log-in, whose partner is known only once the key or passkey was checked. If the record
 * cannot be stored, the session is closed again.
 */
export async function recordLogIn(
  recorder: Recorder,
  settings: Pick<Client<SettingsDefinition>, 'closeSession'>,
  of: { context: Context; call: Call; session: Session; token_hash: string; path: LogInPath },
): Promise<void> {
  const { context, call, session, token_hash, path } = of;
  const console_session = sessionName(token_hash);
  const person_id = session.person?.person_id;
  const change: Change = {
    partner_id: session.partner_id,
    actor: actorOf({ console_session, person_id }),
    action: actionOf({ verb: 'post', path }),
    target: person_id === undefined ? {} : { session_id: console_session },
    ...givenOf({}, {}),
    kind: 'log_in',
  };
  try {
    await recorder.run(change, { call, address: context.ip }, async () => undefined);
  } catch (error) {
    await settings.closeSession({ token_hash }, call).catch(() => undefined);
    throw error;
  }
}
