// The ceremonies of WebAuthn: the options for a browser, and the verification of its
// authenticator's answer. A challenge carries its own end and a keyed hash, so that one that is
// only issued costs no memory; it is stored when it is answered, because it is accepted once.
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { ApiError } from '@bmg/common/errors';
import { relyingPartyOf, type RelyingParty } from '@bmg/common/people';
import type { Dependencies } from '../../dependencies';
import type { Person } from '../../ground/people';
import { unknownPerson } from './rules';
import type { PasskeyRecord } from './store';
import { randomBytes, timingSafeEqual } from 'node:crypto';

/** JSON of WebAuthn. */
type Json = Record<string, unknown>;

const SITE_NAME = 'Business Messaging Gateway';
const LOG_IN = 'log-in';
const TRANSPORTS_MAX = 10;

const registrationOf = ({ person_id }: Person): string => `register ${person_id}`;

/** A passkey of this site only, on a device that has checked that it is the person. */
const SELECTION = { residentKey: 'required', userVerification: 'required' } as const;

export type Ceremonies = ReturnType<typeof createCeremonies>;

export function createCeremonies(deps: Dependencies) {
  const challenges = createChallenges(deps);
  const site = (): RelyingParty => {
    const found = relyingPartyOf(deps.settings.PUBLIC_URL);
    if (found) return found;
    throw new ApiError(
      'NOT_CONFIGURED',
      'passkeys need a public address of the gateway with a host name and HTTPS (PUBLIC_URL)',
    );
  };
  return { ...registrations(challenges, site), ...logIns(challenges, site) };
}

const registrations = (challenges: Challenges, site: () => RelyingParty) => ({
  registrationOptions: async (person: Person) =>
    plain(
      await generateRegistrationOptions({
        rpName: SITE_NAME,
        rpID: site().id,
        userID: Uint8Array.from(Buffer.from(person.person_id)),
        userName: person.email,
        userDisplayName: person.email,
        challenge: challenges.issue(registrationOf(person)),
        timeout: CHALLENGE_MS,
        attestationType: 'none',
        excludeCredentials: person.passkey_ids.map((id) => ({ id })),
        authenticatorSelection: { ...SELECTION },
      }),
    ),
  /** Throws INVALID_FIELD naming `response` unless it is an answer to options for this person. */
  async verifyRegistration(person: Person, response: Json | undefined) {
    const expected = expectedOf(site());
    const { verified, registrationInfo } = await once(
      challenges,
      registrationOf(person),
      (expectedChallenge) =>
        verifyRegistrationResponse({
          // The library checks the shape of what the browser sent.
          response: response as unknown as RegistrationResponseJSON,
          expectedChallenge,
          ...expected,
        }),
      notVerified,
    );
    if (!verified) throw notVerified();
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      _id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: (credential.transports ?? []).slice(0, TRANSPORTS_MAX).map(String),
      synced: credentialBackedUp,
    };
  },
});

const logIns = (challenges: Challenges, site: () => RelyingParty) => ({
  logInOptions: async () =>
    plain(
      await generateAuthenticationOptions({
        rpID: site().id,
        challenge: challenges.issue(LOG_IN),
        timeout: CHALLENGE_MS,
        userVerification: 'required',
      }),
    ),
  /** Returns the passkey's counter. Throws UNAUTHORIZED for another passkey's response. */
  async verifyLogIn({ _id, public_key, counter }: PasskeyRecord, response: Json) {
    const expected = expectedOf(site());
    const publicKey = Uint8Array.from(Buffer.from(public_key, 'base64url'));
    const { verified, authenticationInfo } = await once(
      challenges,
      LOG_IN,
      (expectedChallenge) =>
        verifyAuthenticationResponse({
          response: response as unknown as AuthenticationResponseJSON,
          expectedChallenge,
          ...expected,
          credential: { id: _id, publicKey, counter },
        }),
      (cause) => new ApiError('UNAUTHORIZED', 'the passkey was not accepted: try again', { cause }),
    );
    if (!verified) throw unknownPerson();
    return authenticationInfo.newCounter;
  },
});

const expectedOf = ({ id, origin }: RelyingParty) => ({
  expectedOrigin: origin,
  expectedRPID: id,
  requireUserVerification: true,
});

/** Verifies a response, and uses its challenge up. */
async function once<T>(
  challenges: Challenges,
  purpose: string,
  verify: (expectedChallenge: (given: string) => boolean) => Promise<T>,
  refuse: (cause?: unknown) => ApiError,
): Promise<T> {
  let challenge: string | undefined;
  const verified = await verify((given) => {
    if (!challenges.isValid(purpose, given)) return false;
    challenge = given;
    return true;
  }).catch((error: unknown) => {
    throw refuse(error);
  });
  if (challenge === undefined || !(await challenges.use(challenge))) throw refuse();
  return verified;
}

const notVerified = (cause?: unknown): ApiError =>
  new ApiError(
    'INVALID_FIELD',
    'response is not the answer of a new passkey, or came too late: try again',
    { details: { field: 'response' }, cause },
  );

/** Removes undefined values, which a Struct does not have. */
const plain = (options: object): Json => JSON.parse(JSON.stringify(options)) as Json;

type Challenges = ReturnType<typeof createChallenges>;

/** The time that a person has to answer the browser. */
const CHALLENGE_MS = 5 * 60_000;
const RANDOM_BYTES = 16;
const SHAPE = /^((\d{13,15})\.[\w-]{22})\.(.{20,100})$/;

function createChallenges({ peppers, usedChallenges, now }: Dependencies) {
  const sealed = (purpose: string, text: string): string => `passkey:${purpose}:${text}`;
  return {
    /** A challenge that only an answer for the same purpose may use. */
    issue(purpose: string) {
      const expires_at = now().getTime() + CHALLENGE_MS;
      const text = `${expires_at}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;
      return `${text}.${peppers.hash(sealed(purpose, text))}`;
    },
    /** True for one that was issued for the purpose and has not expired. `given` is base64url. */
    isValid(purpose: string, given: string) {
      const [, text, expires_at, hash] = SHAPE.exec(textOf(given)) ?? [];
      if (text === undefined || hash === undefined) return false;
      if (Number(expires_at) <= now().getTime()) return false;
      return peppers.hashes(sealed(purpose, text)).some((one) => isEqual(one, hash));
    },
    /** False if it was used before. */
    use(given: string) {
      const [, text = ''] = SHAPE.exec(textOf(given)) ?? [];
      return usedChallenges.use(text, new Date(now().getTime() + CHALLENGE_MS));
    },
  };
}

const textOf = (base64url: string): string => Buffer.from(base64url, 'base64url').toString('utf8');

const isEqual = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};
