import { existsSync, readFileSync } from 'node:fs';
import type { ModuleFormat } from 'node:module';
import { dirname, extname, join } from 'node:path';

/** The content that files had when they were loaded, by absolute path. */
export type LoadedCode = Readonly<Record<string, Uint8Array>>;

const FORMATS: Readonly<Record<string, ModuleFormat>> = {
  '.mjs': 'module',
  '.cjs': 'commonjs',
  '.json': 'json',
  '.wasm': 'wasm',
};

/** The module format as Node determines it: by the file extension, otherwise by the nearest package.json. */
export function formatOf(file: string, code: LoadedCode): ModuleFormat {
  const known = FORMATS[extname(file)];
  if (known !== undefined) return known;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const text = code[manifest] ?? (existsSync(manifest) ? readFileSync(manifest) : undefined);
    if (text !== undefined) return typeOf(text) === 'module' ? 'module' : 'commonjs';
    if (folder === dirname(folder)) return 'commonjs';
  }
}

function typeOf(manifest: Uint8Array): unknown {
  try {
    return (JSON.parse(Buffer.from(manifest).toString('utf8')) as { type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}
