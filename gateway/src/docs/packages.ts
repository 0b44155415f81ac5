// Serves the packed clients: GET /clients lists them, GET /clients/<file> is one, so that
// `npm install` and `pip install` take its address. `make build` packs TypeScript's and
// `make clients` the others; they are read once, at the start.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { notFound } from '../edge/observe';
import type { State } from '../edge/state';
import { html, table } from './html';
import { shell, type NavGroup } from './shell';

/** Resolves to one folder from src/ and dist/. */
const FOLDER = resolve(__dirname, '../../clients/dist');
/** The end of a name says the language, and with it the command that installs the file. */
const KINDS: ReadonlyArray<[end: string, language: string, install: string]> = [
  ['.tgz', 'TypeScript', 'npm install'],
  ['.whl', 'Python', 'pip install'],
  ['.tar.gz', 'Go', 'curl -O'],
  ['.jar', 'Java', 'curl -O'],
];
/** A name contains the version, but the same version may be packed again. */
const CACHE = 'public, max-age=300';

export type Package = ReturnType<typeof readPackages>[number];

/** Returns none if no client has been packed. */
export function readPackages(folder = FOLDER) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder);
  return KINDS.flatMap(([end, language, install]) =>
    names
      .filter((name) => name.endsWith(end))
      .map((name) => {
        const bytes = readFileSync(join(folder, name));
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return { name, language, install, bytes, sha256 };
      }),
  );
}

export function servePackages(router: Router<State>, packages: readonly Package[]): void {
  const files = new Map(packages.map((one) => [one.name, one]));
  router.get('/clients/:name', (context: Context) => {
    (context.state as State).route = '/clients';
    const file = files.get(String(context['params'].name));
    if (!file) throw notFound(': GET /clients lists the clients of this gateway');
    context.set({ 'Cache-Control': CACHE, 'X-Content-Type-Options': 'nosniff' });
    context.set('ETag', `"${file.sha256}"`);
    context.status = 200;
    if (context.fresh) context.status = 304;
    else {
      context.type = 'application/octet-stream';
      context.body = file.bytes;
    }
  });
}

export const packagesPage = (
  packages: readonly Package[],
  nav: readonly NavGroup[],
  public_url: string,
): string =>
  shell({
    title: 'Clients to install',
    nav,
    root: '',
    body: html`<h1>Clients to install</h1>
      <p>
        The packages of this release. <a href="docs/client">Clients</a> shows what each does and how
        it is used.
      </p>
      ${
        packages.length === 0
          ? html`<p>This gateway has none: ask its operator for them.</p>`
          : table(
              ['Language', 'Command', 'Size', 'SHA-256'],
              packages.map(({ name, language, install, bytes, sha256 }) => [
                html`<a href="clients/${name}">${language}</a>`,
                html`<code>${install} ${public_url}/clients/${name}</code>`,
                `${Math.ceil(bytes.length / 1_024)} KiB`,
                html`<code>${sha256}</code>`,
              ]),
            )
      }`,
  });
