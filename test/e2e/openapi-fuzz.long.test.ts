// Fuzz runs over the OpenAPI document: no request gets a 500, none that violates its schema is
// accepted, and every answer is as documented. BMG_SEED adds a seed.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ONE, startMesh, type Mesh, type TestPartner } from '../harness/mesh';
import { schemathesis } from '../helm/tools';

/** The same requests each time; add the seed of a run that finds something. */
const SEEDS = ['1', '2', ...(process.env['BMG_SEED'] ? [process.env['BMG_SEED']] : [])];
const EXAMPLES = '20';
/** Long polls have to answer. */
const REQUEST_LIMIT_S = '40';
const LIMIT_MS = 30 * 60_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/** Errors that the upstream, a limit or a part of the service that is away explains. */
const CONFIG = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 502, 503]
`;
const CHECKS = [
  'not_a_server_error',
  'negative_data_rejection',
  'status_code_conformance',
  'response_schema_conformance',
  'content_type_conformance',
];

jest.setTimeout(LIMIT_MS);

let mesh: Mesh;
let partner: TestPartner;
let folder: string;
const run = promisify(execFile);
const st = schemathesis();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  mesh = await startMesh();
  partner = await mesh.createPartner({ rate_limit_per_sec: 100_000 });
  await partner.register(ONE);
}, LIMIT_MS);
afterAll(async () => {
  await mesh?.stop();
  rmSync(folder, { recursive: true, force: true });
}, LIMIT_MS);

(st ? test.each(SEEDS) : test.skip.each(SEEDS))('a fuzz run with seed %s', async (seed) => {
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, CONFIG);
  const headers = {
    'x-partner-key': partner.partner_key,
    'x-waba-id': ONE.waba_id,
    'x-phone-number-id': ONE.phone_number_id,
  };
  const { stdout } = await run(
    st as string,
    [
      ...['--no-color', '--config-file', config],
      ...['run', `${new URL(mesh.base_url).origin}/openapi.json`, '--url', mesh.base_url],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...['--checks', CHECKS.join(','), '--phases', 'examples,coverage,fuzzing'],
      ...['--seed', seed, '--max-examples', EXAMPLES, '--generation-database', 'none'],
      ...['--request-timeout', REQUEST_LIMIT_S, '--warnings', 'off', '--continue-on-failure'],
    ],
    { cwd: folder, maxBuffer: OUTPUT_MAX_BYTES, timeout: LIMIT_MS },
  ).catch((error: { stdout?: string; message: string }) => {
    throw new Error(`the fuzz run failed:\n${error.stdout ?? error.message}`);
  });
  expect(stdout).toContain('No issues found');
});
