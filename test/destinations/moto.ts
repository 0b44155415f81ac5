// A third-party server with the protocols of SQS and S3 for the tests: moto, from PyPI. It checks
// signatures and permissions once its own users exist. Its clients prepare queues and a bucket, and
// read what was stored.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import { freePort } from '@bmg/local';
import { findProgram } from '../../deploy/local/src/tools';
import { eventually } from '../testkit/eventually';
import { signalProcess } from '../testkit/signal-process';

export const INSTALL_LIMIT_MS = 300_000;
const LOG_TAIL_CHARS = 2_000;
const VERSION = '5.2.5';
/** Outside the repository: neither a fresh clone nor `make clean` causes a download. */
const FOLDER = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  `bmg-destination-tools/moto-${VERSION}`,
);
const COMPLETE = join(FOLDER, 'complete');
/** Those of the users, of their policies and of their keys; later ones need a signature. */
const REQUESTS_WITHOUT_SIGNATURE = '5';

export type Moto = Awaited<ReturnType<typeof startMoto>>;

/** Installs the server once for this machine; returns the reason if that is impossible. */
export function motoMissing(): string | undefined {
  if (existsSync(COMPLETE)) return undefined;
  const python = findProgram('python3', process.env);
  if (python === undefined) return 'Python is not installed';
  process.stderr.write(`destinations: installing moto ${VERSION}, once for this machine ...\n`);
  const quiet = { stdio: 'pipe', timeout: INSTALL_LIMIT_MS } as const;
  execFileSync(python, ['-m', 'venv', '--clear', FOLDER], quiet);
  const wanted = `moto[server,s3,sqs,iam]==${VERSION}`;
  execFileSync(join(FOLDER, 'bin/pip'), ['install', '--quiet', wanted], quiet);
  writeFileSync(COMPLETE, '');
  return undefined;
}

const ALL_ALLOWED = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }],
});

/** The admin may do everything, the restricted user nothing. */
export async function startMoto() {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-moto-'));
  const port = await freePort();
  const log = join(dir, 'output.log');
  const output = openSync(log, 'a');
  const server = spawn(join(FOLDER, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', String(port)], {
    cwd: dir,
    env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: REQUESTS_WITHOUT_SIGNATURE },
    stdio: ['ignore', output, output],
  });
  const url = `http://127.0.0.1:${port}`;
  const iam = async (parameters: Record<string, string>): Promise<string> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        authorization:
          'AWS4-HMAC-SHA256 Credential=x/20261125/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x',
      },
      body: new URLSearchParams({ Version: '2010-05-08', ...parameters }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${parameters['Action']} failed: ${text.slice(0, 500)}`);
    return text;
  };
  const keysOf = async (UserName: string) => {
    const text = await iam({ Action: 'CreateAccessKey', UserName });
    const field = (name: string): string =>
      new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? '';
    return { access_key_id: field('AccessKeyId'), secret_access_key: field('SecretAccessKey') };
  };
  await eventually(async () => {
    if (server.exitCode !== null) throw new Error(readFileSync(log, 'utf8').slice(-LOG_TAIL_CHARS));
    await fetch(`${url}/moto-api/`);
    return true;
  });
  await iam({ Action: 'CreateUser', UserName: 'admin' });
  const policy = { PolicyName: 'all', PolicyDocument: ALL_ALLOWED };
  await iam({ Action: 'PutUserPolicy', UserName: 'admin', ...policy });
  await iam({ Action: 'CreateUser', UserName: 'restricted' });
  return {
    url,
    admin: await keysOf('admin'),
    restricted: await keysOf('restricted'),
    signal: (name: 'SIGSTOP' | 'SIGCONT') => signalProcess(server.pid as number, name),
    stop(): void {
      server.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const REGION = 'us-east-1';
export const BUCKET = 'partner-events';

const configOf = ({ url: endpoint, admin }: Moto) => {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = admin;
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey } };
};

export const openSqs = (moto: Moto): SQSClient => new SQSClient(configOf(moto));

/** Opens S3 and creates the bucket. */
export async function openS3(moto: Moto): Promise<S3Client> {
  const s3 = new S3Client({ ...configOf(moto), forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  return s3;
}

/** Returns the queue's address; a name that ends with `.fifo` makes a FIFO queue. */
export async function createQueue(sqs: SQSClient, name: string): Promise<string> {
  const Attributes = name.endsWith('.fifo') ? { FifoQueue: 'true' } : undefined;
  const command = new CreateQueueCommand({ QueueName: name, Attributes });
  return (await sqs.send(command)).QueueUrl as string;
}

/** Takes some messages of a queue; none if it is empty. */
export async function takeMessages(sqs: SQSClient, QueueUrl: string): Promise<Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  if (Messages.length > 0) {
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return Messages;
}
