// A worker of a plane in its own process. Takes its orders over IPC.
import { startWorker, type RunningWorker } from 'sallyport';
import type { StoreOptions } from 'sallyport/testing';
import { serveOrders } from '../harness/serve-orders.ts';
import { countEvents, serveBench } from './serve-bench.ts';

export type Order =
  | { readonly kind: 'serve'; readonly store: StoreOptions; readonly concurrency: number }
  | { readonly kind: 'parked' };

let worker: RunningWorker | undefined;
const parked = countEvents('call.parked');

async function obey(order: Order): Promise<unknown> {
  if (order.kind === 'parked') return parked.count();
  worker = await serveBench(startWorker, { ...order.store, concurrency: order.concurrency, onEvent: parked.hear });
  return undefined;
}

serveOrders(obey, async () => worker?.drain());
