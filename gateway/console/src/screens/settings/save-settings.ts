import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client';
import { settingsQuery } from '../../api/queries';
import type { Settings } from '../../api/types';

/** Saves what `changed` returns; the screens show the settings of the answer at once. */
export function useSaveSettings(changed: () => Partial<Record<keyof Settings, unknown>>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call<{ settings: Settings }>('PATCH', '/settings', { body: changed() }),
    onSuccess: (answer) => queries.setQueryData(settingsQuery.queryKey, answer.settings),
  });
}
