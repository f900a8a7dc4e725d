// Loaded before the program (`node --import`). Reports to the soak, over the IPC channel, facts that the product offers no access to.
import { openSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send !== undefined && process.env.HYGIENE_DOOR === '1') {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const kept = [];
  /** Leaks on purpose: a detector that cannot fail proves nothing. */
  const plants = {
    timer: () => void setInterval(() => undefined, 60_000),
    fd: () => void kept.push(openSync('/dev/null', 'r')),
    heap: () => void kept.push(Array.from({ length: 250_000 }, (_, index) => ({ index }))),
  };
  process.on('message', ({ ask, id, collectFirst }) => {
    if (ask === undefined) return;
    if (ask in plants) plants[ask]();
    if (collectFirst) collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send({ id, heapUsed, external, resources: process.getActiveResourcesInfo() }, () => undefined);
  });
  // The channel must not keep alive a program that has reached its end.
  process.channel.unref();
}
