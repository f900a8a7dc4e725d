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

const BUILT: BuildResult = { kind: 'built' };

interface BuildOptions {
  /** Whether a test starts processes that run the built code. */
  readonly isRun: boolean;
  readonly limitMs: number;
}

/** A copy of the project in which bugs may be planted. The project's own files are read, never written. */
export class TreeCopy {
  readonly root: string;
  /** The bundle holds an earlier bug, or lacks the bug that the sources have. */
  #isBundleStale = false;

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes a copy without links to files: the compiler writes in place, so a hard link would carry a bug back into the project. */
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

  /** Writes the bug. `takeOut` restores the bytes of the source and compiled files. */
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
   * Builds only what the changed file is part of. The first time, the compiler checks everything, because its build record of the original
   * folder is not valid here. Child processes of tests run the compiled files; a test that starts none reads the sources, and then it is enough
   * that they compile.
   */
  async buildChanged(file: string, { isRun, limitMs }: BuildOptions): Promise<BuildResult> {
    const isCode = file.startsWith('src/') && !file.endsWith('.lua');
    if (!isRun)
      return isCode ? this.#run([TSC, '-p', 'tsconfig.build.json', '--noEmit', '--pretty', 'false'], limitMs) : BUILT;
    if (isCode) {
      const compiled = await this.#run([TSC, '-p', 'tsconfig.build.json', '--pretty', 'false'], limitMs);
      // The compiler may have overwritten bundled files, even if it found errors.
      this.#isBundleStale = true;
      if (compiled.kind === 'failed') return compiled;
    } else {
      for (const copy of compiledOf(file)) copyFileSync(join(this.root, file), join(this.root, copy));
    }
    if (!this.#isBundleStale) return BUILT;
    const bundled = await this.#run([BUNDLE], limitMs);
    this.#isBundleStale = isCode || bundled.kind === 'failed';
    return bundled;
  }

  async #run(args: readonly string[], limitMs: number): Promise<BuildResult> {
    const { code, output } = await runChild(args, { cwd: this.root, limitMs });
    return code === 0 ? BUILT : { kind: 'failed', output: output.trim() || 'It took too long.' };
  }
}

/** The files that the build makes from a source file and that matter at run time. */
function compiledOf(file: string): string[] {
  if (!file.startsWith('src/')) return [];
  const path = `dist/${file.slice('src/'.length)}`;
  return file.endsWith('.lua') ? [path] : [path.replace(/\.ts$/, '.js')];
}

/** Makes a private folder for all copies of one run. */
export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-mutants-'));
  return {
    path,
    // A process that was just killed may still be writing, so removal retries.
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
