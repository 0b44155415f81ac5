// Compiles the console. The gateway serves the result and fills in the nonce and the base address.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import design from '../src/design/tokens.json' with { type: 'json' };
import upstreamGuide from '../src/openapi/upstream-guide.json' with { type: 'json' };

const advice = upstreamGuide.map(({ upstream_code, ...rest }) => [upstream_code, rest]);

/** The design tokens, which the gateway's own pages have too. */
const TOKENS_CSS = 'virtual:tokens.css';
const TOKENS_FILE = '/design-tokens.css';
const TOKENS_SHEET = `:root { ${design.tokens
  .map(({ name, light, dark }) => `--${name}: light-dark(${light}, ${dark});`)
  .join(' ')} }`;
const tokens = {
  name: 'design-tokens',
  resolveId: (id: string) => (id === TOKENS_CSS ? TOKENS_FILE : undefined),
  load: (id: string) => (id === TOKENS_FILE ? TOKENS_SHEET : undefined),
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
