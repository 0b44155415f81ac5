// Fuzz runs over the OpenAPI document: no request gets a 500, none that violates its schema is
// accepted, none that follows it is refused for its shape, and every answer is as documented.
// BMG_SEED adds a seed.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ONE, startMesh, type Mesh, type TestPartner } from '../harness/mesh';
import { schemathesis } from '../helm/tools';

/** Each seed gives the same requests each time; add the seed of a run that finds something. */
const SEEDS = ['1', '2', ...(process.env['BMG_SEED'] ? [process.env['BMG_SEED']] : [])];
const EXAMPLES = '20';
/** Long polls have to answer. */
const REQUEST_LIMIT_S = '40';
const LIMIT_MS = 30 * 60_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * 502 and 503: the upstream, or an unreachable part of the service. Refusals of requests that
 * follow the document are about state, except 400, which the hooks check.
 */
const CONFIG = `
hooks = "hooks.py"

[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 502, 503]

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 402, 403, 404, 409, 410, 413, 422, 429, "5xx"]
`;

/**
 * A refusal with 400 is not one of shape if it depends on what exists (codes, numbers, events,
 * cursors, templates), on the time, on the order of two times, or on the host of a URL. URLs lead
 * to this machine: a fuzz run must not call strangers.
 */
const HOOKS = String.raw`
import re
import schemathesis

STATE_CODES = {"CODE_EXCHANGE_FAILED", "DISCOVERY_FAILED", "AUTH_TEMPLATE_NEEDS_PHONE", "MEDIA_TOO_LARGE", "WABA_NOT_FOUND"}
SHAPE_OF_URL = {"malformed", "too_long", "not_https", "has_credentials"}
STATE = re.compile("|".join([
    r"does not belong to the WABA$",
    r"is not an event of your log$",
    r"is not a position of this log",
    r"must be a cursor from paging\.cursors",
    r"is not a cursor: send",
    r"lies in the past$",
    r"must not be (before|after) (from|to)$",
    r"^from must (not be more than|be at most) \d+ days",
    r"of the \d+ variables of the template",
    r"\.params (lacks|mixes) ",
]))
# At any depth of an object whose keys are the upstream's: the error guide states it, a schema cannot.
ANY_DEPTH = "the keys __proto__ and constructor are not allowed in the body"


def depends_on_state(error):
    reason = (error.get("details") or {}).get("reason")
    if reason is not None and reason not in SHAPE_OF_URL:
        return True
    if error["message"] == ANY_DEPTH:
        return True
    return error["code"] in STATE_CODES or STATE.search(error["message"]) is not None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    return type(failure).__name__ != "RejectedPositiveData" or not depends_on_state(response.json()["error"])


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("url"), str):
        return {**body, "url": re.sub("^https://[^/?#]*", "https://localhost", body["url"])}
    return body
`;

/** Run last: nothing is left to test on a number after them. */
const LAST = ['deleteClient', 'deregisterPhone'];
const CHECKS = [
  'not_a_server_error',
  'negative_data_rejection',
  'positive_data_acceptance',
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
  writeFileSync(join(folder, 'schemathesis.toml'), CONFIG);
  writeFileSync(join(folder, 'hooks.py'), HOOKS);
  mesh = await startMesh();
}, LIMIT_MS);
afterAll(async () => {
  await mesh?.stop();
  rmSync(folder, { recursive: true, force: true });
}, LIMIT_MS);
beforeEach(async () => {
  partner = await mesh.createPartner({ rate_limit_per_sec: 100_000 });
  await partner.register(ONE);
});

async function fuzz(seed: string, selected: string[]): Promise<void> {
  const headers = {
    'x-partner-key': partner.partner_key,
    'x-waba-id': ONE.waba_id,
    'x-phone-number-id': ONE.phone_number_id,
  };
  const { stdout } = await run(
    st as string,
    [
      ...['--no-color', '--config-file', 'schemathesis.toml'],
      ...['run', `${new URL(mesh.base_url).origin}/openapi.json`, '--url', mesh.base_url],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...['--checks', CHECKS.join(','), '--phases', 'examples,coverage,fuzzing'],
      ...['--seed', seed, '--max-examples', EXAMPLES, '--generation-database', 'none'],
      ...['--request-timeout', REQUEST_LIMIT_S, '--warnings', 'off', '--continue-on-failure'],
      ...selected,
    ],
    { cwd: folder, maxBuffer: OUTPUT_MAX_BYTES, timeout: LIMIT_MS },
  ).catch((error: { stdout?: string; message: string }) => {
    throw new Error(`the fuzz run failed:\n${error.stdout ?? error.message}`);
  });
  expect(stdout).toContain('No issues found');
}

(st ? test.each(SEEDS) : test.skip.each(SEEDS))('a fuzz run with seed %s', async (seed) => {
  await fuzz(
    seed,
    LAST.flatMap((id) => ['--exclude-operation-id', id]),
  );
  await fuzz(
    seed,
    LAST.flatMap((id) => ['--include-operation-id', id]),
  );
});
