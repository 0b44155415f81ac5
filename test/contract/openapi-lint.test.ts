// The OpenAPI document, held against a linter that is not ours: Redocly's recommended rules, examples included.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';

const LIMIT_MS = 120_000;

/** The linter is an ES module, which a process of its own loads as it is. */
const LINTER = `
import { createConfig, lintFromString } from '@redocly/openapi-core';
let source = '';
for await (const chunk of process.stdin) source += chunk;
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
    // GET /health asks for nothing that a caller could get wrong.
    'operation-4xx-response': 'off',
  },
});
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
process.stdout.write(JSON.stringify(problems.map(({ ruleId, severity, message, location }) =>
  [severity, ruleId, location[0]?.pointer, message].join(' '))));
`;

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
  return JSON.parse(stdout) as string[];
}

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });

test(
  'the document has nothing that a public linter finds wrong',
  () => {
    expect(lint(document)).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'and the linter is one that finds something',
  () => {
    const { paths, ...rest } = document;
    const [[path, item]] = Object.entries(paths) as [[string, object]];
    const broken = {
      ...rest,
      paths: { [path]: item, '/broken/{id}': { get: { summary: 'No answers' } } },
    };
    const problems = lint(broken).join('\n');
    expect(problems).toContain('/broken');
    expect(problems).toContain('error');
  },
  LIMIT_MS,
);
