import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Store } from '../../../../src/ports/store.ts';
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

/** What stands in the folders of the run: temporary files and sockets, the store, the audit. Sizes of databases are sizes. */
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

/** Rows of every table, in a copy that the owner makes between two commits: nobody else may open its file. */
export async function sampleTables(sample: Sample, store: Store, copy: string): Promise<void> {
  await (store as Store & Copied).copyTo(copy);
  const database = new DatabaseSync(copy, { readOnly: true });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all() as {
      name: string;
    }[];
    for (const { name } of tables) {
      const { rows } = database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get() as { rows: number };
      sample.count(`rows: ${name}`, rows);
    }
  } finally {
    database.close();
    rmSync(copy, { force: true });
  }
}

/** What the embedded store has beside what every store has. */
interface Copied {
  copyTo(file: string): Promise<void>;
}
