// Reads the settings from the environment and validates them. Reports all faults at once.
import { accessSync, constants, readFileSync } from 'node:fs';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { Field } from './fields';

export type Fields = Record<string, Field<unknown>>;
export type Config<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** All faults of the settings, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(`invalid settings (${faults.length}):\n${faults.map((f) => `  ${f}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export interface Loaded<F extends Fields> {
  config: Config<F>;
  /** Legal but risky values, for the log. */
  warnings: string[];
}

/** `NAME_FILE` names a mounted file that holds the value; `NAME` itself takes precedence. */
export function loadConfig<F extends Fields>(fields: F, env: NodeJS.ProcessEnv): Loaded<F> {
  const faults: string[] = [];
  const given = readValues(fields, env, faults);
  const required = Object.entries(fields)
    .filter(([, field]) => field.default === undefined && !field.schema['optional'])
    .map(([name]) => name);
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { optional: _optional, ...schema } = field.schema;
      return [name, { ...schema, ...(field.default !== undefined && { default: field.default }) }];
    }),
  );
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, strict: true });
  addFormats(ajv);
  const validate = ajv.compile({ type: 'object', properties, required });
  if (!validate(given)) {
    for (const error of validate.errors ?? []) {
      const name =
        error.keyword === 'required'
          ? String(error.params['missingProperty'])
          : error.instancePath.slice(1);
      faults.push(
        error.keyword === 'required'
          ? `${name} is required: ${fields[name]?.description ?? ''}`
          : `${name} ${error.message ?? 'is invalid'}${choices(error.params)} (${fields[name]?.description ?? ''})`,
      );
    }
  }
  faults.push(...filesAndNeeds(fields, given));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = given as Config<F>;
  const warnings = Object.entries(fields).flatMap(([name, { insecure, warn }]) => {
    if (insecure !== undefined && given[name] === insecure) {
      return [`${name} has the insecure local default: set your own value in production`];
    }
    return warn?.(given) ?? [];
  });
  return { config, warnings };
}

/** Faults that a schema cannot express: unreadable files, settings that need others. */
function filesAndNeeds(fields: Fields, given: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([name, { file, check, needs = [] }]) => {
    const value = given[name];
    if (value === undefined) return [];
    const missing = needs.filter((other) => given[other] === undefined);
    const fault = check?.(String(value));
    return [
      ...(fault === undefined ? [] : [`${name} ${fault}`]),
      ...(missing.length > 0 ? [`${name} also requires ${missing.join(' and ')}`] : []),
      ...(file && !isReadable(String(value))
        ? [`${name} names a file that cannot be read: ${String(value)}`]
        : []),
    ];
  });
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function readValues(fields: Fields, env: NodeJS.ProcessEnv, faults: string[]) {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = env[name];
    const file = env[`${name}_FILE`];
    if (value !== undefined && value !== '') given[name] = value;
    else if (file) {
      try {
        given[name] = readFileSync(file, 'utf8').trimEnd();
      } catch {
        faults.push(`${name}_FILE names a file that cannot be read: ${file}`);
      }
    }
  }
  return given;
}

const choices = (params: Record<string, unknown>): string =>
  Array.isArray(params['allowedValues']) ? ` (${params['allowedValues'].join(', ')})` : '';

/**
 * The certificate authorities in a setting's file, PEM. Without a file, Node's own list applies (NODE_EXTRA_CA_CERTS
 * extends it). A file without effect, because the connection is not encrypted, is a fault.
 */
export function authorities(
  setting: string,
  file: string | undefined,
  encrypted: { by: string; isOn: boolean },
): string | undefined {
  if (file === undefined) return undefined;
  if (!encrypted.isOn)
    throw new ConfigError([`${encrypted.by} is required when ${setting} is set`]);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError([`${setting} names a file that cannot be read: ${file}`]);
  }
}
