// Compiles the browser's part of the documentation: the search, the menu and the
// code. The gateway serves the result.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    manifest: true,
    target: 'es2022',
    rollupOptions: { input: fileURLToPath(new URL('src/page.ts', import.meta.url)) },
  },
});
