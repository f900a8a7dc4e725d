// One side of one variant in its own process. Takes its orders over IPC: `side.js <variant> <caller|worker>`.
import { serveOrders } from '../harness/serve-orders.ts';
import { runLoop, type Load } from './run-loop.ts';
import type { CallerSide, Place, WorkerSide } from './variant.ts';
import { VARIANTS, type VariantName } from './variants.ts';

export type Order = { readonly kind: 'open'; readonly place: Place } | { readonly kind: 'run'; readonly load: Load };

const [name, role] = process.argv.slice(2) as [VariantName, 'caller' | 'worker'];
const variant = await VARIANTS[name]();
let caller: CallerSide | undefined;
let worker: WorkerSide | undefined;

async function obey(order: Order): Promise<unknown> {
  if (order.kind === 'run') return runLoop(caller!, order.load);
  if (role === 'caller') caller = await variant.openCaller(order.place);
  else worker = await variant.openWorker!(order.place);
  return { about: variant.about };
}

serveOrders(obey, async () => {
  await caller?.close();
  await worker?.close();
});
