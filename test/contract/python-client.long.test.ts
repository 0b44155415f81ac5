// A client in Python, generated from the OpenAPI document with a common generator, sends a text and
// reads an error. It needs Python and its package registry.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../deploy/local/src/tools';
import { ONE } from '../harness/shared-mesh';
import { useGuideShell } from './guide-shell';

const run = promisify(execFile);
const GENERATOR = 'openapi-python-client==0.29.1';
const LIMIT_MS = 300_000;
const PROGRAM = `
import os
from made import Client
from made.api.messages import send_text
from made.models import Error, SendResult, SendTextRequest

client = Client(
    base_url=os.environ["BASE_URL"], headers={"x-partner-key": os.environ["PARTNER_KEY"]}
)
waba_id = os.environ["WABA_ID"]
sent = send_text.sync(
    client=client, x_waba_id=waba_id, idempotency_key="python-1",
    body=SendTextRequest(to="15550100777", text="Hello from Python"),
)
assert isinstance(sent, SendResult), sent
refused = send_text.sync(
    client=client, x_waba_id=waba_id, body=SendTextRequest(text="without a recipient")
)
assert isinstance(refused, Error), refused
print(sent.message_id, refused.error.code)
`;

const shell = useGuideShell();
const python = findProgram('python3', process.env);

(python === undefined ? test.skip : test)(
  'a client that Python’s generator makes sends a text and reads an error',
  async () => {
    const { folder, mesh } = shell;
    const partner = await shell.newPartner();
    const document = await fetch(`${new URL(mesh.base_url).origin}/openapi.json`);
    await writeFile(join(folder, 'openapi.json'), await document.text());
    await writeFile(join(folder, 'send.py'), PROGRAM);
    const bin = join(folder, 'venv/bin');
    const options = { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } };
    await run(python as string, ['-m', 'venv', 'venv'], options);
    await run(join(bin, 'pip'), ['install', '--quiet', GENERATOR], options);
    await run(
      join(bin, 'openapi-python-client'),
      ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'made'],
      options,
    );
    const { stdout } = await run(join(bin, 'python'), ['send.py'], {
      ...options,
      env: {
        ...options.env,
        BASE_URL: mesh.base_url,
        PARTNER_KEY: partner.partner_key,
        WABA_ID: ONE.waba_id,
      },
    });
    expect(stdout.trim()).toMatch(/^wamid\.\S+ MISSING_FIELDS$/);
  },
  LIMIT_MS,
);
