import type { BenchReply } from '../variant.ts';

/** Matches arriving replies to the callers that wait for them. */
export interface Replies {
  expect(id: number): Promise<BenchReply>;
  arrived(reply: BenchReply): void;
}

export function openReplies(): Replies {
  const waiting = new Map<number, (reply: BenchReply) => void>();
  return {
    expect: (id) => new Promise((resolve) => waiting.set(id, resolve)),
    arrived(reply) {
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
    },
  };
}
