// The list of services: service-table.json, typed. Everything that needs "all services" reads it:
// the background mesh, the tests, the chart's facts, lint and the Makefile.
import table from './service-table.json';

/** One service, as service-table.json describes it. */
export interface ServiceFacts {
  /** Its folder, from the root of the repository. */
  workspace: string;
  /** True when it has a Mongo database. */
  database: boolean;
  /** Absent when the service has no RPCs. */
  grpc_port?: number;
  /** Its public HTTP port and the setting that names it. */
  http?: { setting: string; port: number };
  metrics_port: number;
}

export type ServiceName = keyof typeof table;

/** In the order of starting: the gateway comes last, after the services it calls. */
export const SERVICES: Readonly<Record<ServiceName, ServiceFacts>> = table;

export const SERVICE_NAMES = Object.keys(table) as ServiceName[];

/**
 * How Node runs a service; deploy/Dockerfile has the same. The young generation is larger than
 * Node's default, because nearly everything that a message allocates is garbage once it is handled.
 */
export const NODE_FLAGS = [
  '--enable-source-maps',
  '--max-semi-space-size=32',
  '--require',
  '@bmg/common/telemetry/register',
];

/** The setting that holds a service's gRPC address: `NUMBER_ADMIN_ADDR`. */
export const addressSetting = (name: ServiceName): string => `${settingPrefix(name)}_ADDR`;

/** A process name as the start of a setting's name: `number-admin` is `NUMBER_ADMIN`. */
export const settingPrefix = (name: string): string => name.replaceAll('-', '_').toUpperCase();
