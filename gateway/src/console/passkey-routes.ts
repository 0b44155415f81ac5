// The rows of people in the console: an invitation that is accepted, the log-in with a passkey, and
// the passkeys of the person who is signed in.
import { ApiError } from '@bmg/common/errors';
import type { Fields } from '../endpoints/endpoint';
import * as answers from './answers';
import {
  del,
  get,
  openPost,
  paramOf,
  patch,
  post,
  type Route,
  type RouteDependencies,
  type RouteRequest,
  type Visitor,
} from './route';
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
  const body = schemas.readInvitation;
  return [
    openPost('/invitation', answers.invitation, { body }, (request) =>
      passkeys.readInvitation({ token_hashes: hashesOf(request) }, request.call),
    ),
    openPost('/invitation/options', answers.passkey_options, { body }, (request) =>
      passkeys.startRegistration({ token_hashes: hashesOf(request) }, request.call),
    ),
    openPost(
      ACCEPT,
      answers.session,
      { status: 201, body: schemas.acceptInvitation },
      (request) => {
        const { name, response } = request.body as unknown as Answered;
        const token_hashes = hashesOf(request);
        return logIn(deps, request, ACCEPT, (session_hash) =>
          passkeys.acceptInvitation({ token_hashes, name, response, session_hash }, request.call),
        );
      },
    ),
  ];
}

const logInRoutes = (deps: RouteDependencies): Route[] => [
  openPost(`${LOG_IN}/options`, answers.passkey_options, {}, ({ call }) =>
    deps.passkeys.startLogIn({}, call),
  ),
  openPost(LOG_IN, answers.session, { status: 201, body: schemas.logInWithPasskey }, (request) => {
    const { response } = request.body as unknown as Answered;
    return logIn(deps, request, LOG_IN, (session_hash) =>
      deps.passkeys.logIn({ response, session_hash }, request.call),
    );
  }),
];

/** The passkeys of the person who is signed in, whatever the role. */
const ownPasskeyRoutes = ({ passkeys }: RouteDependencies): Route[] => [
  get('/passkeys', answers.passkeys, { any_scope: true }, async (visitor, { call }) =>
    // The partner key has none.
    visitor.restriction === undefined
      ? { passkeys: [] }
      : passkeys.listPasskeys(ownerOf(visitor), call),
  ),
  post(
    '/passkeys/options',
    answers.passkey_options,
    { fresh_log_in: true, any_scope: true },
    (visitor, { call }) =>
      passkeys.startRegistration({ token_hashes: [], ...ownerOf(visitor) }, call),
  ),
  post(
    '/passkeys',
    answers.passkey,
    {
      fresh_log_in: true,
      any_scope: true,
      audit: { values: ['name'] },
      status: 201,
      body: schemas.addPasskey,
    },
    async (visitor, { call, body }) => {
      const { name, response } = body as unknown as Answered;
      return {
        passkey: await passkeys.addPasskey({ ...ownerOf(visitor), name, response }, call),
      };
    },
  ),
  patch(
    '/passkeys/:passkey_id',
    answers.passkey,
    { any_scope: true, audit: { values: ['name'] }, body: schemas.renamePasskey },
    async (visitor, request) => {
      const named = { passkey_id: idOf(request), name: String(request.body['name']) };
      return {
        passkey: await passkeys.renamePasskey({ ...ownerOf(visitor), ...named }, request.call),
      };
    },
  ),
  del(
    '/passkeys/:passkey_id',
    answers.nothing,
    { any_scope: true, audit: { reduces_risk: true } },
    async (visitor, request) =>
      passkeys.removePasskey({ ...ownerOf(visitor), passkey_id: idOf(request) }, request.call),
  ),
];

const idOf = (request: RouteRequest): string => paramOf(request, 'passkey_id');

function ownerOf({ partner_id, restriction }: Visitor): { partner_id: string; person_id: string } {
  const person_id = restriction?.person_id;
  if (person_id !== undefined) return { partner_id, person_id };
  throw new ApiError(
    'NOT_FOUND',
    'this session was opened with the partner key: only people have passkeys',
  );
}
