// Services as an internal caller sees them: standard health and reflection.
import { credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { dirname, join } from 'node:path';
import { createRpcClient } from '@bmg/common/rpc';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';
import { useMesh } from './use-mesh';

const mesh = useMesh();

const DATA = 'bmg.data.v1.Data';
const SERVICES: Record<string, string[]> = {
  ONBOARDING_ADDR: [
    'bmg.onboarding.v1.Onboarding',
    'bmg.onboarding.v1.Directory',
    DATA,
    'bmg.onboarding.v1.Operator',
    'bmg.settings.v1.Settings',
  ],
  MESSAGING_ADDR: ['bmg.messaging.v1.Messaging', DATA],
  TEMPLATES_ADDR: ['bmg.templates.v1.Templates', DATA],
  BROADCASTS_ADDR: ['bmg.broadcasts.v1.Broadcasts', DATA],
  NUMBER_ADMIN_ADDR: ['bmg.numberadmin.v1.NumberAdmin'],
  WEBHOOKS_ADDR: ['bmg.webhooks.v1.Webhooks', DATA],
  DESTINATIONS_ADDR: ['bmg.destinations.v1.Destinations'],
};

/** The request behind `grpcurl -plaintext ADDRESS list`. */
function listServices(address: string): Promise<string[]> {
  const folder = join(
    dirname(require.resolve('@grpc/reflection/package.json')),
    'build/proto/grpc/reflection/v1',
  );
  const loaded = loadPackageDefinition(
    loadSync(join(folder, 'reflection.proto'), { keepCase: true }),
  ) as any; // any: a package loaded at run time
  const client = new loaded.grpc.reflection.v1.ServerReflection(
    address,
    credentials.createInsecure(),
  );
  return new Promise((resolve, reject) => {
    const call = client.ServerReflectionInfo();
    call.on('data', (answer: { list_services_response: { service: Array<{ name: string }> } }) => {
      resolve(answer.list_services_response.service.map(({ name }) => name));
      call.end();
      client.close();
    });
    call.on('error', (error: ServiceError) => reject(error));
    call.write({ list_services: '' });
  });
}

test.each(Object.entries(SERVICES))(
  '%s answers health and reflection',
  async (setting, services) => {
    const address = mesh.env[setting] as string;
    const health = createRpcClient(HealthDefinition, address);
    for (const service of ['', ...services]) {
      expect(await health.rpc.check({ service }, mesh.call())).toEqual({ status: Serving.SERVING });
    }
    expect(await health.rpc.check({ service: 'bmg.Unknown' }, mesh.call())).toEqual({
      status: Serving.SERVICE_UNKNOWN,
    });
    await health.stop();
    expect(await listServices(address)).toEqual(expect.arrayContaining(services));
  },
);
