// The OpenAPI and the AsyncAPI document pass Redocly's recommended rules without a warning.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { buildAsyncApi } from '../../gateway/src/openapi/asyncapi';

const LIMIT_MS = 120_000;

/** The linter runs in a child process, because it is an ES module. */
const LINTER = `
import { createConfig, lintFromString } from '@redocly/openapi-core';
let source = '';
for await (const chunk of process.stdin) source += chunk;
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'info-contact': 'error',
    'no-duplicated-tag-names': 'error',
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'operation-operationId-url-safe': 'error',
    'tag-description': 'error',
  },
  // A receiver's URL is the partner's, so that the events have no security scheme.
  async3Rules: { 'security-defined': 'off' },
});
const problems = await lintFromString({ source, absoluteRef: 'document.json', config });
process.stdout.write(JSON.stringify(
  problems.map(({ ruleId, severity, message, location }) =>
    [severity, ruleId, location[0]?.pointer, message].join(' ')),
));
`;

/** The linter does not know the title of a server, which AsyncAPI 3 has. */
const UNKNOWN_TITLE = /^error struct #\/servers\/\w+\/title /;

function lint(document: object): string[] {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', LINTER],
    {
      cwd: join(__dirname, '..'),
      input: JSON.stringify(document),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      timeout: LIMIT_MS,
      env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off' },
    },
  );
  if (status !== 0) throw new Error(`the linter failed: ${stderr}`);
  return (JSON.parse(stdout) as string[]).filter((problem) => !UNKNOWN_TITLE.test(problem));
}

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });

test.each([
  ['OpenAPI', document],
  ['AsyncAPI', buildAsyncApi(document)],
])('the linter finds no problem in the %s document', (_, built) => {
  expect(lint(built)).toEqual([]);
});

test('the linter finds the problems of broken documents', () => {
  const { paths, ...rest } = document;
  const [[path, item]] = Object.entries(paths) as [[string, object]];
  const broken = {
    ...rest,
    paths: { [path]: item, '/broken/{id}': { get: { summary: 'No answers' } } },
  };
  const problems = lint(broken).join('\n');
  expect(problems).toContain('/broken');
  expect(problems).toContain('operation-operationId');
  const events = buildAsyncApi(document);
  delete events.channels['message.received'];
  expect(lint(events).join('\n')).toContain('no-unresolved-refs #/operations/');
});
