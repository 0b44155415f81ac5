// The part of the Kubernetes API that concerns Secrets, over HTTPS: bearer tokens, rights by name,
// merge patches, and resource versions that turn a stale write into 409.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthority } from '../../../services/common/testing/authority';

const NAMESPACE = 'messaging';

interface Stored {
  version: number;
  data: Record<string, string>;
}

export interface SecretsServer {
  /** Where a pod would have its service account; `token` can be replaced in both places. */
  folder: string;
  env: { KUBERNETES_SERVICE_HOST: string; KUBERNETES_SERVICE_PORT: string };
  /** Names that this service account has no right to. */
  forbidden: Set<string>;
  /** `GET name` and `PATCH name` of the requests with a valid token. */
  requests: string[];
  /** Runs between a read and the write that follows it, as another client would. */
  beforeWrite: (name: string) => void | Promise<void>;
  put(name: string, data: Record<string, string>): void;
  get(name: string): Record<string, string>;
  setToken(token: string): void;
  stop(): Promise<void>;
}

export async function startSecretsServer(dir: string): Promise<SecretsServer> {
  const authority = createAuthority('cluster');
  const own = authority.issue({ names: ['IP:127.0.0.1'] });
  const folder = join(dir, `account-${Math.random().toString(36).slice(2)}`);
  mkdirSync(folder, { recursive: true });
  const secrets = new Map<string, Stored>();
  let [versions, token] = [1_000, 'first-token'];
  const account = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  account('ca.crt', authority.certificate);
  account('namespace', NAMESPACE);
  account('token', token);

  const answer = async (
    method: string,
    path: string,
    headers: Record<string, unknown>,
    body: string,
  ): Promise<[status: number, body: object]> => {
    if (headers['authorization'] !== `Bearer ${token}`) return failure(401, 'Unauthorized');
    const [, name = ''] =
      new RegExp(`^/api/v1/namespaces/${NAMESPACE}/secrets/([^/?]+)$`).exec(path) ?? [];
    state.requests.push(`${method} ${name}`);
    if (state.forbidden.has(name)) return failure(403, `secrets "${name}" is forbidden`);
    if (method === 'PATCH') {
      if (headers['content-type'] !== 'application/merge-patch+json')
        return failure(415, 'media type');
      await state.beforeWrite(name);
    }
    const found = secrets.get(name);
    if (!found) return failure(404, `secrets "${name}" not found`);
    if (method === 'PATCH') {
      const patch = JSON.parse(body) as {
        metadata: { resourceVersion: string };
        data: Stored['data'];
      };
      if (patch.metadata.resourceVersion !== String(found.version)) {
        return failure(409, 'the object has been modified');
      }
      secrets.set(name, { version: (versions += 1), data: { ...found.data, ...patch.data } });
    }
    const { version, data } = secrets.get(name) as Stored;
    return [200, { kind: 'Secret', metadata: { name, resourceVersion: String(version) }, data }];
  };

  const server: Server = createServer(
    { cert: own.certificate, key: own.key },
    (incoming, outgoing) => {
      let text = '';
      incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
      incoming.on('end', () => {
        void answer(incoming.method ?? '', incoming.url ?? '', incoming.headers, text).then(
          ([status, body]) => {
            outgoing.writeHead(status, { 'content-type': 'application/json' });
            outgoing.end(JSON.stringify(body));
          },
        );
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: SecretsServer = {
    folder,
    env: {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
    },
    forbidden: new Set(),
    requests: [],
    beforeWrite: () => undefined,
    put: (name, data) =>
      void secrets.set(name, { version: (versions += 1), data: coded(data, 'utf8', 'base64') }),
    get: (name) => coded((secrets.get(name) as Stored).data, 'base64', 'utf8'),
    setToken(next) {
      token = next;
      account('token', next);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
  return state;
}

const failure = (code: number, message: string): [number, object] => [
  code,
  { kind: 'Status', status: 'Failure', code, message },
];

const coded = (
  data: Record<string, string>,
  from: BufferEncoding,
  to: BufferEncoding,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, from).toString(to)]),
  );
