// Gives users at Kafka the rights that deploy/ENGINE-USERS.md lists.
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  ResourcePatternTypes,
} from 'kafkajs';

export interface UserGrant {
  user: string;
  /** The names that `kafka-acls` takes: `Read`, `DescribeConfigs`. */
  operations: readonly string[];
  resource: 'topic' | 'group';
  names: readonly string[];
  /** The names are prefixes. */
  prefixed?: boolean;
}

/** `admin` is the address of an administrator's listener. */
export async function allowUsers(admin: string, grants: readonly UserGrant[]): Promise<void> {
  const client = new Kafka({ brokers: [admin], clientId: 'test' }).admin();
  await client.connect();
  const acl = grants.flatMap(({ user, operations, resource, names, prefixed }) =>
    names.flatMap((resourceName) =>
      operations.map((operation) => ({
        resourceType: resource === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
        resourceName,
        resourcePatternType: prefixed
          ? ResourcePatternTypes.PREFIXED
          : ResourcePatternTypes.LITERAL,
        principal: `User:${user}`,
        host: '*',
        operation:
          AclOperationTypes[operation.replace(/(?<=[a-z])(?=[A-Z])/, '_').toUpperCase() as 'READ'],
        permissionType: AclPermissionTypes.ALLOW,
      })),
    ),
  );
  await client.createAcls({ acl });
  await client.disconnect();
}
