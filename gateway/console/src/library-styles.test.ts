// A component without its styles would look broken, and nothing else would say so.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const STYLES = resolve(__dirname, '../../../node_modules/@mantine/core/styles');

test('has the styles of every component that a screen imports', () => {
  const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx'))
    .map((file) => readFileSync(join(__dirname, file), 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.trim()),
    ),
  );
  expect(names).toContain('Button');
  const listed = readFileSync(join(__dirname, 'library-styles.ts'), 'utf8');
  const missing = [...new Set(names)].filter(
    (name) => existsSync(join(STYLES, `${name}.css`)) && !listed.includes(`/${name}.css'`),
  );
  expect(missing).toEqual([]);
});
