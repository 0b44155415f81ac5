// Which licences the installed packages have, and which of them we may use. What is shipped (everything but
// development tools) must be permissive; a licence that is not in the table is an error until a person has
// looked at it.
export interface Package {
  name: string;
  version: string;
  /** SPDX, as its package.json says it; empty where it says nothing. */
  licence: string;
  /** A development tool: not in an image. */
  dev: boolean;
}

/** May be used and passed on with a notice. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'WTFPL',
]);
/** May be used on our own machines, where nothing of it is passed on. */
const TOOLS_ONLY = new Set(['CC-BY-3.0', 'CC-BY-4.0', 'CC-BY-SA-4.0', 'MPL-2.0', 'PSF-2.0']);

/** What a package says wrongly or not at all, looked up in its own files. */
const KNOWN: Record<string, string> = {
  '@cspell/dict-en-common-misspellings': 'CC-BY-SA-4.0',
};

export const licenceOf = ({ name, licence }: Package): string => KNOWN[name] ?? licence;

/** `A OR B` leaves us the choice, `A AND B` does not. */
export function isAllowed(expression: string, dev: boolean): boolean {
  const bare = expression.trim().replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' OR ')) return bare.split(' OR ').some((part) => isAllowed(part, dev));
  if (bare.includes(' AND ')) return bare.split(' AND ').every((part) => isAllowed(part, dev));
  return PERMISSIVE.has(bare) || (dev && TOOLS_ONLY.has(bare));
}

export const refused = (packages: Package[]): Package[] =>
  packages.filter((one) => !isAllowed(licenceOf(one), one.dev));

/** LICENCES.md. */
export function licencesPage(packages: Package[]): string {
  const section = (title: string, list: Package[]): string => {
    const byLicence = new Map<string, string[]>();
    for (const one of list) {
      const licence = licenceOf(one) || 'none given';
      byLicence.set(licence, [...(byLicence.get(licence) ?? []), `${one.name} ${one.version}`]);
    }
    const rows = [...byLicence]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([licence, names]) => `| ${licence} | ${names.length} | ${names.sort().join(', ')} |`);
    return `## ${title}\n\n| Licence | Packages | Which |\n|---|---|---|\n${rows.join('\n')}\n`;
  };
  return [
    '# Licences\n\nOf every package in the lockfile; made by `make licences`, which fails where one is unknown or may not be used.\n',
    section(
      'In the images',
      packages.filter(({ dev }) => !dev),
    ),
    section(
      'Development tools',
      packages.filter(({ dev }) => dev),
    ),
  ].join('\n');
}

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}

/** Out of package-lock.json: the same on every platform, whatever of it is installed here. */
export function readLockfile(text: string): Package[] {
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };
  const found = new Map<string, Package>();
  for (const [path, { version = '', license = '', dev = false, link }] of Object.entries(
    packages,
  )) {
    const at = path.lastIndexOf('node_modules/');
    if (at < 0 || link) continue;
    const name = path.slice(at + 'node_modules/'.length);
    const key = `${name}@${version}`;
    // One copy that is shipped is enough.
    const known = found.get(key);
    found.set(key, { name, version, licence: license, dev: dev && (known?.dev ?? true) });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
