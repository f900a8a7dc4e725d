import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from '../mutant.ts';
import { countOf } from './find-problems.ts';
import { runChild } from './run-child.ts';

const LEFT_OUT = new Set(['.git', 'node_modules', 'coverage', '.sallyport']);
const TSC = 'node_modules/@typescript/native/bin/tsc';

export type BuildResult = { readonly kind: 'built' } | { readonly kind: 'failed'; readonly output: string };

/** A copy of the project in which bugs may be planted. The project's own files are read, never written. */
export class TreeCopy {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Real copies throughout: the compiler writes in place, so a hard link would carry a bug back into the project. */
  static of(project: string, folder: string, name: string): TreeCopy {
    const root = join(folder, name);
    mkdirSync(root);
    for (const entry of readdirSync(project)) {
      if (LEFT_OUT.has(entry) || entry.startsWith('.setup-lock-')) continue;
      // Source maps are a third of all files, and no test reads them.
      const filter = (path: string): boolean => !path.endsWith('.map');
      cpSync(join(project, entry), join(root, entry), { recursive: true, filter });
    }
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
    return new TreeCopy(root);
  }

  /** Writes the bug. `takeOut` gives source and compiled files their bytes back. */
  plant(mutant: Mutant): { takeOut(): void } {
    const path = join(this.root, mutant.file);
    const original = readFileSync(path, 'utf8');
    if (countOf(original, mutant.find) !== 1) {
      throw new Error(`${mutant.id}: its text does not occur once in ${mutant.file}`);
    }
    const kept = [mutant.file, ...compiledOf(mutant.file)]
      .map((file) => join(this.root, file))
      .filter((file) => existsSync(file))
      .map((file) => ({ file, bytes: readFileSync(file) }));
    writeFileSync(
      path,
      original.replace(mutant.find, () => mutant.replace),
    );
    return {
      takeOut() {
        for (const { file, bytes } of kept) writeFileSync(file, bytes);
      },
    };
  }

  /**
   * Only what the changed file is part of. The first time, the compiler looks at everything: its record of the original place does
   * not hold here. Child processes of tests run what was compiled.
   */
  async buildChanged(file: string, limitMs: number): Promise<BuildResult> {
    if (!file.startsWith('src/')) return { kind: 'built' };
    if (!file.endsWith('.lua')) return this.#run([TSC, '-p', 'tsconfig.build.json', '--pretty', 'false'], limitMs);
    for (const copy of compiledOf(file)) copyFileSync(join(this.root, file), join(this.root, copy));
    return { kind: 'built' };
  }

  async #run(args: readonly string[], limitMs: number): Promise<BuildResult> {
    const { code, output } = await runChild(args, { cwd: this.root, limitMs });
    return code === 0 ? { kind: 'built' } : { kind: 'failed', output: output.trim() || 'It took too long.' };
  }
}

/** What the build makes of a source file; only its text counts at run time. */
function compiledOf(file: string): string[] {
  if (!file.startsWith('src/')) return [];
  const path = `dist/${file.slice('src/'.length)}`;
  return file.endsWith('.lua') ? [path] : [path.replace(/\.ts$/, '.js')];
}

/** A private folder for all copies of one run. */
export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-mutants-'));
  return {
    path,
    // Whoever was just ended may still be about to write.
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
