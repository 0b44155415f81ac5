// Compiles the console. The gateway serves the result and fills in the nonce and the base address.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import upstreamGuide from '../src/openapi/upstream-guide.json' with { type: 'json' };

const meanings = upstreamGuide.map(({ upstream_code, meaning }) => [upstream_code, meaning]);

export default defineConfig({
  base: './',
  plugins: [react()],
  define: { UPSTREAM_MEANINGS: Object.fromEntries(meanings) },
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
