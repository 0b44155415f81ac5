// gateway/ENDPOINTS.md is generated from the endpoint table, except for the number of requests on
// each row, which the end-to-end tests write there. GOLDEN=write writes the page; otherwise it is
// compared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAudited } from '../../gateway/src/audit/audited';
import { chapters } from '../../gateway/src/endpoints';
import {
  keyScopeOf,
  usageName,
  type Endpoint,
  type Scope,
} from '../../gateway/src/endpoints/endpoint';
import { documentPath, operationName } from '../../gateway/src/openapi';
import { cellsOf, readCases } from '../e2e/endpoint-golden';

const FILE = join(__dirname, '../../gateway/ENDPOINTS.md');

const NEEDED: Record<Scope, string> = {
  number: '`x-waba-id`',
  filter: '`x-waba-id` (optional)',
  partner: '–',
  session: 'or `x-connect-token`',
  none: 'no key',
};

const cases = readCases();
const tried = (name: string): string => cellsOf(cases[name]);

const statusOf = ({ status = 200 }: Endpoint): string =>
  typeof status === 'function' ? '200, 201' : String(status);

const row = (endpoint: Endpoint): string =>
  [
    '',
    endpoint.verb,
    `\`${documentPath(endpoint)}\`${endpoint.addition ? ' +' : ''}`,
    endpoint.summary,
    NEEDED[endpoint.scope],
    keyScopeOf(endpoint) + (endpoint.person_only ? ', people only' : ''),
    endpoint.counted === false ? 'no' : 'yes',
    isAudited(endpoint) ? 'yes' : 'no',
    endpoint.idempotent ? 'yes' : 'no',
    statusOf(endpoint),
    `\`${usageName(endpoint)}\``,
    tried(operationName(endpoint)),
    '',
  ]
    .join(' | ')
    .trim();

const HEAD = `| Method | Path | Summary | Headers | Key | Counted | Audited | Repeated | Status | Usage | Success | Bad input | Not allowed | Upstream failure |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|`;

function page(): string {
  const rows = chapters.flatMap((chapter) => chapter.rows);
  const additions = rows.filter(({ addition }) => addition).length;
  const total = rows.length + 1 - additions;
  return `# Endpoints

Generated from the endpoint table (\`src/endpoints\`) by \`make golden\`; do not edit. All ${total}
endpoints of the contract, and the additions to it (${additions}, marked +), below \`{base_url}\`. The
full reference is served at \`/docs\`, the OpenAPI document at \`/openapi.json\`.

- **Headers**: what a request needs beside \`x-partner-key\`.
- **Key**: the scope that an [API key](docs/guides/keys.md) or the role of a
  [person](docs/guides/people.md) needs; the partner key has all, but calls none for people only.
- **Counted**: whether the request counts towards the rate limit.
- **Audited**: whether the [audit log](docs/guides/audit.md) records the request.
- **Repeated**: whether it takes an \`Idempotency-Key\`.
- **Status**: that of a success; 201 for what is new.
- **Usage**: the endpoint's name in \`GET /usage\`.

The last four columns count the requests that the end-to-end tests make on the endpoint:

- **Success**: the response is validated against \`/openapi.json\`.
- **Bad input**: every fault that the schema allows is a 4xx that names the field, and nothing is
  sent or stored.
- **Not allowed**: a wrong key, business account or number.
- **Upstream failure**: every error code of the contract, an unknown code, an HTML page, an empty
  and a truncated answer, a broken connection and a timeout, for each upstream request of the
  endpoint (– if it makes none).
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
| GET | \`/health\` | Check whether the service is available | ${NEEDED.none} | – | no | no | no | 200 | – | ${tried('getHealth')} |
`;
}

test('the page lists the endpoint table', () => {
  if (process.env['GOLDEN'] === 'write') writeFileSync(FILE, page());
  expect(readFileSync(FILE, 'utf8')).toBe(page());
});
