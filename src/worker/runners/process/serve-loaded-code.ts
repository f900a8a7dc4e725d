import { createRequire, register } from 'node:module';
import { formatOf, type LoadedCode } from './code-format.ts';

interface CompilingModule extends NodeJS.Module {
  /** Node's own extension handlers use this to compile the text they have read. */
  _compile(text: string, file: string): void;
}

/**
 * From now on this process imports and requires these files with the content that the worker loaded, not the current one. Call it only
 * once.
 */
export function serveLoadedCode(code: LoadedCode): void {
  register('./loaded-code-hooks.js', import.meta.url, { data: code });
  // `require` does not use these hooks, so its extension handlers are replaced, too.
  const { extensions } = createRequire(import.meta.url);
  for (const [ending, format] of [
    ['.js', 'commonjs'],
    ['.json', 'json'],
  ] as const) {
    const plain = extensions[ending];
    extensions[ending] = (module, file) => {
      const source = code[file];
      if (source === undefined || formatOf(file, code) !== format) return plain?.(module, file);
      const text = Buffer.from(source).toString('utf8');
      if (format === 'json') module.exports = JSON.parse(text) as unknown;
      else (module as CompilingModule)._compile(text, file);
    };
  }
}
