import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import type { Layer, LayerOptions, LayerResult } from './layer.ts';

/** The cheapest layers come first, so that failures show early. */
export const LAYERS: readonly Layer[] = [
  layer('model', 'Random commands on a few calls: the store answers as the model does.'),
  layer('interleavings', 'Two calls, two workers: every order of steps to a bounded depth, compared with the model.'),
  layer('storage', 'Torn, flipped and full files: what is read back is a prefix of what was written.'),
  layer('reply-loss', 'The k-th answer of each command is lost: nothing is doubled, nothing is lost.'),
  layer('crash-points', 'A process dies before and after each of its store operations: one answer, one audit record.'),
];

/**
 * The layers use internals of the stores, so they are in the test folder, as sources, and share the model and fixtures of the contract
 * suite. They are loaded by the same tool that runs the tests.
 */
function layer(name: string, about: string): Layer {
  const run = async (options: LayerOptions): Promise<LayerResult> => {
    const top = topFolder();
    const sources = await createServer({
      root: top,
      configFile: false,
      appType: 'custom',
      logLevel: 'error',
      optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    });
    try {
      const loaded = (await sources.ssrLoadModule(join(top, `test/chaos/layers/${name}.ts`))) as Pick<Layer, 'run'>;
      return await loaded.run(options);
    } finally {
      await sources.close();
    }
  };
  return { name, about, run };
}

/** Finds the top folder of the repository. This file may be a source or compiled, two or three folders below it. */
function topFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'vitest.config.ts'))) folder = dirname(folder);
  return folder;
}
