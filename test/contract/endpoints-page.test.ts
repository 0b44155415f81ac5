// gateway/ENDPOINTS.md is made of the table: GOLDEN=write writes it, otherwise it is compared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chapters } from '../../gateway/src/endpoints';
import { usageName, type Endpoint, type Scope } from '../../gateway/src/endpoints/endpoint';
import { documentPath } from '../../gateway/src/openapi';

const FILE = join(__dirname, '../../gateway/ENDPOINTS.md');

const NEEDED: Record<Scope, string> = {
  number: '`x-waba-id`',
  filter: '`x-waba-id` may filter',
  partner: 'partner',
  session: 'partner, or a connect token',
  none: 'nothing',
};

const row = (endpoint: Endpoint): string =>
  [
    '',
    endpoint.verb,
    `\`${documentPath(endpoint)}\``,
    endpoint.summary,
    NEEDED[endpoint.scope],
    endpoint.counted === false ? 'no' : 'yes',
    `\`${usageName(endpoint)}\``,
    '',
  ]
    .join(' | ')
    .trim();

function page(): string {
  const total = chapters.flatMap(({ rows }) => rows).length + 1;
  return `# Endpoints

Made of the endpoint table (\`src/endpoints\`) by \`make golden\`; do not edit. The ${total} endpoints, below
\`{base_url}\`. Scope says what a request must carry beside \`x-partner-key\`; counted, whether the rate limit counts it;
usage, under which name \`GET /usage\` keeps it. The full reference is served at \`/docs\`, for machines at \`/openapi.json\`.
${chapters
  .map(
    ({ name, rows }) => `
## ${name}

| Method | Path | Summary | Scope | Counted | Usage |
|---|---|---|---|---|---|
${rows.map(row).join('\n')}
`,
  )
  .join('')}
## Health

| Method | Path | Summary | Scope | Counted | Usage |
|---|---|---|---|---|---|
| GET | \`/health\` | Tell whether the service works; needs no key | ${NEEDED.none} | no | not kept |
`;
}

test('the page lists the table as it is', () => {
  if (process.env['GOLDEN'] === 'write') writeFileSync(FILE, page());
  expect(readFileSync(FILE, 'utf8')).toBe(page());
});
