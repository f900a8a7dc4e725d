import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../../../src/domain/ports/store.ts';
import type { Sample } from './sample.ts';

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
    });
  } catch {
    return [];
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Counts the files in the folders of the run: temporary files and sockets, the store, the audit. Database files are measured by size. */
export function sampleFiles(sample: Sample, folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'sallyport') continue;
    const path = join(folder, entry.name);
    const files = entry.isDirectory() ? filesBelow(path) : [path];
    sample.count(
      `files: ${entry.name}`,
      files.length,
      files.map((file) => relative(folder, file)),
    );
    for (const file of files.filter((each) => /\.sqlite(-wal)?$/.test(each)))
      sample.measure(`file ${relative(folder, file)}`, sizeOf(file));
  }
}

/** The owner makes a copy between two commits, because no other process may open its file. */
export async function sampleCopy(sample: Sample, store: Store, folder: string): Promise<void> {
  const copy = join(folder, 'copy.sqlite');
  await (store as Store & Copied).copyTo(copy);
  sampleTables(sample, 'rows', copy);
  for (const ending of ['', '-wal', '-shm']) rmSync(copy + ending, { force: true });
}

/** Counts the rows of every table. */
export function sampleTables(sample: Sample, family: string, file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
    for (const { name } of tables as { name: string }[]) {
      const { rows } = database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get() as { rows: number };
      sample.count(`${family}: ${name}`, rows);
    }
  } finally {
    database.close();
  }
}

/** A method of the embedded store that other stores do not have. */
interface Copied {
  copyTo(file: string): Promise<void>;
}
