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
const BUNDLE = 'scripts/bundle.mjs';

export type BuildResult = { readonly kind: 'built' } | { readonly kind: 'failed'; readonly output: string };

/** A copy of the project in which bugs may be planted. The project's own files are read, never written. */
export class TreeCopy {
  readonly root: string;
  /** What is bundled holds a bug of before, or no bug where the sources have one. */
  #isBundleStale = false;

  private constructor(root: string) {
    this.root = root;
  }

  /** Real copies throughout: the compiler writes in place, so a hard link would carry a bug back into the project. */
  static of(project: string, folder: string, name: string): TreeCopy {
    const root = join(folder, name);
    mkdirSync(root);
    for (const entry of readdirSync(project)) {
      if (LEFT_OUT.has(entry) || entry.startsWith('.setup-lock-')) continue;
      cpSync(join(project, entry), join(root, entry), { recursive: true });
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
    const isCode = file.startsWith('src/') && !file.endsWith('.lua');
    if (isCode) {
      const compiled = await this.#run([TSC, '-p', 'tsconfig.build.json', '--pretty', 'false'], limitMs);
      // The compiler may have written over what is bundled, also when it found faults.
      this.#isBundleStale = true;
      if (compiled.kind === 'failed') return compiled;
    } else {
      for (const copy of compiledOf(file)) copyFileSync(join(this.root, file), join(this.root, copy));
    }
    if (!this.#isBundleStale) return { kind: 'built' };
    const bundled = await this.#run([BUNDLE], limitMs);
    this.#isBundleStale = isCode || bundled.kind === 'failed';
    return bundled;
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
