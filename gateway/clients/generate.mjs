// Generates the part of a client that is not written by hand, from the endpoint table of the compiled gateway:
// `node generate.mjs python go java` writes into the folders of these languages. A folder that is in step with the
// document keeps its files. `--pack` makes the packages too. Nothing that it writes is in version control.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, tools } from './tools.mjs';

const require = createRequire(import.meta.url);
const { chapters, endpoints } = require('../dist/endpoints/index.js');
const { buildOpenApi, documentPath } = require('../dist/openapi/index.js');

const HEAD = 'Generated from the endpoint table by make clients. Do not edit.';
const folderOf = (language) => fileURLToPath(new URL(language, import.meta.url));
const quoted = endpoints.filter((row) => row.idempotent).map((row) => `"${documentPath(row)}"`);
const lines = (indent) => quoted.map((path) => `${indent}${path},\n`).join('');

/** By language: what is generated, and how. `document` is the path of the OpenAPI document. */
const LANGUAGES = {
  python: {
    made: 'src/bmg_client/rest',
    generate(document, folder, scratch) {
      const config = join(scratch, 'config.yaml');
      // The formatter of the generator is a program that a build may lack.
      writeFileSync(config, 'post_hooks: []\n');
      const [program] = tools['openapi-python-client']();
      run(program, [
        'generate',
        '--fail-on-warning',
        '--meta=none',
        '--overwrite',
        `--path=${document}`,
        `--config=${config}`,
        `--output-path=${join(folder, 'src/bmg_client/rest')}`,
      ]);
      writeFileSync(
        join(folder, 'src/bmg_client/idempotent.py'),
        `# ${HEAD}\nIDEMPOTENT_PATHS = frozenset((\n${lines('    ')}))\n`,
      );
    },
    pack(folder) {
      rmSync(join(folder, 'dist'), { recursive: true, force: true });
      run(tools.python()[0], ['-m', 'build', '--wheel', '--outdir', 'dist'], { cwd: folder });
    },
  },
};

const document = JSON.stringify(
  buildOpenApi(chapters, { public_url: 'https://gateway.example.com' }),
);
const recipe = [
  fileURLToPath(import.meta.url),
  fileURLToPath(new URL('tools.mjs', import.meta.url)),
]
  .map((file) => readFileSync(file, 'utf8'))
  .join('');
const hash = createHash('sha256').update(recipe).update(document).digest('hex');

const isPacked = process.argv.includes('--pack');
for (const name of process.argv.slice(2).filter((one) => one !== '--pack')) {
  const language = LANGUAGES[name];
  if (!language) throw new Error(`the languages are ${Object.keys(LANGUAGES).join(', ')}`);
  generate(name, language);
  if (isPacked) language.pack(folderOf(name));
}

function generate(name, language) {
  const made = join(folderOf(name), language.made);
  const stamp = join(made, '.source');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  rmSync(made, { recursive: true, force: true });
  const scratch = mkdtempSync(join(tmpdir(), 'bmg-clients-'));
  try {
    writeFileSync(join(scratch, 'openapi.json'), document);
    language.generate(join(scratch, 'openapi.json'), folderOf(name), scratch);
    mkdirSync(made, { recursive: true });
    writeFileSync(stamp, hash);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
