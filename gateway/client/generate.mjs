// Writes the generated part of the client (schema, idempotent paths, lists in src/) from the
// endpoint table of the compiled gateway. `make build` runs it after the gateway has been compiled;
// an unchanged file keeps its time, so that the compiler has nothing to do.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { listsOf } from '../clients/lists.mjs';

const require = createRequire(import.meta.url);
const { chapters, endpoints } = require('../dist/endpoints/index.js');
const { buildOpenApi, documentPath } = require('../dist/openapi/index.js');

const sourceFile = (name) => fileURLToPath(new URL(`src/${name}`, import.meta.url));
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Replaces the file only if its content changes. */
function write(name, content) {
  const file = sourceFile(name);
  if (read(file) !== content) writeFileSync(file, content);
}

const document = JSON.stringify(
  buildOpenApi(chapters, { public_url: 'https://gateway.example.com' }),
);
const generator = readFileSync(require.resolve('openapi-typescript/package.json'), 'utf8');
const recipe = readFileSync(fileURLToPath(import.meta.url), 'utf8');
const hash = createHash('sha256').update(recipe).update(generator).update(document).digest('hex');
const head = `// Generated from the OpenAPI document by make build. Do not edit. Source: ${hash}\n`;

/** The document leaves the details of an error open; callers read these keys. */
function typeOf(_type, { path }) {
  if (!path?.endsWith('/schemas/Error/error/details')) return undefined;
  const { factory, SyntaxKind } = ts;
  return factory.createUnionTypeNode([
    factory.createTypeReferenceNode('ErrorDetails'),
    factory.createLiteralTypeNode(factory.createToken(SyntaxKind.NullKeyword)),
  ]);
}

// The generator takes seconds: it runs only if the document, or the generator itself, has changed.
if (!read(sourceFile('schema.ts')).startsWith(head)) {
  const options = {
    inject: "import type { ErrorDetails } from './details';",
    postTransform: typeOf,
  };
  write('schema.ts', head + astToString(await openapiTS(document, options)));
}

const paths = endpoints.filter((row) => row.idempotent).map((row) => `  '${documentPath(row)}',\n`);
write(
  'idempotent.ts',
  `// Generated from the endpoint table by make build. Do not edit.\nexport const IDEMPOTENT_PATHS: readonly string[] = [\n${paths.join('')}];\n`,
);

const lists = listsOf(JSON.parse(document)).map(
  ({ path, items, page }) => `  '${path}': { items: '${items}', page: '${page}' },\n`,
);
write(
  'lists.ts',
  `// Generated from the OpenAPI document by make build. Do not edit.\nexport const LISTS = {\n${lists.join('')}} as const;\n`,
);
