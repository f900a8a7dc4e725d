// A caller on one release line of Node.js with its own plane. Takes its orders over IPC.
import { serveOrders } from '../harness/serve-orders.ts';
import { openPlane, STORE_KINDS, type BenchPlane, type StoreKind } from '../plane/open-plane.ts';
import { sendCalls, untilOk } from '../plane/calls.ts';

export type Order = {
  readonly kind: 'calls';
  readonly store: StoreKind;
  readonly count: number;
  readonly width: number;
};

export interface Spent {
  /** CPU time of this process. On an embedded store it is also the worker. */
  readonly cpuUs: number;
  readonly wallUs: number;
}

const planes = new Map<StoreKind, BenchPlane>();
for (const kind of STORE_KINDS) planes.set(kind, await openPlane(kind, { sessions: 4 }));

/** Makes the calls and returns time and CPU per call. */
async function obey({ store, count, width }: Order): Promise<Spent> {
  const plane = planes.get(store)!;
  const startedMs = performance.now();
  const before = process.cpuUsage();
  for (let sent = 0; sent < count; sent += width) await untilOk(sendCalls(plane, 'bench.read', width));
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / count, wallUs: ((performance.now() - startedMs) * 1000) / count };
}

serveOrders(obey, async () => {
  for (const plane of planes.values()) await plane.close();
});
