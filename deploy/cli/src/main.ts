// The operator's command line: `npx bmg`. Parses the arguments, runs one command against the mesh
// and turns its outcome into output and an exit code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { ApiError } from '@bmg/common/errors';
import { EXIT_FAILURE } from './action';
import { addActivityCommands } from './commands/activity';
import { addAuditCommand } from './commands/audit';
import { addBusCommands } from './commands/bus';
import { addCertificateCommands } from './commands/certificates';
import { addClientCommands } from './commands/client';
import { addEndpointCommands } from './commands/endpoints';
import { addIndexCommands } from './commands/indexes';
import { addKeyCommands } from './commands/key';
import { addListenCommand } from './commands/listen';
import { addPartnerCommands } from './commands/partner';
import { addPeopleCommands } from './commands/people';
import { addPlatformCommands } from './commands/platform';
import { addPriceCommands } from './commands/prices';
import { explain, UsageError } from './session';

const MANIFEST = join(__dirname, '../package.json');
const EXIT_USAGE = 2;

const NOTES = `
Where bmg connects:
  Each name below comes from the environment, else from .run/env in this folder (make up writes it).
  ONBOARDING_ADDR      gRPC address of the onboarding service (default 127.0.0.1:50051)
  MESSAGING_ADDR, TEMPLATES_ADDR, BROADCASTS_ADDR, NUMBER_ADMIN_ADDR, WEBHOOKS_ADDR
                       gRPC addresses of the other services, for "events", "endpoints",
                       "broadcasts", "client purge", "indexes" and "doctor"
  PUBLIC_URL           the gateway's address, for "doctor" and "status" (default http://127.0.0.1:8080)
  KAFKA_…              for "status", "lag" and "dead-letters"
  GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE
                       the operator's certificate, where the mesh uses mutual TLS: all three or none

Exit codes:
  0  done
  1  the command failed (the reason is on standard error), or doctor found a problem
  2  the arguments are wrong

Examples:
  bmg partner create --name Acme --webhook-url https://acme.example/hooks
  bmg client list --partner ptn_4c1d
  bmg --json doctor

"bmg help partner" and "bmg partner create --help" describe one command.`;

/** Commander reads the option only after it has checked the other arguments. */
const wantsJson = process.argv.includes('--json');

const program = new Command('bmg')
  .description('The operator’s command line of the Business Messaging Gateway.')
  .version((JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version)
  .option('--json', 'print one JSON object and nothing else; errors too, on standard error')
  .addHelpText('after', NOTES)
  .showHelpAfterError('(add --help to see the commands and options)')
  .exitOverride();
if (wantsJson) program.configureOutput({ writeErr: () => {} });

for (const add of [
  addPartnerCommands,
  addKeyCommands,
  addPeopleCommands,
  addClientCommands,
  addActivityCommands,
  addEndpointCommands,
  addPriceCommands,
  addPlatformCommands,
  addIndexCommands,
  addBusCommands,
  addAuditCommand,
  addListenCommand,
  addCertificateCommands,
]) {
  add(program);
}

// A reader that has seen enough (`bmg … | head`) ends the command; `listen` tidies up first, as for
// a signal.
let ending = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (!ending && !process.emit('SIGTERM', 'SIGTERM')) process.exit();
  ending = true;
});

program.parseAsync(process.argv).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
    // Commander has printed its own text already.
    if (wantsJson && error.exitCode !== 0) report('USAGE', error.message.replace(/^error: /, ''));
    return;
  }
  const usage = error instanceof UsageError;
  const code = error instanceof ApiError ? error.code : usage ? 'USAGE' : 'COMMAND_FAILED';
  report(code, explain(error));
  process.exitCode = usage ? EXIT_USAGE : EXIT_FAILURE;
});

function report(code: string, message: string): void {
  const output = wantsJson ? JSON.stringify({ error: { code, message } }) : `bmg: ${message}`;
  process.stderr.write(`${output}\n`);
}
