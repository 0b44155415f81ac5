// The rows of people in the console: an invitation that is accepted, the log-in with a passkey, and
// the passkeys of the person who is signed in.
import { ApiError } from '@bmg/common/errors';
import type { Passkey } from '@bmg/proto/people';
import type { Fields } from '../endpoints/endpoint';
import * as answers from './answers';
import type { Route, RouteDependencies, RouteRequest, Visitor } from './route';
import * as schemas from './schemas';
import { logIn } from './session-routes';

const LOG_IN = '/session/passkey';
const ACCEPT = '/invitation/accept';

export const passkeyRoutes = (deps: RouteDependencies): Route[] => [
  ...invitationRoutes(deps),
  ...logInRoutes(deps),
  ...ownPasskeyRoutes(deps),
];

interface Answered {
  response: Fields;
  name: string;
}

/** The token is in the body: addresses are logged on the way. */
function invitationRoutes(deps: RouteDependencies): Route[] {
  const { passkeys, peppers } = deps;
  const hashesOf = ({ body }: RouteRequest): string[] => peppers.hashes(String(body['token']));
  return [
    {
      verb: 'post',
      path: '/invitation',
      answer: answers.invitation,
      open: true,
      body: schemas.readInvitation,
      run: async (request) => ({
        ...(await passkeys.readInvitation({ token_hashes: hashesOf(request) }, request.call)),
      }),
    },
    {
      verb: 'post',
      path: '/invitation/options',
      answer: answers.passkey_options,
      open: true,
      body: schemas.readInvitation,
      run: async (request) => ({
        ...(await passkeys.startRegistration({ token_hashes: hashesOf(request) }, request.call)),
      }),
    },
    {
      verb: 'post',
      path: ACCEPT,
      answer: answers.session,
      open: true,
      status: 201,
      body: schemas.acceptInvitation,
      run(request) {
        const { name, response } = request.body as unknown as Answered;
        const token_hashes = hashesOf(request);
        return logIn(deps, request, ACCEPT, (session_hash) =>
          passkeys.acceptInvitation({ token_hashes, name, response, session_hash }, request.call),
        );
      },
    },
  ];
}

function logInRoutes(deps: RouteDependencies): Route[] {
  const { passkeys } = deps;
  return [
    {
      verb: 'post',
      path: `${LOG_IN}/options`,
      answer: answers.passkey_options,
      open: true,
      run: async ({ call }) => ({ ...(await passkeys.startLogIn({}, call)) }),
    },
    {
      verb: 'post',
      path: LOG_IN,
      answer: answers.session,
      open: true,
      status: 201,
      body: schemas.logInWithPasskey,
      run(request) {
        const { response } = request.body as unknown as Answered;
        return logIn(deps, request, LOG_IN, (session_hash) =>
          passkeys.logIn({ response, session_hash }, request.call),
        );
      },
    },
  ];
}

/** The passkeys of the person who is signed in, whatever the role. */
const ownPasskeyRoutes = ({ passkeys }: RouteDependencies): Route[] => [
  {
    verb: 'get',
    path: '/passkeys',
    any_scope: true,
    answer: answers.passkeys,
    async run(visitor, { call }) {
      // The partner key has none.
      if (visitor.restriction === undefined) return { passkeys: [] };
      const { passkeys: own } = await passkeys.listPasskeys(ownerOf(visitor), call);
      return { passkeys: own.map(shown) };
    },
  },
  {
    verb: 'post',
    path: '/passkeys/options',
    fresh_log_in: true,
    any_scope: true,
    answer: answers.passkey_options,
    run: async (visitor, { call }) => ({
      ...(await passkeys.startRegistration({ token_hashes: [], ...ownerOf(visitor) }, call)),
    }),
  },
  {
    verb: 'post',
    path: '/passkeys',
    fresh_log_in: true,
    any_scope: true,
    audit: { values: ['name'] },
    answer: answers.passkey,
    status: 201,
    body: schemas.addPasskey,
    async run(visitor, { call, body }) {
      const { name, response } = body as unknown as Answered;
      const added = await passkeys.addPasskey({ ...ownerOf(visitor), name, response }, call);
      return { passkey: shown(added) };
    },
  },
  {
    verb: 'patch',
    path: '/passkeys/:passkey_id',
    any_scope: true,
    audit: { values: ['name'] },
    answer: answers.passkey,
    body: schemas.renamePasskey,
    async run(visitor, { context, call, body }) {
      const request = {
        ...ownerOf(visitor),
        passkey_id: idOf(context),
        name: String(body['name']),
      };
      return { passkey: shown(await passkeys.renamePasskey(request, call)) };
    },
  },
  {
    verb: 'delete',
    path: '/passkeys/:passkey_id',
    any_scope: true,
    audit: { reduces_risk: true },
    answer: answers.nothing,
    async run(visitor, { context, call }) {
      const request = { ...ownerOf(visitor), passkey_id: idOf(context) };
      await passkeys.removePasskey(request, call);
      return {};
    },
  },
];

const idOf = (context: RouteRequest['context']): string =>
  (context['params'] as Record<string, string>)['passkey_id'] ?? '';

function ownerOf({ partner_id, restriction }: Visitor): { partner_id: string; person_id: string } {
  const person_id = restriction?.person_id;
  if (person_id !== undefined) return { partner_id, person_id };
  throw new ApiError(
    'NOT_FOUND',
    'this session was opened with the partner key: only people have passkeys',
  );
}

const shown = (passkey: Passkey): Fields => ({
  ...passkey,
  last_used_at: passkey.last_used_at ?? null,
});
