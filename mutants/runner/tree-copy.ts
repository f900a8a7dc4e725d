import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from '../mutant.ts';
import { countOf } from './find-problems.ts';
import { runChild } from './run-child.ts';

const LEFT_OUT = new Set(['.git', 'node_modules', 'coverage', '.sallyport']);
const BUILD = `
  const { compileAll } = await import('./scripts/compile.mjs');
  const built = await compileAll();
  if (built.kind === 'failed') { console.log(built.output); process.exitCode = 1; }
`;

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
      cpSync(join(project, entry), join(root, entry), { recursive: true });
    }
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
    return new TreeCopy(root);
  }

  /** Writes the bug; gives back how to take it out again. */
  plant(mutant: Mutant): () => void {
    const path = join(this.root, mutant.file);
    const original = readFileSync(path, 'utf8');
    if (countOf(original, mutant.find) !== 1)
      throw new Error(`${mutant.id}: its text does not occur once in ${mutant.file}`);
    writeFileSync(
      path,
      original.replace(mutant.find, () => mutant.replace),
    );
    return () => {
      writeFileSync(path, original);
    };
  }

  /** Makes the next build ask the compiler, whose record of the original place does not hold in this one. */
  forgetBuild(): void {
    rmSync(join(this.root, 'dist/.build/stamp'), { force: true });
  }

  /** What changed is compiled into the copy's own dist. */
  async build(limitMs: number): Promise<BuildResult> {
    const { code, output } = await runChild(['--input-type=module', '--eval', BUILD], { cwd: this.root, limitMs });
    return code === 0 ? { kind: 'built' } : { kind: 'failed', output: output.trim() || 'The build took too long.' };
  }
}

/** A private folder for all copies of one run. */
export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-mutants-'));
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}
