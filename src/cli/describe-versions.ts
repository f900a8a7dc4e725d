import type { RunningWorker } from '../compose/start-worker.ts';

/** Where the catalog and this worker differ, or did until now: a line each. */
export function describeVersions({ older, rolledBack }: RunningWorker['versions']): string[] {
  return [
    ...rolledBack.map(
      ({ id, version, published }) =>
        `${id} was rolled back from ${published} to ${version}: no live worker serves ${published}`,
    ),
    ...older.map(({ id, version, published }) => `${id} ${version} is not published: live workers serve ${published}`),
  ];
}
