// What `helm test` runs: a partner is created, a client is registered, a message is sent through the
// upstream's stand-in, and its read status comes back by webhook, Kafka and the message record. Without a
// stand-in (EMULATOR_URL) only the gateway's health is asked for: a real upstream is not written to.
const { execFile } = require('node:child_process');
const { promisify } = require('node:util');

const BASE_URL = need('BASE_URL');
const EMULATOR_URL = process.env.EMULATOR_URL ?? '';
const CLI = process.env.BMG_CLI ?? 'dist/main.js';
const WAIT_MS = Number(process.env.WAIT_MS ?? 120_000);
const ASK_LIMIT_MS = 20_000;
const EVERY_MS = 500;
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
    signal: AbortSignal.timeout(ASK_LIMIT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

async function eventually(what, look) {
  const until = Date.now() + WAIT_MS;
  for (let failure = 'it did not come'; ; ) {
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      failure = error.message;
    }
    if (Date.now() > until) throw new Error(`${what}: ${failure}`);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

async function main() {
  await eventually('the gateway is not well', async () => {
    const { status } = await rest('GET', '/v1/health');
    if (status !== 'ok') throw new Error(`health says ${status}`);
    return true;
  });
  console.log('the gateway and all behind it are well');
  if (EMULATOR_URL === '') return;

  const created = await bmg('partner', 'create', '--name', 'Helm test');
  console.log(`partner ${created.partner_id} was created`);
  const key = { 'x-partner-key': created.partner_key };
  const scope = { ...key, 'x-waba-id': WABA };
  try {
    const registration = { waba_id: WABA, phone_number_id: NUMBER, access_token: 'EMULATED-TOKEN-1' };
    await rest('POST', '/v1/clients/register', registration, key);
    console.log(`client ${WABA} was registered`);
    const { message_id } = await rest(
      'POST',
      '/v1/messages/send',
      { to: CUSTOMER, text: 'Hello from helm test' },
      scope,
    );
    console.log(`message ${message_id} was sent`);
    await eventually('its read status did not come back', async () => {
      const { meta_analytics } = await rest('GET', '/v1/analytics?days=2', undefined, scope);
      return meta_analytics.read > 0;
    });
    console.log('it was read: webhook, Kafka and the message record work');
  } finally {
    await bmg('partner', 'update', created.partner_id, '--status', 'suspended');
  }
}

main().catch((error) => {
  console.error(`helm test: ${error.message}`);
  process.exitCode = 1;
});
