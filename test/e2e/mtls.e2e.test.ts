// gRPC with mutual TLS: authentication, authorization, and certificates that are renewed or expire
// while the mesh runs.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { readFileSync } from 'node:fs';
import { credentials, status, type ServiceError } from '@grpc/grpc-js';
import type { ApiError } from '@bmg/common/errors';
import type { TlsSettings } from '@bmg/common/config';
import { createRpcClient, type Client, type Definition } from '@bmg/common/rpc';
import { HealthDefinition } from '@bmg/proto/health';
import { DirectoryDefinition, OperatorDefinition } from '@bmg/proto/onboarding';
import { certificateOf, openSender } from '../../proto/examples/send-text';
import { createAuthority, writeFiles, type TlsFiles } from '../../services/common/test/authority';
import { runBmg } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { callRest, seededNumbers, type Answer } from '../testkit/rest';
import { startSecureMesh, type Part, type SecureMesh } from './mtls-support';

const HOST = '127.0.0.1';

const { ONE } = seededNumbers(0);
let mesh: SecureMesh;
let partner: { partner_id: string; partner_key: string };
const open: Array<{ stop(): Promise<void> }> = [];

/** A client of a part; `tls` is the certificate it presents, `{}` means plain text. */
function client<D extends Definition>(definition: D, part: Part, tls: TlsSettings): Client<D> {
  const made = createRpcClient(definition, mesh.address(part), { tls });
  open.push(made);
  return made.rpc;
}

const send = (): Promise<Answer> =>
  callRest(
    mesh.base_url,
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-partner-key': partner.partner_key, 'x-waba-id': ONE.waba_id },
  );

/** Waits for the log line, because log lines are written in batches. */
const lineOf = async (part: Part, words: string): Promise<object> => {
  const found = await eventually(() =>
    mesh
      .log(part)
      .split('\n')
      .find((line) => line.includes(words)),
  );
  return JSON.parse(found) as object;
};

const target = () => ({
  partner_id: partner.partner_id,
  waba_id: ONE.waba_id,
  phone_number_id: ONE.phone_number_id,
  directory_version: '',
});

beforeAll(async () => {
  mesh = await startSecureMesh();
  partner = await client(OperatorDefinition, 'onboarding', mesh.files('operator')).createPartner(
    { name: 'A partner', webhook_url: undefined, rate_limit_per_sec: 1_000, max_wabas: undefined },
    mesh.call(),
  );
  const registered = await callRest(mesh.base_url, 'POST', '/clients/register', ONE, {
    'x-partner-key': partner.partner_key,
  });
  expect(registered.status).toBe(201);
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.stop()));
  await mesh?.stop();
});

describe('authentication', () => {
  const check = (part: Part, tls: TlsSettings) =>
    client(HealthDefinition, part, tls).check({ service: '' }, mesh.call());
  const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };

  test('refuses plain text, and a certificate of another authority', async () => {
    const forged = writeFiles(
      join(mesh.files('stranger').GRPC_TLS_CERT_FILE, '../../forged'),
      createAuthority('another authority').issue({ names: ['DNS:gateway', `IP:${HOST}`] }),
      mesh.authority.certificate,
    );
    for (const tls of [{}, forged]) {
      await expect(check('onboarding', tls)).rejects.toMatchObject(UNAVAILABLE);
    }
  });

  test('refuses a client without a certificate', async () => {
    const sender = openSender(
      mesh.address('messaging'),
      credentials.createSsl(Buffer.from(mesh.authority.certificate)),
    );
    await expect(sender.findOutcome(target(), 'x')).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
    sender.close();
  });

  test('does not call a server whose certificate is for another host', async () => {
    // The service name is right, but the certificate is for another host.
    mesh.renew('messaging', { names: ['DNS:messaging.elsewhere'] });
    await shows('messaging', mesh.files('messaging'));
    await expect(check('messaging', mesh.files('gateway'))).rejects.toMatchObject(UNAVAILABLE);
    mesh.renew('messaging');
    await shows('messaging', mesh.files('messaging'));
  });
});

describe('authorization', () => {
  test('logs and counts a refusal with the caller’s name', async () => {
    const { waba_id, phone_number_id } = ONE;
    const read = client(DirectoryDefinition, 'onboarding', mesh.files('fanout')).getCredential(
      { partner_id: partner.partner_id, waba_id, phone_number_id },
      mesh.call(),
    );
    const error = (await read.catch((thrown: unknown) => thrown)) as ApiError;
    expect((error.cause as ServiceError).code).toBe(status.PERMISSION_DENIED);
    const line = await lineOf('onboarding', '"caller":"fanout"');
    expect(line).toMatchObject({ level: 'warn', rpc: 'Directory/GetCredential' });
    expect(await mesh.metrics('onboarding')).toMatch(
      /rpc_server_duration_seconds_count\{[^}]*rpc_method="GetCredential"[^}]*outcome="PERMISSION_DENIED"[^}]*\} [1-9]/,
    );
  });

  test('accepts the command line with the operator’s certificate and refuses it without', async () => {
    const list = (tls: Partial<TlsFiles>) =>
      runBmg(['--json', 'partner', 'list'], { ...mesh.env, ...tls });
    expect((await list(mesh.files('operator'))).out).toContain(partner.partner_id);
    expect((await list({})).err).toContain('GRPC_TLS_');
    const { GRPC_TLS_CA_FILE: _without, ...two } = mesh.files('operator');
    expect((await list(two)).err).toContain('GRPC_TLS_CA_FILE must be set too');
  });
});

describe('the example of proto/examples', () => {
  const sender = () => {
    const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE } = mesh.files('internal');
    return openSender(
      mesh.address('messaging'),
      certificateOf({
        certificate: GRPC_TLS_CERT_FILE,
        key: GRPC_TLS_KEY_FILE,
        authority: GRPC_TLS_CA_FILE,
      }),
    );
  };
  const text = (to: string) => ({ target: target(), recipient: { to }, text: 'Hello' }) as never;

  test('sends, finds the outcome under its own ID afterwards, and gets the reason of a refusal', async () => {
    const internal = sender();
    const request_id = randomUUID();
    const sent = await internal.sendText(text('15550100777'), request_id);
    expect(sent).toMatchObject({ outcome: 'sent', message_id: expect.any(String) });
    expect(await internal.findOutcome(target(), request_id)).toEqual(sent);
    const refused = await internal.sendText(text(''), randomUUID());
    expect(refused).toMatchObject({ outcome: 'refused', code: status.INVALID_ARGUMENT });
    internal.close();
  });

  test('does not repeat a send while messaging is down: the outcome stays unknown', async () => {
    await mesh.terminate('messaging');
    const internal = sender();
    const sent = await internal.sendText(text('15550100777'), randomUUID());
    expect(sent).toEqual({ outcome: 'unknown' });
    internal.close();
    await mesh.start('messaging');
  });
});

/** The certificate that a part presents to a new connection. */
const shown = (part: Part): Promise<string> =>
  new Promise((resolve, reject) => {
    const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE } = mesh.files('gateway');
    const [host, port] = mesh.address(part).split(':') as [string, string];
    const socket = connect({
      host,
      port: Number(port),
      cert: readFileSync(GRPC_TLS_CERT_FILE),
      key: readFileSync(GRPC_TLS_KEY_FILE),
      ca: mesh.authority.certificate,
      // Another test checks the name; this one reads the certificate only.
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['h2'],
    });
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });

async function shows(part: Part, files: TlsFiles): Promise<void> {
  const expected = readFileSync(files.GRPC_TLS_CERT_FILE, 'utf8').trim();
  await eventually(async () => (await shown(part)).trim() === expected);
}

describe('renewal and expiry of certificates', () => {
  test('presents a renewed certificate without a restart and without failed requests', async () => {
    const answers: string[] = [];
    let renewing = true;
    const traffic = (async () => {
      while (renewing) {
        const { status, body } = await send();
        answers.push(status === 200 ? '200' : `${status} ${JSON.stringify(body.error)}`);
        // A number takes 20 messages a second.
        await sleep(100);
      }
    })();
    for (const part of ['onboarding', 'messaging', 'gateway'] as const) mesh.renew(part);
    for (const part of ['onboarding', 'messaging'] as const) await shows(part, mesh.files(part));
    renewing = false;
    await traffic;
    expect(new Set(answers)).toEqual(new Set(['200']));
  });

  test.each(['messaging', 'gateway'] as const)(
    'answers 503 while the certificate of %s is expired, and recovers once it is renewed',
    async (part) => {
      const not_after = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
      await mesh.terminate(part);
      mesh.renew(part, { not_before: not_after - 3_600_000, not_after });
      await mesh.start(part);
      const refused = await send();
      expect([refused.status, refused.body.error.retryable]).toEqual([503, true]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await mesh.metrics(part)).toContain(
        `tls_certificate_expiry_timestamp_seconds{certificate="own"} ${not_after / 1_000}`,
      );
      mesh.renew(part);
      await eventually(async () => (await send()).status === 200);
    },
  );
});
