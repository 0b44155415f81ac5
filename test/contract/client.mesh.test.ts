// The packed client works: the program of the guide runs as printed, with the package that `npm
// pack` makes, against a mesh.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinMesh, type Mesh } from '../harness/shared-mesh';
import { expectProgramWorks, installClient } from './client-package';

let mesh: Mesh;
let folder: string;
beforeAll(async () => {
  mesh = await joinMesh();
  folder = await mkdtemp(join(tmpdir(), 'bmg-client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mesh.stop();
});

test('the program of the guide sends a text and reads its events', async () => {
  await installClient(folder);
  await expectProgramWorks(folder, mesh, process.execPath);
});
