import { integer } from '../config/fields';

const MIB = 1024 * 1024;

/** Settings of the services that take in partners' files. */
export const fileSettings = {
  SPOOL_LIMIT_MB: integer(
    { min: 100, max: 1_048_576, default: 1_024 },
    'disk space in the temporary folder (TMPDIR) that all files in transfer may use together',
  ),
};

export const spoolLimitBytes = ({ SPOOL_LIMIT_MB }: { SPOOL_LIMIT_MB: number }): number =>
  SPOOL_LIMIT_MB * MIB;
