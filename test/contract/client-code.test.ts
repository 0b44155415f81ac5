// The generated part of the client, gateway/client/src, is in step with the OpenAPI document.
// GOLDEN=write writes it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { chapters, endpoints } from '../../gateway/src/endpoints';
import { buildOpenApi, documentPath } from '../../gateway/src/openapi';

const ROOT = resolve(__dirname, '../..');
const SOURCE = join(ROOT, 'gateway/client/src');
const GENERATOR = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js');
const HEAD = '// Generated from the OpenAPI document by `make golden`. Do not edit.\n';
const LIMIT_MS = 120_000;

function schema(): string {
  const folder = mkdtempSync(join(tmpdir(), 'client-code-'));
  try {
    const file = join(folder, 'openapi.json');
    const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.com' });
    writeFileSync(file, JSON.stringify(document));
    const made = join(folder, 'schema.ts');
    execFileSync(process.execPath, [GENERATOR, file, '--output', made], { stdio: 'pipe' });
    return HEAD + readFileSync(made, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const idempotent = (): string => {
  const paths = endpoints.filter((row) => row.idempotent).map((row) => documentPath(row));
  const lines = paths.map((path) => `  '${path}',\n`).join('');
  return `${HEAD}export const IDEMPOTENT_PATHS: readonly string[] = [\n${lines}];\n`;
};

test.each([
  ['schema.ts', schema],
  ['idempotent.ts', idempotent],
])(
  '%s is in step',
  (name, make) => {
    const file = join(SOURCE, name);
    const made = make();
    if (process.env['GOLDEN'] === 'write') writeFileSync(file, made);
    else expect(readFileSync(file, 'utf8')).toBe(made);
  },
  LIMIT_MS,
);
