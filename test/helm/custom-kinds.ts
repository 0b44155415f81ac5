// Schemas of custom resource kinds, made from the definitions in their projects' Go modules.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goModule, TOOLS } from './tools';
import { loadAll } from '../testkit/yaml';

/** The module with its version, and the path in it. */
const DEFINITIONS: Array<[module: string, path: string]> = [
  ['github.com/cert-manager/cert-manager@v1.16.2', 'deploy/crds/crd-certificates.yaml'],
  ['github.com/cert-manager/cert-manager@v1.16.2', 'deploy/crds/crd-issuers.yaml'],
  ['github.com/kedacore/keda/v2@v2.16.0', 'config/crd/bases/keda.sh_scaledobjects.yaml'],
  ['github.com/kedacore/keda/v2@v2.16.0', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  [
    'github.com/external-secrets/external-secrets@v0.17.0',
    'config/crds/bases/external-secrets.io_externalsecrets.yaml',
  ],
  [
    'github.com/prometheus-operator/prometheus-operator@v0.79.2',
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  ],
];

const FINGERPRINT = createHash('sha256')
  .update(JSON.stringify(DEFINITIONS))
  .digest('hex')
  .slice(0, 12);

type Schema = Record<string, unknown>;

interface Definition {
  spec: {
    group: string;
    names: { kind: string };
    versions: Array<{ name: string; schema: { openAPIV3Schema: Schema } }>;
  };
}

/** The folder with the schemas, one for each version. The first call creates it. */
export function customSchemas(): string {
  const folder = join(TOOLS, `custom-kinds-${FINGERPRINT}`);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}-${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const [module, path] of DEFINITIONS) {
    const [definition] = loadAll(readFileSync(join(goModule(module), path), 'utf8'));
    const { group, names, versions } = (definition as Definition).spec;
    for (const { name, schema } of versions) {
      const file = `${names.kind}-${group.split('.')[0]}-${name}.json`.toLowerCase();
      writeFileSync(join(fresh, file), JSON.stringify(closed(schema.openAPIV3Schema)));
    }
  }
  renameSync(fresh, folder);
  return folder;
}

/** Makes unknown fields faults, which a cluster would silently drop. */
function closed(schema: Schema): Schema {
  const made = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closedValue(key, value)]),
  );
  const open =
    schema['properties'] === undefined ||
    schema['additionalProperties'] !== undefined ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  return open ? made : { ...made, additionalProperties: false };
}

/** The keys below `properties` are names of fields, not keywords of JSON Schema. */
function closedValue(key: string, value: unknown): unknown {
  const isSchema = (one: unknown): one is Schema =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (key === 'properties' && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, closed(one as Schema)]),
    );
  }
  if ((key === 'items' || key === 'additionalProperties') && isSchema(value)) return closed(value);
  return value;
}
