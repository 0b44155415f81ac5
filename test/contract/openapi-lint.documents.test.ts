// The OpenAPI document passes the recommended rules of Redocly and of Spectral, without a warning.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';

const LIMIT_MS = 120_000;

/** They run in a child process, because the first is an ES module. */
const LINTERS = `
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { createConfig, lintFromString } from '@redocly/openapi-core';
let source = '';
for await (const chunk of process.stdin) source += chunk;
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
  },
});
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
const second = new spectral.Spectral();
second.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
const more = await second.run(source);
process.stdout.write(JSON.stringify([
  ...problems.map(({ ruleId, severity, message, location }) =>
    [severity, ruleId, location[0]?.pointer, message].join(' ')),
  ...more.map(({ code, path, message }) => ['spectral', code, path.join('/'), message].join(' ')),
]));
`;

function lint(document: object): string[] {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', LINTERS],
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
  return JSON.parse(stdout) as string[];
}

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });

test('the linters find no problem in the document', () => {
  expect(lint(document)).toEqual([]);
});

test('both linters find the problems of a broken document', () => {
  const { paths, ...rest } = document;
  const [[path, item]] = Object.entries(paths) as [[string, object]];
  const broken = {
    ...rest,
    paths: { [path]: item, '/broken/{id}': { get: { summary: 'No answers' } } },
  };
  const problems = lint(broken).join('\n');
  expect(problems).toContain('/broken');
  expect(problems).toContain('error');
  expect(problems).toContain('spectral operation-operationId paths//broken/{id}');
});
