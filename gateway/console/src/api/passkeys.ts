// Passkeys in the browser: each ceremony has its options from the gateway, which verifies the
// answer. The library is loaded only where it is used.
import { ApiFailure, call } from './client';
import type { Passkey, Session } from './types';

export const canUsePasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

interface Options {
  options: object;
}

/** Signs in with a passkey that the person chooses. */
export async function logInWithPasskey(): Promise<Session> {
  const { options } = await call<Options>('POST', '/session/passkey/options');
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const response = await startAuthentication({ optionsJSON: options as never }).catch(notUsed);
  return call<Session>('POST', '/session/passkey', { body: { response } });
}

/** Creates the first passkey of an invited person, who is signed in then. */
export async function acceptInvitation(token: string, name: string): Promise<Session> {
  const { options } = await call<Options>('POST', '/invitation/options', { body: { token } });
  const response = await create(options);
  return call<Session>('POST', '/invitation/accept', { body: { token, name, response } });
}

/** Creates a further passkey of the person who is signed in. */
export async function addPasskey(name: string): Promise<Passkey> {
  const { options } = await call<Options>('POST', '/passkeys/options');
  const response = await create(options);
  const { passkey } = await call<{ passkey: Passkey }>('POST', '/passkeys', {
    body: { name, response },
  });
  return passkey;
}

async function create(options: object): Promise<object> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return startRegistration({ optionsJSON: options as never }).catch(notUsed);
}

function notUsed(error: unknown): never {
  const is_known = error instanceof Error && error.name === 'InvalidStateError';
  throw new ApiFailure(
    'NO_PASSKEY',
    is_known
      ? 'This device has a passkey for the console already.'
      : 'The browser did not use a passkey: it was cancelled, took too long, or there is none here.',
  );
}
