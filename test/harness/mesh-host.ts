// Runs one mesh for a jest worker as a separate process: `node mesh-host.js FILE`. It writes the
// addresses to FILE once all is ready, stops and starts services on request, and ends with the
// worker.
import { writeFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceName } from '@bmg/local';
import { renderMetrics } from '@bmg/common/telemetry';
import { startMesh } from './mesh';
import type { HostedMesh } from './shared-mesh';

async function main(file: string): Promise<void> {
  const mesh = await startMesh();
  const server = createServer((request, response) => {
    const [, action, name] = (request.url ?? '').split('/') as [string, string, ServiceName];
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const work = async (): Promise<string> => {
        if (action === 'metrics') return (await renderMetrics()).body;
        if (action === 'stop') await mesh.stopService(name);
        else await mesh.startService(name, JSON.parse(body) as NodeJS.ProcessEnv);
        return '';
      };
      work().then(
        (text) => response.end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hosted: HostedMesh = {
    pid: process.pid,
    control_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    base_url: mesh.base_url,
    ingress_url: mesh.ingress_url,
    emulator_url: mesh.emulator.url,
    env: mesh.env,
  };
  // The rename is atomic: no reader sees half of the file.
  writeFileSync(`${file}.part`, JSON.stringify(hosted));
  renameSync(`${file}.part`, file);
}

// No state is needed any more, so there is no orderly shutdown.
process.on('disconnect', () => process.exit(0));
main(process.argv[2] as string).catch((error: unknown) => {
  console.error('failed to start the mesh of a test worker:', error);
  process.exit(1);
});
