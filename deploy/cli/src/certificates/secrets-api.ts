// Reads and changes Secrets of one namespace through the Kubernetes API, with the service account
// that is mounted in the pod.
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Agent, request } from 'undici';

const LIMIT_MS = 10_000;
/** Kubernetes allows a Secret 1 MiB, which base64 enlarges by a third. */
const ANSWER_LIMIT_BYTES = 2 * 1_048_576;

export type SecretsApi = ReturnType<typeof openSecretsApi>;

/** `folder` is where the service account is mounted: token, ca.crt and namespace. */
export function openSecretsApi(folder: string, env = process.env) {
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (!host) throw new Error('KUBERNETES_SERVICE_HOST is not set: run this in a pod');
  const file = (name: string): string => readFileSync(join(folder, name), 'utf8').trim();
  const namespace = file('namespace');
  const agent = new Agent({
    allowH2: false,
    connect: { ca: file('ca.crt'), timeout: LIMIT_MS },
    headersTimeout: LIMIT_MS,
    bodyTimeout: LIMIT_MS,
    maxResponseSize: ANSWER_LIMIT_BYTES,
  });
  const base = `https://${isIPv6(host) ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] || '443'}`;

  const call = async (name: string, patch?: object): Promise<{ status: number; body: any }> => {
    const answer = await request(
      `${base}/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`,
      {
        dispatcher: agent,
        method: patch ? 'PATCH' : 'GET',
        headers: {
          // The kubelet replaces the token while the pod runs.
          authorization: `Bearer ${file('token')}`,
          accept: 'application/json',
          ...(patch && { 'content-type': 'application/merge-patch+json' }),
        },
        body: patch ? JSON.stringify(patch) : null,
      },
    ).catch((error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      throw new Error(`the Kubernetes API does not answer at ${base}: ${reason}`, { cause: error });
    });
    const text = await answer.body.text();
    const status = answer.statusCode;
    if (status === 200 || (patch && status === 409)) return { status, body: parsed(text) };
    throw new Error(refusal(name, patch ? 'write' : 'read', status, text));
  };

  return {
    namespace,
    /** Returns the decoded data, and a version that changes with every write of the Secret. */
    async read(name: string) {
      const { body } = await call(name);
      const data = Object.entries((body.data ?? {}) as Record<string, string>);
      return {
        version: body.metadata.resourceVersion as string,
        data: Object.fromEntries(
          data.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
        ),
      };
    },
    /** Overwrites these keys; false, and nothing changes, if the Secret has a newer version. */
    async write(name: string, version: string, data: Record<string, string>): Promise<boolean> {
      const { status } = await call(name, {
        metadata: { resourceVersion: version },
        data: Object.fromEntries(
          Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
        ),
      });
      return status === 200;
    },
    close: (): Promise<void> => agent.close(),
  };
}

const parsed = (text: string): any => JSON.parse(text); // any: the API's documents

function refusal(name: string, verb: string, status: number, text: string): string {
  if (status === 404) return `the Secret ${name} does not exist: helm upgrade creates it`;
  let message = '';
  try {
    message = `: ${String(parsed(text).message)}`;
  } catch {
    // For example a proxy's page: the status is enough.
  }
  return `failed to ${verb} the Secret ${name}: the Kubernetes API answered ${status}${message}`;
}
