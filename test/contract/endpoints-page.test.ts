// gateway/ENDPOINTS.md is made of the table, and of what the end-to-end tests have tried on each of its rows
// (test/golden/endpoint-cases.json): GOLDEN=write writes it, otherwise it is compared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chapters } from '../../gateway/src/endpoints';
import { usageName, type Endpoint, type Scope } from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import { readCases, type CaseKind } from '../e2e/endpoint-golden';

const FILE = join(__dirname, '../../gateway/ENDPOINTS.md');

const NEEDED: Record<Scope, string> = {
  number: '`x-waba-id`',
  filter: '`x-waba-id` may filter',
  partner: 'partner',
  session: 'partner, or a connect token',
  none: 'nothing',
};

const KINDS: CaseKind[] = ['success', 'bad_input', 'not_allowed', 'upstream_failures'];
const cases = readCases();

const tried = (name: string): string => KINDS.map((kind) => cases[name]?.[kind] ?? '–').join(' | ');

const row = (endpoint: Endpoint): string =>
  [
    '',
    endpoint.verb,
    `\`${documentPath(endpoint)}\``,
    endpoint.summary,
    NEEDED[endpoint.scope],
    endpoint.counted === false ? 'no' : 'yes',
    `\`${usageName(endpoint)}\``,
    tried(operationName(endpoint)),
    '',
  ]
    .join(' | ')
    .trim();

const HEAD = `| Method | Path | Summary | Scope | Counted | Usage | Succeeds | Bad input | Not allowed | Upstream fails |
|---|---|---|---|---|---|---|---|---|---|`;

function page(): string {
  const total = chapters.flatMap(({ rows }) => rows).length + 1;
  return `# Endpoints

Made of the endpoint table (\`src/endpoints\`) by \`make golden\`; do not edit. The ${total} endpoints, below
\`{base_url}\`. Scope says what a request must carry beside \`x-partner-key\`; counted, whether the rate limit counts it;
usage, under which name \`GET /usage\` keeps it. The full reference is served at \`/docs\`, for machines at \`/openapi.json\`.

The last four columns are made by a test run against the emulator: how many requests were tried on the row and answered as the
contract says. Succeeds: held against \`/openapi.json\`. Bad input: each fault that the schema and the rules allow, a 4xx that names the
field, nothing sent or stored. Not allowed: key, account, number. Upstream fails: every error code of the contract, an unknown one, an
HTML page, an empty and a cut-off answer, a broken connection, a time out, for each question that the row asks (– where it asks none).
${chapters
  .map(
    ({ name, rows }) => `
## ${name}

${HEAD}
${rows.map(row).join('\n')}
`,
  )
  .join('')}
## Health

${HEAD}
| GET | \`/health\` | Tell whether the service works; needs no key | ${NEEDED.none} | no | not kept | ${tried('getHealth')} |
`;
}

test('the page lists the table as it is', () => {
  if (process.env['GOLDEN'] === 'write') writeFileSync(FILE, page());
  expect(readFileSync(FILE, 'utf8')).toBe(page());
});
