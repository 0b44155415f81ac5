import './library-styles';
import 'virtual:tokens.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchActivity } from './api/activity';
import { whenSessionEnds, type ApiFailure } from './api/client';
import { sessionQuery } from './api/queries';
import { Gate } from './shell/gate';
import { theme } from './theme';

const STALE_MS = 15_000;
const RETRIES_MAX = 2;

const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
setNonce(nonce);

const queries = new QueryClient({
  mutationCache: new MutationCache(),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (failures, error) =>
        failures < RETRIES_MAX && ((error as ApiFailure).retryable ?? false),
    },
  },
});
watchActivity();
whenSessionEnds(() => {
  const [session] = sessionQuery.queryKey;
  // The next person at this browser sees nothing that was read before.
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== session });
  queries.setQueryData(sessionQuery.queryKey, null);
});

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Gate />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
