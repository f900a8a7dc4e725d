import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import { showWorker } from './show-worker.ts';
import { queuePageSchema, workerPageSchema } from './worker-schema.ts';

const TAG = 'workers';

export function addWorkers(api: Api, { plane: { store } }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/workers',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Workers that are alive, and what they serve',
      answers: { 200: { description: 'All of them.', schema: workerPageSchema } },
    },
    async (context) => context.json({ items: (await store.listWorkers()).map(showWorker) }),
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/queues',
      scopes: ['operator'],
      tag: TAG,
      summary: 'How many calls stand in each queue, and how many are with workers',
      answers: { 200: { description: 'All of them.', schema: queuePageSchema } },
    },
    async (context) => context.json({ items: await store.queueState({ backlog: true }) }),
  );
}
