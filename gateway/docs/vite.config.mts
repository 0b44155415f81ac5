// Compiles the browser's part of the documentation: every page's, and the reference. The gateway
// serves the result.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const file = (name: string): string => fileURLToPath(new URL(`src/${name}`, import.meta.url));

export default defineConfig({
  base: './',
  resolve: {
    alias: [
      { find: '@scalar/agent-chat/style.css', replacement: file('reference.css') },
      { find: '@scalar/agent-chat', replacement: file('no-agent.ts') },
    ],
  },
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    manifest: true,
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Inlined files would need data: addresses in the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_500,
    rollupOptions: { input: [file('reference.ts'), file('page.ts')] },
  },
});
