import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../../test/testkit/eventually';
import { createAuthority, writeFiles, type TlsFiles } from '../../test/authority';
import { metrics } from '../telemetry';
import { certificatesFor, openCertificates } from './certificates';

const dir = mkdtempSync(join(tmpdir(), 'bmg-certificates-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const authority = createAuthority();
const LOOK_EVERY_MS = 20;
let count = 0;

/** Separate files for each test. */
function written(request: { not_after?: number } = {}): TlsFiles & { dir: string } {
  const own = join(dir, String((count += 1)));
  const issued = authority.issue({ names: ['DNS:gateway'], ...request });
  return { ...writeFiles(own, issued, authority.certificate), dir: own };
}

function opened(files: TlsFiles, now: () => number = Date.now) {
  const lines: Array<[level: string, facts: Record<string, unknown>, message: string]> = [];
  const log = Object.fromEntries(
    ['info', 'warn', 'error'].map((level) => [
      level,
      (facts: Record<string, unknown>, message: string) => lines.push([level, facts, message]),
    ]),
  );
  const certificates = openCertificates(files, { look_every_ms: LOOK_EVERY_MS, now });
  certificates.report(log as never);
  return { certificates, lines };
}

test('uses a renewed certificate without a restart and notifies listeners', async () => {
  const files = written();
  const { certificates } = opened(files);
  const notified: unknown[] = [];
  certificates.listen((identity) => notified.push(String(identity?.certificate)));
  const before = String(certificates.current()?.certificate);
  await eventually(() => notified.length === 1);
  const next = authority.issue({ names: ['DNS:gateway'] });
  writeFiles(files.dir, next, authority.certificate);
  await eventually(() => notified.length === 2);
  expect(notified).toEqual([before, next.certificate]);
  expect(String(certificates.current()?.certificate)).toBe(next.certificate);
});

test('keeps the old certificate until key and certificate match', async () => {
  const files = written();
  const { certificates, lines } = opened(files);
  const before = certificates.current();
  const next = authority.issue({ names: ['DNS:gateway'] });
  writeFileSync(files.GRPC_TLS_CERT_FILE, next.certificate);
  await eventually(() => lines.some(([level]) => level === 'warn'));
  expect(certificates.current()).toEqual(before);
  writeFileSync(files.GRPC_TLS_KEY_FILE, next.key);
  await eventually(() => String(certificates.current()?.key) === next.key);
});

test('keeps the certificate when a file disappears', async () => {
  const files = written();
  const { certificates, lines } = opened(files);
  rmSync(files.GRPC_TLS_CA_FILE);
  await eventually(() =>
    lines.some(([, , message]) => message.includes('failed to read gRPC certificate')),
  );
  expect(certificates.current()).not.toBeNull();
});

test('never presents an expired certificate, logs it, and recovers after a renewal', async () => {
  let now = Date.now();
  const files = written({ not_after: now + 3_600_000 });
  const { certificates, lines } = opened(files, () => now);
  const notified: unknown[] = [];
  certificates.listen((identity) => notified.push(identity === null ? 'none' : 'some'));
  await eventually(() => notified.length === 1);
  now += 3_600_000;
  expect(certificates.current()).toBeNull();
  await eventually(() => notified.length === 2);
  const [level, facts] = await eventually(() =>
    lines.find(([, , text]) => text.includes('expired')),
  );
  expect(level).toBe('error');
  expect(facts).toMatchObject({
    subject: 'CN=DNS:gateway',
    file: files.GRPC_TLS_CERT_FILE,
    expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  const next = authority.issue({ names: ['DNS:gateway'], not_after: now + 30 * 86_400_000 });
  writeFiles(files.dir, next, authority.certificate);
  await eventually(() => notified.length === 3);
  expect(notified).toEqual(['some', 'none', 'some']);
});

test('logs a coming expiry once and publishes its time', async () => {
  const not_after = Math.floor(Date.now() / 1_000) * 1_000 + 7_200_000;
  const { lines } = opened(written({ not_after }));
  await eventually(() => lines.some(([level]) => level === 'warn'));
  expect(lines.filter(([, , text]) => text.includes('soon'))).toHaveLength(1);
  const { values } = await metrics.tls_certificate_expiry.get();
  const own = values.find(({ labels }) => labels['certificate'] === 'own');
  expect(own?.value).toBe(not_after / 1_000);
});

test('has one identity per process, and none without the settings', () => {
  expect(certificatesFor({})).toBeUndefined();
  const { dir: _dir, ...files } = written();
  expect(certificatesFor({ ...files, GRPC_TLS_KEY_FILE: '' })).toBeUndefined();
  expect(certificatesFor(files)).toBe(certificatesFor({ ...files }));
});
