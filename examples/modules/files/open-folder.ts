import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { resolve } from 'node:path';

const AS_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder below the root and passes its address to `work`. Each step opens one name inside the folder that is already open, without
 * following a link. The attack: a folder is replaced by a link between a check of its path and the use of it. Here no path is ever looked
 * up twice. `/proc/self/fd/N` is the open folder itself (Linux only).
 */
export async function withFolder<Result>(
  root: string,
  names: readonly string[],
  options: { readonly create: boolean },
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(root, { recursive: true });
  // The root itself may be a link, because the operator chose it.
  let folder = await open(resolve(root), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (const name of names) {
      const next = await openInside(folder, name, options.create);
      await folder.close();
      folder = next;
    }
    return await work(addressOf(folder));
  } finally {
    await folder.close();
  }
}

async function openInside(folder: FileHandle, name: string, create: boolean): Promise<FileHandle> {
  const path = `${addressOf(folder)}/${name}`;
  if (create)
    await mkdir(path).catch((error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? undefined : fail(error)));
  return open(path, AS_FOLDER);
}

function addressOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`;
}

function fail(error: Error): never {
  throw error;
}
