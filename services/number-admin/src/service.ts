import { createCredentials, createVersions } from '@bmg/common/directory';
import { openRedis } from '@bmg/common/redis';
import { implement } from '@bmg/common/rpc';
import { defineService } from '@bmg/common/service';
import { createUpstream } from '@bmg/common/upstream';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { DirectoryDefinition } from '@bmg/proto/onboarding';
import type { Config } from './config';
import { createNumberAdminHandlers } from './handlers';
import type { Dependencies } from './tools';

export const createNumberAdmin = defineService<Config, Dependencies>({
  name: 'number-admin',
  open({ config, log, use, connect }) {
    const redis = use(openRedis(config, log));
    const upstream = use(createUpstream(config));
    const directory = connect(DirectoryDefinition, config.ONBOARDING_ADDR);
    const credentials = createCredentials(directory, createVersions(redis, log));
    return { upstream, credentials, directory, platform_pin: config.PLATFORM_PIN, log };
  },
  features: [
    (deps) => ({ rpcs: [implement(NumberAdminDefinition, createNumberAdminHandlers(deps))] }),
  ],
});
