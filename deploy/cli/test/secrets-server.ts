// The part of the Kubernetes API that concerns Secrets, over HTTPS: bearer tokens, rights by name,
// merge patches, and resource versions that turn a stale write into 409.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthority } from '../../../services/common/test/authority';

const NAMESPACE = 'messaging';

interface Stored {
  version: number;
  data: Record<string, string>;
}

export type SecretsServer = Awaited<ReturnType<typeof startSecretsServer>>;

/** The Secrets by name, decoded for tests. */
function createSecrets() {
  const secrets = new Map<string, Stored>();
  let versions = 1_000;
  const store = (name: string, data: Stored['data']): void =>
    void secrets.set(name, { version: (versions += 1), data });
  return {
    put: (name: string, data: Stored['data']): void => store(name, coded(data, 'utf8', 'base64')),
    get: (name: string): Stored['data'] =>
      coded((secrets.get(name) as Stored).data, 'base64', 'utf8'),
    /** The API's answer to a read, or to a merge patch. */
    answer(name: string, patch?: { metadata: { resourceVersion: string }; data: Stored['data'] }) {
      const found = secrets.get(name);
      if (!found) return failure(404, `secrets "${name}" not found`);
      if (patch && patch.metadata.resourceVersion !== String(found.version)) {
        return failure(409, 'the object has been modified');
      }
      if (patch) store(name, { ...found.data, ...patch.data });
      const { version, data } = secrets.get(name) as Stored;
      const metadata = { name, resourceVersion: String(version) };
      return [200, { kind: 'Secret', metadata, data }] as const;
    },
  };
}

export async function startSecretsServer(dir: string) {
  const authority = createAuthority('cluster');
  const own = authority.issue({ names: ['IP:127.0.0.1'] });
  const folder = join(dir, `account-${Math.random().toString(36).slice(2)}`);
  mkdirSync(folder, { recursive: true });
  const secrets = createSecrets();
  let token = 'first-token';
  const account = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  account('ca.crt', authority.certificate);
  account('namespace', NAMESPACE);
  account('token', token);

  const answer = async ({ method = '', url = '', headers }: IncomingMessage, body: string) => {
    if (headers.authorization !== `Bearer ${token}`) return failure(401, 'Unauthorized');
    const [, name = ''] =
      new RegExp(`^/api/v1/namespaces/${NAMESPACE}/secrets/([^/?]+)$`).exec(url) ?? [];
    state.requests.push(`${method} ${name}`);
    if (state.forbidden.has(name)) return failure(403, `secrets "${name}" is forbidden`);
    if (method !== 'PATCH') return secrets.answer(name);
    if (headers['content-type'] !== 'application/merge-patch+json') {
      return failure(415, 'media type');
    }
    await state.beforeWrite(name);
    return secrets.answer(name, JSON.parse(body) as Parameters<typeof secrets.answer>[1]);
  };

  const server = createServer({ cert: own.certificate, key: own.key }, (incoming, outgoing) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
    incoming.on('end', () => {
      void answer(incoming, text).then(([status, body]) => {
        outgoing.writeHead(status, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify(body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state = {
    /** Where a pod would have its service account; `token` can be replaced in both places. */
    folder,
    env: {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
    },
    /** Names that this service account has no right to. */
    forbidden: new Set<string>(),
    /** `GET name` and `PATCH name` of the requests with a valid token. */
    requests: [] as string[],
    /** Runs between a read and the write that follows it, as another client would. */
    beforeWrite: (_name: string): void | Promise<void> => undefined,
    put: secrets.put,
    get: secrets.get,
    setToken(next: string): void {
      token = next;
      account('token', next);
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
  return state;
}

const failure = (code: number, message: string) =>
  [code, { kind: 'Status', status: 'Failure', code, message }] as const;

const coded = (
  data: Record<string, string>,
  from: BufferEncoding,
  to: BufferEncoding,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, from).toString(to)]),
  );
