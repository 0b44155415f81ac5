// The console's own changes in the audit log: those of its routes, and log-ins.
import type { Call, Client } from '@bmg/common/rpc';
import type { Session, SettingsDefinition } from '@bmg/proto/settings';
import type { Context } from 'koa';
import { givenOf, type Change } from '../audit/change';
import type { Recorder } from '../audit/recorder';
import type { Fields } from '../endpoints/endpoint';
import type { Route, RouteRequest, Visitor } from './route';
import { sessionName } from './session-cookie';

type SessionRoute = Exclude<Route, { open: true }>;

const actionOf = ({ verb, path }: Pick<Route, 'verb' | 'path'>): string =>
  `console ${verb.toUpperCase()} ${path}`;

/** Runs a route of a session; one with `audit` between its record in the audit log and its outcome. */
export const createRecordedRun =
  (recorder: Recorder | undefined) =>
  async (route: SessionRoute, visitor: Visitor, request: RouteRequest): Promise<Fields> => {
    if (!route.audit || !recorder) return route.run(visitor, request);
    const change: Change = {
      partner_id: visitor.partner_id,
      actor: { type: 'console', id: sessionName(visitor.token_hash) },
      action: actionOf(route),
      target: {},
      ...givenOf(route, request.body),
    };
    const from = { call: request.call, address: request.context.ip };
    return recorder.run(change, from, () => route.run(visitor, request));
  };

/**
 * Records a log-in, whose partner is known only once the key was checked. Without a record the session is
 * closed again.
 */
export async function recordLogIn(
  recorder: Recorder | undefined,
  settings: Pick<Client<SettingsDefinition>, 'closeSession'>,
  of: { context: Context; call: Call; session: Session; token_hash: string },
): Promise<void> {
  const { context, call, session, token_hash } = of;
  const change: Change = {
    partner_id: session.partner_id,
    actor: { type: 'console', id: sessionName(token_hash) },
    action: actionOf({ verb: 'post', path: '/session' }),
    target: {},
    ...givenOf({}, {}),
  };
  try {
    await recorder?.run(change, { call, address: context.ip }, async () => undefined);
  } catch (error) {
    await settings.closeSession({ token_hash }, call).catch(() => undefined);
    throw error;
  }
}
