import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import { PAGE_LIMITS } from './page-schema.ts';
import {
  loopListQuery,
  loopPageSchema,
  STATISTICS_LIMITS,
  statisticsQuery,
  statisticsSchema,
} from './statistics-schema.ts';

const TAG = 'statistics';

export function addStatistics(api: Api, { plane, history }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/statistics',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Calls that ended in the last minutes or hours, by time, ending, tool and agent',
      query: statisticsQuery,
      answers: { 200: { description: 'The counts.', schema: statisticsSchema } },
    },
    async (context, { query }) => {
      const { windowMs = STATISTICS_LIMITS.usualWindowMs, buckets = STATISTICS_LIMITS.usualBuckets } = query;
      await history.catchUp();
      const now = await plane.store.now();
      history.statistics.forget(now);
      return context.json(history.statistics.show(now, windowMs, buckets));
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/loops',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Calls that ended because their run went round in circles, the newest first',
      query: loopListQuery,
      answers: { 200: { description: 'The last of them.', schema: loopPageSchema } },
    },
    async (context, { query: { limit = PAGE_LIMITS.usual } }) => {
      await history.catchUp();
      return context.json({ items: history.loops(limit) });
    },
  );
}
