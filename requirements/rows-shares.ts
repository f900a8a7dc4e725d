import { onBothStores, test, type Requirement } from './requirement.ts';

const GATEWAY = 'test/gateway/shares.test.ts';
const REDIS = 'test/redis/shares.test.ts';

/** Requirements: how much one subject can take away from the others. */
export const ROWS_SHARES: readonly Requirement[] = [
  {
    id: 'SH1',
    says: 'One subject uses at most its share of live bytes, parked bytes, retained bytes and pending questions. Beyond it only its calls are refused, as overloaded and not executed, with the share and what frees it; others go on.',
    tests: [
      ...onBothStores('accept refuses a subject above its live bytes'),
      ...onBothStores('accept refuses a subject above its retained bytes'),
      ...onBothStores('ask refuses a subject above its pending questions'),
      ...onBothStores('ask refuses what would exceed the parked or the live bytes'),
      test(GATEWAY, 'fills its own share: its next question is refused with the reason, and others go on'),
      test('test/gateway/live-feed.test.ts', 'do not hide those of another'),
    ],
    mutants: [
      'live-share-ignored',
      'embedded-live-share-ignored',
      'retained-share-ignored',
      'pending-share-ignored',
      'embedded-parked-share-ignored',
      'questions-of-one-hide-the-others',
    ],
  },
  {
    id: 'SH2',
    says: 'What a subject uses is counted exactly through settle, expiry, retention, cancel, requeue, recovery and released keys, leaves nothing behind, and is right in a store of an earlier release.',
    tests: [
      ...onBothStores(
        'the use of a subject is counted exactly through settle, cancel, expiry, recovery, decisions and retention',
      ),
      ...onBothStores('parked calls that expire, are cancelled or lose their session leave nothing in the counts'),
      ...onBothStores('a key that is released and used again counts each of its outcomes once'),
      test(REDIS, 'counts its live and parked calls when the first call is accepted'),
      test(REDIS, 'are not counted, and not subtracted when they are forgotten'),
      test(REDIS, 'a subject that uses nothing any more leaves no field'),
      test('src/stores/embedded/schema.test.ts', 'bodies of calls that waited while the store was brought up to date'),
    ],
    mutants: ['old-lanes-start-at-zero'],
  },
  {
    id: 'SH3',
    says: 'retryAfterMs is there only where a time is known: not for what a person, an expiry or the retention of one subject has to free.',
    tests: [
      ...onBothStores('a refusal names no time when only a person or an expiry makes room'),
      ...onBothStores('a lane full of outcomes says when the first of them is forgotten'),
    ],
    mutants: ['parked-calls-promise-a-second'],
  },
  {
    id: 'SH4',
    says: 'A list of questions is bounded in bytes and comes in pages. It shows the beginning of long arguments, and what it cuts cannot be decided from it.',
    tests: [
      test(GATEWAY, 'makes a short list of questions'),
      test(GATEWAY, 'is listed in pages'),
      test('src/base/preview-text.test.ts', 'ends before a mark or a pair of surrogates'),
    ],
    mutants: ['lists-show-everything', 'cut-questions-can-be-decided'],
  },
];
