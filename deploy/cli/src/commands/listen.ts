// `bmg listen`: a partner's receiver on this machine, for trials. It checks the signature of each
// event, prints it, and can refuse on purpose to show retries.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { OperatorDefinition, type UpdatePartnerRequest } from '@bmg/proto/onboarding';
import { wholeNumber } from '../action';
import { recorded } from '../recorded';
import { describeNew } from './partner';
import { openSession, settingOf, type Session } from '../session';

interface ListenOptions {
  partner?: string;
  port: number;
  refuse: number;
  status: number;
  secret?: string;
}

const HOST = '127.0.0.1';
/** In the audit log. */
const ACTION = 'bmg listen';
const BODY_MAX_BYTES = 10 * 1024 * 1024;

export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .description('receive a partner’s events here: check their signatures and print them')
    .option('--partner <partner_id>', 'an existing partner; without it, a new one is created')
    .option('--port <n>', 'port to listen on; 0 takes a free one', wholeNumber, 7000)
    .option(
      '--refuse <n>',
      'refuse the first n events, to see them delivered again',
      wholeNumber,
      0,
    )
    .option('--status <code>', 'the status to refuse with', wholeNumber, 503)
    .option('--secret <secret>', 'webhook secret of --partner (default: WEBHOOK_SECRET)')
    .addHelpText(
      'after',
      '\nWith --partner its webhook URL is changed, and restored when you stop with Ctrl-C.' +
        '\nFor work on this machine: the mesh must be allowed to post to private addresses.',
    )
    .action(async (options: ListenOptions, command: Command) => {
      const session = openSession();
      try {
        await listen(session, options, command.optsWithGlobals<{ json?: boolean }>().json === true);
      } finally {
        await session.close();
      }
    });
}

async function listen(session: Session, options: ListenOptions, json: boolean): Promise<void> {
  const server = createServer();
  const url = await open(server, options.port);
  const { secret, ...registered } = await registerReceiver(session, options, url);
  let count = 0;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    readBody(request).then(
      (body) => {
        count += 1;
        response.writeHead(count <= options.refuse ? options.status : 200).end();
        const signed = secret === undefined ? null : isSigned(request, body, secret);
        print({ count, body: body.toString('utf8'), signed, answer: response.statusCode, json });
      },
      () => response.writeHead(413).end(),
    );
  });
  if (!json) process.stdout.write(`${registered.text}\nlistening at ${url}, Ctrl-C to stop\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await registered.restore();
  server.close();
  server.closeAllConnections();
}

async function open(server: Server, port: number): Promise<string> {
  server.listen(port, HOST);
  await once(server, 'listening');
  return `http://${HOST}:${(server.address() as AddressInfo).port}/hook`;
}

/** Creates the partner, or changes the webhook URL of the given one. */
async function registerReceiver(session: Session, options: ListenOptions, url: string) {
  const operator = session.client(OperatorDefinition);
  if (options.partner === undefined) {
    const settings = { name: 'bmg listen', webhook_url: url };
    const created = await recorded(
      session,
      { action: ACTION, fields: Object.keys(settings), after: settings },
      () => operator.createPartner(settings),
      ({ partner_id }) => ({ partner_id }),
    );
    return {
      secret: created.webhook_secret,
      text: describeNew(created),
      restore: async () => undefined,
    };
  }
  const { partner: partner_id } = options;
  const before = await operator.getPartner({ partner_id });
  const setUrl = (webhook_url: string) =>
    recorded(
      session,
      {
        action: ACTION,
        partner_id,
        target: { partner_id },
        fields: ['webhook_url'],
        after: { webhook_url },
        before_of: 'partner',
      },
      () => operator.updatePartner({ partner_id, webhook_url } as UpdatePartnerRequest),
    );
  await setUrl(url);
  const secret = options.secret ?? (settingOf('WEBHOOK_SECRET', '') || undefined);
  return {
    secret,
    text: `partner ${partner_id}${secret === undefined ? ': signatures are not checked without --secret' : ''}`,
    restore: async () => void (await setUrl(before.webhook_url ?? '')),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Over the exact bytes of the body, with the whole secret as the key. */
function isSigned({ headers }: IncomingMessage, body: Buffer, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(String(headers['x-service-signature'] ?? ''));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

interface Printed {
  count: number;
  body: string;
  signed: boolean | null;
  answer: number;
  json: boolean;
}

function print({ count, body, signed, answer, json }: Printed): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ signed, answer, event: parsed(body) })}\n`);
    return;
  }
  const signature = signed === null ? 'not checked' : signed ? 'ok' : 'WRONG';
  const { event, data } = (parsed(body) ?? {}) as { event?: string; data?: object };
  process.stdout.write(
    `\n${count}. ${event ?? 'not an event'}   signature ${signature}, answered ${answer}\n` +
      `   ${JSON.stringify(data ?? body)}\n`,
  );
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
