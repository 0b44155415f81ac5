// `bmg certificates …`: the services' certificates that helm made. It talks to the Kubernetes API
// only, never to the mesh.
import { InvalidArgumentError, type Command } from 'commander';
import { action, wholeNumber, type Answer, EXIT_FAILURE } from '../action';
import type { Outcome } from '../certificates/renew';
import type { Session } from '../session';

/** The range of mtls.validDays in the chart. */
const DAYS = { min: 30, max: 730 };
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

interface RenewOptions {
  release: string;
  valid_days: number;
  service_account: string;
}

export function addCertificateCommands(program: Command): void {
  program
    .command('certificates')
    .description('the certificates of the services that helm made')
    .command('renew <service...>')
    .description('renew those that expire soon, in the Secrets of this namespace')
    .requiredOption(
      '--release <name>',
      'prefix of the Secrets: <name>-mtls-ca, <name>-<service>-tls',
    )
    .option('--valid-days <days>', 'how long a new certificate is valid', validDays, 90)
    .option(
      '--service-account <folder>',
      'where the pod’s service account is mounted',
      SERVICE_ACCOUNT,
    )
    .addHelpText(
      'after',
      '\nThe chart’s job runs this every day, in the cluster. A certificate is renewed when less than a' +
        '\nthird of its life or 21 days are left, and when its authority, names or key do not fit.' +
        '\nServices use the new one within minutes, without a restart.',
    )
    .action(action(renew));
}

function validDays(text: string): number {
  const days = wholeNumber(text);
  if (days >= DAYS.min && days <= DAYS.max) return days;
  throw new InvalidArgumentError(`It must be between ${DAYS.min} and ${DAYS.max}.`);
}

async function renew(
  _session: Session,
  services: string[],
  { release, valid_days, service_account }: RenewOptions,
): Promise<Answer> {
  // Loaded here, because it takes as long as all the rest of a command's start.
  const [{ renewCertificates }, { openSecretsApi }] = await Promise.all([
    import('../certificates/renew.js'),
    import('../certificates/secrets-api.js'),
  ]);
  const api = openSecretsApi(service_account);
  try {
    const report = await renewCertificates(api, { release, services, valid_days });
    if (report.outcomes.some(({ result }) => result === 'failed')) process.exitCode = EXIT_FAILURE;
    return {
      json: report,
      text: [
        ...report.outcomes.map(describe),
        ...(report.warning === null ? [] : [`warning  ${report.warning}`]),
      ].join('\n'),
    };
  } finally {
    await api.close();
  }
}

function describe({ service, result, valid_until, reason }: Outcome): string {
  const facts = [valid_until && `valid until ${valid_until}`, reason].filter(Boolean);
  return `${result.padEnd(8)} ${service}: ${facts.join('; ')}`;
}
