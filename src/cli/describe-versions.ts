import type { RunningWorker } from '../compose/start-worker.ts';

/** One line for each module whose published version differs from the version of this worker, or differed until this worker rolled it back. */
export function describeVersions({ older, rolledBack }: RunningWorker['versions']): string[] {
  return [
    ...rolledBack.map(
      ({ id, version, published }) =>
        `${id} was rolled back from ${published} to ${version}: no live worker serves ${published}`,
    ),
    ...older.map(({ id, version, published }) => `${id} ${version} is not published: live workers serve ${published}`),
  ];
}
