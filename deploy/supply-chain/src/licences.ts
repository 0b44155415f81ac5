// Reads the packages' licences from the lockfile and decides which are allowed. Shipped packages
// (all except development tools) need a permissive licence. A licence in neither list is refused
// until it is reviewed and added.
export interface Package {
  name: string;
  version: string;
  /** The SPDX expression of its package.json; empty without one. */
  licence: string;
  /** True for a development tool, which is in no image. */
  dev: boolean;
}

/** Allowed in images, with a notice. */
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
/** Allowed for development tools, which are not distributed. */
const TOOLS_ONLY = new Set(['CC-BY-3.0', 'CC-BY-4.0', 'CC-BY-SA-4.0', 'MPL-2.0', 'PSF-2.0']);

/** Licences of packages that state none or a wrong one, read from their files. */
const KNOWN: Record<string, string> = {
  '@cspell/dict-en-common-misspellings': 'CC-BY-SA-4.0',
};

export const licenceOf = ({ name, licence }: Package): string => KNOWN[name] ?? licence;

/** One allowed licence suffices for `A OR B`; `A AND B` needs both. */
export function isAllowed(expression: string, dev: boolean): boolean {
  const bare = expression.trim().replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' OR ')) return bare.split(' OR ').some((part) => isAllowed(part, dev));
  if (bare.includes(' AND ')) return bare.split(' AND ').every((part) => isAllowed(part, dev));
  return PERMISSIVE.has(bare) || (dev && TOOLS_ONLY.has(bare));
}

export const refused = (packages: Package[]): Package[] =>
  packages.filter((one) => !isAllowed(licenceOf(one), one.dev));

/** Renders LICENCES.md. */
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
    '# Licences\n\nThe licence of every package in the lockfile. `make licences` writes this page and fails if a\nlicence is unknown or not allowed.\n',
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

/** Reads package-lock.json, which is the same on every platform; installed packages differ. */
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
    // A package counts as shipped if one copy of it is.
    const known = found.get(key);
    found.set(key, { name, version, licence: license, dev: dev && (known?.dev ?? true) });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
