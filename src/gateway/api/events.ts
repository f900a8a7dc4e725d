import { z } from '@hono/zod-openapi';
import { planeError } from '../../domain/errors/errors.ts';
import type { Authenticated } from '../authenticated.ts';
import type { FeedEvent } from '../follow/live-feed.ts';
import { checkScope } from '../http/require-scope.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import { EVENT_TOPICS, eventsQuery, type EventTopic, type ServerEvents } from './event-schema.ts';
import { EventStream } from './event-stream.ts';
import { listApproval, showApprovalTo } from './show-approval.ts';

const STREAMS_PER_BEARER = 8;
const RETRY_MS = 2000;

const headers = z.object({ 'last-event-id': z.string().max(256).optional() });

export function addEvents(api: Api, { plane, feed, isRequester }: ApiNeeds): void {
  const open = new Map<string, number>();

  addRoute(
    api,
    {
      method: 'get',
      path: '/events',
      scopes: ['operator', 'approver'],
      tag: 'events',
      summary: 'What happens, as it happens: server-sent events call, approval, worker, statistics and resync',
      query: eventsQuery,
      headers,
      answers: {
        200: {
          description:
            'A stream. Its first event is `resync` unless it goes on exactly where Last-Event-ID says: read the lists again.',
          mediaType: 'text/event-stream',
          schema: z.string(),
        },
      },
    },
    async (context, { query: { topics: asked }, headers: { 'last-event-id': after } }) => {
      const auth = context.get('auth');
      const topics = new Set((asked?.split(',') ?? EVENT_TOPICS) as EventTopic[]);
      // A bearer that may see only questions may receive only events about questions.
      if ([...topics].some((topic) => topic !== 'approvals')) checkScope(auth, 'operator');
      const streams = open.get(auth.id) ?? 0;
      if (streams >= STREAMS_PER_BEARER) throw planeError('RATE_LIMITED', { retryAfterMs: RETRY_MS });
      open.set(auth.id, streams + 1);
      const stream = new EventStream({ endsAt: auth.expiresAt, onEnd: () => end() });
      let isSynced = false;
      const joined = feed.join(topics, after, (event) => {
        // Events before `resync` are not sent: the client reads the lists when it gets `resync`, and they already contain these changes.
        if (isSynced) sendEvent(stream, auth, event);
      });
      if (joined.gap) {
        const reason = after === undefined ? 'new' : 'too-old';
        // `resync` is sent when the feed has read all topics of this stream once, and so notices every change. If the client read the lists
        // before that, it would miss the changes in between.
        void joined.ready.then(() => {
          isSynced = true;
          stream.send('resync', { reason } satisfies ServerEvents['resync'], feed.position);
        });
      } else isSynced = true;
      for (const event of joined.missed) sendEvent(stream, auth, event);
      return new Response(stream.body, {
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store',
          // Proxies that buffer responses would hold the events back.
          'x-accel-buffering': 'no',
        },
      });

      function leave(): void {
        const left = (open.get(auth.id) ?? 1) - 1;
        if (left === 0) open.delete(auth.id);
        else open.set(auth.id, left);
      }
      function end(): void {
        joined.leave();
        leave();
      }
    },
  );

  function sendEvent(stream: EventStream, auth: Authenticated, event: FeedEvent): void {
    switch (event.topic) {
      case 'calls':
        return stream.send('call', event.call, event.id);
      case 'workers':
        return stream.send('worker', { items: event.workers } satisfies ServerEvents['worker'], event.id);
      case 'statistics':
        return stream.send('statistics', event.statistics, event.id);
      case 'approvals':
        return void sendApproval(stream, auth, event);
    }
  }

  /**
   * Sends what this bearer may see of a question. This is decided for each event, because roles and schemas can change while a stream is
   * open.
   */
  async function sendApproval(
    stream: EventStream,
    auth: Authenticated,
    { approvalId, id }: FeedEvent & { readonly topic: 'approvals' },
  ): Promise<void> {
    try {
      const { policy } = await plane.store.readPolicy();
      const approval = await plane.store.readApproval(approvalId);
      if (approval === undefined) return;
      const { approvalRenderer, standing } = plane.operations;
      const needs = { render: await approvalRenderer(), policy, standing, isRequester };
      const shown = await showApprovalTo(auth, approval, needs);
      if (shown !== undefined) stream.send('approval', listApproval(shown), id);
    } catch (error) {
      plane.log.warn({ error }, 'an event could not be told');
      stream.drop();
    }
  }
}
