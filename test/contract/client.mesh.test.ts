// The packed client works: the program of the guide runs as printed, with the package that `make
// build` makes, against a mesh.
import { expectProgramWorks, installClient } from './client-package';
import { useGuideShell } from './guide-shell';

const shell = useGuideShell();

test('the program of the guide sends a text and reads its events', async () => {
  await installClient(shell.folder);
  await expectProgramWorks(shell, process.execPath);
});
