// Compiles the console. The gateway serves the result and fills in the nonce and the base address.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, runnerImport } from 'vite';
import upstreamGuide from '../src/error-guide/upstream-guide.json' with { type: 'json' };

const advice = upstreamGuide.map(({ upstream_code, ...rest }) => [upstream_code, rest]);

/**
 * The design tokens, which the gateway's own pages have too: CommonJS, which this module cannot
 * import.
 */
const { module: design } = await runnerImport<typeof import('../src/design/css')>(
  fileURLToPath(new URL('../src/design/css.ts', import.meta.url)),
);
const TOKENS_CSS = 'virtual:tokens.css';
const TOKENS_FILE = '/design-tokens.css';
const tokens = {
  name: 'design-tokens',
  resolveId: (id: string) => (id === TOKENS_CSS ? TOKENS_FILE : undefined),
  load: (id: string) => (id === TOKENS_FILE ? design.chosenSchemeCss() : undefined),
};

export default defineConfig({
  base: './',
  plugins: [react(), tokens],
  define: { UPSTREAM_ADVICE: Object.fromEntries(advice) },
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    manifest: true,
    target: 'es2022',
    // light-dark() needs no lowering: browsers have had it since 2024.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Inlined files would need data: addresses in the content security policy.
    assetsInlineLimit: 0,
  },
});
