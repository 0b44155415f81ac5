// An authenticator in software: creates passkeys (ES256, without attestation) and signs challenges
// with them, in the JSON that a browser sends.
import {
  createHash,
  generateKeyPairSync,
  randomBytes,
  sign,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
const ID_BYTES = 32;

interface Passkey {
  id: string;
  rp_id: string;
  user_handle: string;
  key: KeyObject;
}

export interface Authenticator {
  /** The answer to options for a new passkey. */
  create(options: any): Record<string, unknown>; // any: tests pass on the JSON that they got
  /** The answer to options for a log-in, with the newest passkey. */
  get(options: any): Record<string, unknown>;
  /** Signatures so far: a copy of the authenticator has an older count. */
  counter: number;
}

/** `flags` may leave out that the person was verified. */
export function createAuthenticator(
  origin: string,
  flags: number = PRESENT | VERIFIED,
): Authenticator {
  const passkeys: Passkey[] = [];
  const clientData = (type: string, challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const dataFor = (rp_id: string, counter: number, credential?: Buffer): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const all = credential ? flags | HAS_CREDENTIAL : flags;
    return Buffer.concat([sha256(rp_id), Buffer.of(all), count, credential ?? Buffer.alloc(0)]);
  };
  const answer = ({ id }: Pick<Passkey, 'id'>, response: Record<string, unknown>) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });
  return {
    counter: 0,
    create({ challenge, rp, user }) {
      const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = randomBytes(ID_BYTES);
      const passkey = { id: id.toString('base64url'), rp_id: rp.id, user_handle: user.id, key };
      passkeys.push(passkey);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const cose = coseOf(publicKey.export({ format: 'jwk' }));
      const credential = Buffer.concat([Buffer.alloc(16), length, id, cose]);
      return answer(passkey, {
        clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestationOf(dataFor(rp.id, this.counter, credential)),
        transports: ['internal'],
      });
    },
    get({ challenge }) {
      const passkey = passkeys.at(-1) as Passkey;
      this.counter += 1;
      const data = dataFor(passkey.rp_id, this.counter);
      const client = clientData('webauthn.get', challenge);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), passkey.key);
      return answer(passkey, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: passkey.user_handle,
      });
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** CBOR: { 1: 2, 3: -7, -1: 1, -2: x, -3: y }. */
const coseOf = ({ x = '', y = '' }: JsonWebKey): Buffer =>
  Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);

/** CBOR: { fmt: 'none', attStmt: {}, authData }. */
const attestationOf = (data: Buffer): string =>
  Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
    Buffer.of(0x58, data.length),
    data,
  ]).toString('base64url');
