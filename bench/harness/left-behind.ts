import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// When this process ends, its children are killed and its folders are deleted. Only SIGKILL prevents that.
const children = new Set<ChildProcess>();
const folders: string[] = [];

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

export function ownChild(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  folders.push(folder);
  return folder;
}
