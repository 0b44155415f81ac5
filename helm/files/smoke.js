// `helm test` runs this. It creates a partner, registers a client, sends a message through the upstream
// emulator, and waits until its read status has come back through webhook, Kafka and message record. Without
// the emulator (EMULATOR_URL) it only checks the gateway's health: it never writes to a real upstream.
const { execFile } = require('node:child_process');
const { promisify } = require('node:util');

const BASE_URL = need('BASE_URL');
const EMULATOR_URL = process.env.EMULATOR_URL ?? '';
const CLI = process.env.BMG_CLI ?? 'dist/main.js';
const WAIT_MS = Number(process.env.WAIT_MS ?? 120_000);
const REQUEST_TIMEOUT_MS = 20_000;
const POLL_MS = 500;
const WABA = '900000000000001';
const NUMBER = '800000000000001';
const CUSTOMER = '15550100777';

function need(name) {
  if (!process.env[name]) throw new Error(`${name} is required`);
  return process.env[name];
}

async function bmg(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, '--json', ...args]);
  return JSON.parse(stdout);
}

async function rest(method, path, body, headers = {}) {
  const answer = await fetch(`${BASE_URL}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** Repeats `check` until it returns a value; `problem` starts the error when it never does. */
async function eventually(problem, check) {
  const until = Date.now() + WAIT_MS;
  for (let failure = 'timed out'; ; ) {
    try {
      const found = await check();
      if (found) return found;
    } catch (error) {
      failure = error.message;
    }
    if (Date.now() > until) throw new Error(`${problem}: ${failure}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function main() {
  await eventually('the gateway is not healthy', async () => {
    const { status } = await rest('GET', '/v1/health');
    if (status !== 'ok') throw new Error(`GET /v1/health reports ${status}`);
    return true;
  });
  console.log('the gateway and its dependencies are healthy');
  if (EMULATOR_URL === '') return;

  const created = await bmg('partner', 'create', '--name', 'Helm test');
  console.log(`created partner ${created.partner_id}`);
  const key = { 'x-partner-key': created.partner_key };
  const scope = { ...key, 'x-waba-id': WABA };
  try {
    const registration = { waba_id: WABA, phone_number_id: NUMBER, access_token: 'EMULATED-TOKEN-1' };
    await rest('POST', '/v1/clients/register', registration, key);
    console.log(`registered client ${WABA}`);
    const { message_id } = await rest(
      'POST',
      '/v1/messages/send',
      { to: CUSTOMER, text: 'Hello from helm test' },
      scope,
    );
    console.log(`sent message ${message_id}`);
    await eventually('the read status did not arrive', async () => {
      const { meta_analytics } = await rest('GET', '/v1/analytics?days=2', undefined, scope);
      return meta_analytics.read > 0;
    });
    console.log('message read: webhook, Kafka and the message record work');
  } finally {
    await bmg('partner', 'update', created.partner_id, '--status', 'suspended');
  }
}

main().catch((error) => {
  console.error(`helm test: ${error.message}`);
  process.exitCode = 1;
});
