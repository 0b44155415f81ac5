// The ceremonies of WebAuthn: the options for a browser, and the verification of its authenticator's answer.
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
import type { PasskeyRecord } from './store';
import type { Person } from '../../ground/people';
import { CHALLENGE_MS, type Challenges } from './challenges';
import { unknownPerson } from './rules';

/** JSON of WebAuthn. */
export type Json = Record<string, unknown>;

export type NewPasskey = Pick<
  PasskeyRecord,
  '_id' | 'public_key' | 'counter' | 'transports' | 'synced'
>;

export interface Ceremonies {
  registrationOptions(person: Person): Promise<Json>;
  /** Throws INVALID_FIELD naming `response` unless it is an answer to options for this person. */
  verifyRegistration(person: Person, response: Json | undefined): Promise<NewPasskey>;
  logInOptions(): Promise<Json>;
  /** Returns the counter of the passkey. Throws UNAUTHORIZED unless the response is the passkey's. */
  verifyLogIn(passkey: PasskeyRecord, response: Json): Promise<number>;
}

const SITE_NAME = 'Business Messaging Gateway';
const LOG_IN = 'log-in';
const TRANSPORTS_MAX = 10;

const registrationOf = ({ person_id }: Person): string => `register ${person_id}`;

/** A passkey of this site only, on a device that has checked that it is the person. */
const SELECTION = { residentKey: 'required', userVerification: 'required' } as const;

/** Longer than 70 lines: one short method for each step of the two ceremonies. */
export function createCeremonies(challenges: Challenges, public_url: string): Ceremonies {
  const site = (): RelyingParty => {
    const found = relyingPartyOf(public_url);
    if (found) return found;
    throw new ApiError(
      'NOT_CONFIGURED',
      'passkeys need a public address of the gateway with a host name and HTTPS (PUBLIC_URL)',
    );
  };
  /** Verifies a response, and uses its challenge up. */
  const once = async <T>(
    purpose: string,
    verify: (expectedChallenge: (given: string) => boolean) => Promise<T>,
    refuse: (cause?: unknown) => ApiError,
  ): Promise<T> => {
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
  };
  return {
    async registrationOptions(person) {
      const { id } = site();
      return plain(
        await generateRegistrationOptions({
          rpName: SITE_NAME,
          rpID: id,
          userID: Uint8Array.from(Buffer.from(person.person_id)),
          userName: person.email,
          userDisplayName: person.email,
          challenge: challenges.issue(registrationOf(person)),
          timeout: CHALLENGE_MS,
          attestationType: 'none',
          excludeCredentials: person.passkey_ids.map((one) => ({ id: one })),
          authenticatorSelection: { ...SELECTION },
        }),
      );
    },
    async verifyRegistration(person, response) {
      const { id, origin } = site();
      const { verified, registrationInfo } = await once(
        registrationOf(person),
        (expectedChallenge) =>
          verifyRegistrationResponse({
            // The library checks the shape of what the browser sent.
            response: response as unknown as RegistrationResponseJSON,
            expectedChallenge,
            expectedOrigin: origin,
            expectedRPID: id,
            requireUserVerification: true,
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
    async logInOptions() {
      return plain(
        await generateAuthenticationOptions({
          rpID: site().id,
          challenge: challenges.issue(LOG_IN),
          timeout: CHALLENGE_MS,
          userVerification: 'required',
        }),
      );
    },
    async verifyLogIn(passkey, response) {
      const { id, origin } = site();
      const { verified, authenticationInfo } = await once(
        LOG_IN,
        (expectedChallenge) =>
          verifyAuthenticationResponse({
            response: response as unknown as AuthenticationResponseJSON,
            expectedChallenge,
            expectedOrigin: origin,
            expectedRPID: id,
            requireUserVerification: true,
            credential: {
              id: passkey._id,
              publicKey: Uint8Array.from(Buffer.from(passkey.public_key, 'base64url')),
              counter: passkey.counter,
            },
          }),
        (cause) =>
          new ApiError('UNAUTHORIZED', 'the passkey was not accepted: try again', { cause }),
      );
      if (!verified) throw unknownPerson();
      return authenticationInfo.newCounter;
    },
  };
}

const notVerified = (cause?: unknown): ApiError =>
  new ApiError(
    'INVALID_FIELD',
    'response is not the answer of a new passkey, or came too late: try again',
    { details: { field: 'response' }, cause },
  );

/** Without undefined values, which a Struct does not have. */
const plain = (options: object): Json => JSON.parse(JSON.stringify(options)) as Json;
