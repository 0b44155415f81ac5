// Validates rendered manifests against the schemas of Kubernetes and of optional projects.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { manifests, type Manifest } from './render';

/**
 * Validates every manifest of the rendered charts, given by name, with the schemas in these
 * folders. Returns how many fit, and a line for each that does not, or whose kind has no schema.
 * Unknown fields are faults.
 */
export function conform(texts: Record<string, string>, folders: string[]) {
  const schemaOf = openSchemas(folders);
  const faults: Array<{ text: string; manifest: string; message: string }> = [];
  let valid = 0;
  for (const [text, rendered] of Object.entries(texts)) {
    for (const one of manifests(rendered)) {
      const validate = schemaOf(one);
      if (validate?.(one)) valid += 1;
      else {
        const { instancePath, message } = validate?.errors?.[0] ?? { message: 'no schema' };
        faults.push({
          text,
          manifest: `${one.kind} ${one.metadata.name}`,
          message: `${instancePath ?? ''} ${message}`,
        });
      }
    }
  }
  return { faults, valid };
}

/** Finds the schema of a manifest by its kind and API version; each is compiled once. */
function openSchemas(folders: string[]): (manifest: Manifest) => ValidateFunction | undefined {
  const ajv = new Ajv({ strict: false, logger: false });
  addFormats(ajv);
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  for (const folder of folders) {
    const definitions = join(folder, '_definitions.json');
    if (existsSync(definitions)) ajv.addSchema(read(definitions), '_definitions.json');
  }
  const compiled = new Map<string, ValidateFunction | undefined>();
  return ({ kind, apiVersion }) => {
    const name = fileName(kind, apiVersion);
    if (!compiled.has(name)) {
      const file = folders.map((folder) => join(folder, name)).find(existsSync);
      compiled.set(name, file === undefined ? undefined : ajv.compile(read(file)));
    }
    return compiled.get(name);
  };
}

/** `Deployment` of `apps/v1` is in `deployment-apps-v1.json`, `Pod` of `v1` in `pod-v1.json`. */
function fileName(kind: string, apiVersion: string): string {
  const [version, group] = apiVersion.split('/').reverse();
  const parts = [kind, ...(group === undefined ? [] : [group.split('.')[0]]), version];
  return `${parts.join('-')}.json`.toLowerCase();
}
