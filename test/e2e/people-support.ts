// People who sign in to the console of a mesh, with passkeys of a software authenticator.
import { joinMesh, type Mesh, type TestPartner } from '../harness/shared-mesh';
import { createAuthenticator, type Authenticator } from '../testkit/authenticator';
import { faultsOf } from './console-answers';
import { withDatabase } from './stored';
import { useMesh } from './use-mesh';

/**
 * A mesh under a host name, without which browsers have no passkeys, with the settings for its
 * address.
 */
export async function joinMeshWithName(
  settingsOf: (public_url: string) => Promise<NodeJS.ProcessEnv> = async () => ({}),
): Promise<Mesh> {
  const { base_url, stop } = await joinMesh();
  await stop();
  const PUBLIC_URL = `http://localhost:${new URL(base_url).port}`;
  const changed = { PUBLIC_URL, ...(await settingsOf(PUBLIC_URL)) };
  return joinMesh(changed, ['gateway', 'onboarding']);
}

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  body: any; // any: tests read arbitrary response bodies
}

export interface ConsoleRequest {
  body?: unknown;
  headers?: Record<string, string>;
}

export interface SignedIn {
  person_id: string;
  email: string;
  session: any; // any: as `body`
  authenticator: Authenticator;
  call(method: string, path: string, body?: unknown, headers?: object): Promise<ConsoleAnswer>;
}

export interface Console {
  origin: string;
  /** A request of the console's own page, without a session. */
  ask(method: string, path: string, request?: ConsoleRequest): Promise<ConsoleAnswer>;
  /** Opens an invitation with a new authenticator. */
  accept(invitation_url: string, authenticator?: Authenticator): Promise<ConsoleAnswer>;
  /** Signs in with the newest passkey of an authenticator. */
  logIn(authenticator: Authenticator): Promise<ConsoleAnswer>;
  /** A browser with the session that an answer opened. */
  browserOf(answer: ConsoleAnswer): SignedIn['call'];
  /** A person of the partner, who has accepted the invitation. */
  member(partner: TestPartner, role: string): Promise<SignedIn>;
}

/** The status of a refusal, and its code. */
export const refused = ({ status, body }: Pick<ConsoleAnswer, 'status' | 'body'>) => [
  status,
  body.error?.code,
];

let count = 0;

/** Log-ins are limited by network, which the proxy in front reports: each request has another. */
const newAddress = (): string => `192.0.2.${(count += 1) % 250}`;

export function consoleOf(mesh: Mesh): Console {
  const { origin } = new URL(mesh.env['PUBLIC_URL'] as string);
  const ask: Console['ask'] = async (method, path, { body, headers = {} } = {}) => {
    const answer = await fetch(`${new URL(mesh.base_url).origin}/dashboard/api${path}`, {
      method,
      headers: {
        origin,
        'x-forwarded-for': newAddress(),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const received = (await answer.json()) as ConsoleAnswer['body'];
    if (answer.ok) expect(faultsOf(method, path, received)).toEqual([]);
    return { status: answer.status, headers: answer.headers, body: received };
  };
  const accept: Console['accept'] = async (
    invitation_url,
    authenticator = createAuthenticator(origin),
  ) => {
    const token = new URL(invitation_url).hash.slice(1);
    const started = await ask('POST', '/invitation/options', { body: { token } });
    if (started.status !== 200) return started;
    const response = authenticator.create(started.body.options);
    return ask('POST', '/invitation/accept', { body: { token, name: 'Laptop', response } });
  };
  const browserOf: Console['browserOf'] = ({ headers: answered, body: session }) => {
    const cookie = (answered.get('set-cookie') as string).split(';')[0] as string;
    const own = { cookie, 'x-csrf-token': session.csrf_token as string };
    return (method, path, body, headers = {}) =>
      ask(method, path, { body, headers: { ...own, ...headers } });
  };
  return {
    origin,
    ask,
    accept,
    browserOf,
    async logIn(authenticator) {
      const { body } = await ask('POST', '/session/passkey/options');
      const response = authenticator.get(body.options);
      return ask('POST', '/session/passkey', { body: { response } });
    },
    async member(partner, role) {
      const email = `${role}.${(count += 1)}@example.com`;
      const { body } = await partner.call('POST', '/people', { email, role });
      const authenticator = createAuthenticator(origin);
      const accepted = await accept(body.invitation_url as string, authenticator);
      expect([accepted.status, accepted.body.error]).toEqual([201, undefined]);
      return {
        person_id: body.person.person_id as string,
        email,
        session: accepted.body,
        authenticator,
        call: browserOf(accepted),
      };
    },
  };
}

/** A mesh under a host name behind a proxy, and its console, which is there in the tests. */
export function useConsole(): { mesh: Mesh; web: Console } {
  const mesh = useMesh(() => joinMeshWithName(async () => ({ PROXY_HOPS: '1' })));
  const web = {} as Console;
  beforeAll(() => Object.assign(web, consoleOf(mesh)));
  return { mesh, web };
}

const AGED_MS = 6 * 60_000;

/** Moves the log-ins of a partner's sessions six minutes into the past. */
export const ageLogIns = (mesh: Mesh, { partner_id }: TestPartner): Promise<unknown> =>
  withDatabase(mesh, 'onboarding', (db) =>
    db
      .collection('dashboard_sessions')
      .updateMany({ partner_id }, { $set: { authenticated_at: new Date(Date.now() - AGED_MS) } }),
  );
