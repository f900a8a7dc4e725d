import { loadScopeFunctions, SERVICES_LIBRARY } from '../worker/services/storage/redis/scope-functions.ts';
import type { LoadedLibrary } from '../stores/redis/connection.ts';
import { LIBRARY } from '../stores/redis/function-library.ts';
import { upgradeLibrary, type ReachedServer } from '../stores/redis/with-server.ts';

export interface LibraryState {
  readonly library: string;
  readonly state: LoadedLibrary;
}

/** Loads every function library that any process needs, because only the administrator role may load one. */
export async function loadLibraries(server: ReachedServer): Promise<readonly LibraryState[]> {
  return [
    { library: LIBRARY, state: await upgradeLibrary(server) },
    { library: SERVICES_LIBRARY, state: await loadScopeFunctions(server.commands) },
  ];
}

export function describeLibrary({ library, state }: LibraryState): string {
  switch (state) {
    case 'loaded':
      return `Loaded the functions ${library}.`;
    case 'there':
      return `The functions ${library} are those of this release.`;
    case 'newer':
      return `The functions ${library} are those of a newer release, which this one works with. They stay.`;
  }
}
