import type { ButtonProps } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { download } from './csv';
import { Failure, WorkButton } from './layout';

interface ExportProps extends ButtonProps {
  label?: string;
  /** The title of a failure. */
  failure: string;
  /** The name of the file. */
  file: string;
  read: () => Promise<string | Blob>;
}

/** A button that reads a CSV file and has the browser save it. */
export function Export({ label = 'Export CSV', failure, file, read, ...button }: ExportProps) {
  const work = useMutation({ mutationFn: read, onSuccess: (content) => download(file, content) });
  return (
    <>
      <WorkButton variant="default" {...button} work={work}>
        {label}
      </WorkButton>
      {work.error && <Failure error={work.error} title={failure} />}
    </>
  );
}
