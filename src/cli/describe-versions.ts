import type { RunningWorker } from '../compose/start-worker.ts';

/** One line for each module whose published version or pool differs from that of this worker, or differed until this worker rolled it back. */
export function describeVersions({ older, rolledBack }: RunningWorker['versions']): string[] {
  return [
    ...rolledBack.map(
      ({ id, version, published }) =>
        `${id} was rolled back from ${published} to ${version}: no live worker serves ${published}`,
    ),
    ...older.map(({ id, version, published, pool }) =>
      pool === undefined
        ? `${id} ${version} is not published: live workers serve ${published}`
        : `${id} is not published in this pool: live workers serve it in pool ${pool}. Stop them first to move it here`,
    ),
  ];
}
