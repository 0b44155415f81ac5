// The types that the operation files share.
import type { Credentials } from '@bmg/common/directory';
import type { Client, Handlers } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Operations, Runner, Upstream } from '@bmg/common/upstream';
import type { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { RequireMember, NumberOf } from './membership';

export interface Dependencies {
  upstream: Upstream;
  credentials: Credentials;
  directory: Pick<Client<DirectoryDefinition>, 'storePin' | 'getPin'>;
  platform_pin: string;
  log: Logger;
}

/** Dependencies of the operations that are functions. */
export interface Tools extends Pick<Dependencies, 'credentials' | 'directory' | 'platform_pin'> {
  ask: Runner['ask'];
  numberOf: NumberOf;
  requireMember: RequireMember;
}

/** The RPCs of one operation file. */
export type Part<M extends keyof NumberAdminDefinition['methods']> = Pick<
  Operations<Handlers<NumberAdminDefinition>>,
  M
>;
