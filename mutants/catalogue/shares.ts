import type { Mutant } from '../mutant.ts';
import { EMBEDDED, lua, REDIS, transition } from './places.ts';

const REDIS_SHARES = 'test/redis/shares.test.ts';
const GATEWAY = 'test/gateway/shares.test.ts';

/** Bugs against the requirements in requirements/rows-shares.ts: how much of a lane one subject can take away from the others. */
export const SHARES: readonly Mutant[] = [
  {
    id: 'live-share-ignored',
    bug: 'One subject can fill a lane of Redis with its calls.',
    file: lua('shared/shares'),
    find: 'if most.live and use.live + size > most.live then\n    return',
    replace: 'if false then\n    return',
    caughtBy: [{ file: REDIS, title: 'accept refuses a subject above its live bytes' }],
  },
  {
    id: 'embedded-live-share-ignored',
    bug: 'One subject can fill the embedded store with its calls.',
    file: transition('check-admission'),
    find: 'use.liveBytes + size > limits.liveBytes',
    replace: 'use.liveBytes < 0',
    caughtBy: [{ file: EMBEDDED, title: 'accept refuses a subject above its live bytes' }],
  },
  {
    id: 'retained-share-ignored',
    bug: 'One subject can fill a lane of Redis with outcomes.',
    file: lua('shared/shares'),
    find: 'most.kept and use.kept >= most.kept',
    replace: 'false',
    caughtBy: [{ file: REDIS, title: 'accept refuses a subject above its retained bytes' }],
  },
  {
    id: 'pending-share-ignored',
    bug: 'One subject can have any number of questions asked on Redis.',
    file: lua('shared/shares'),
    find: 'most.pending and use.pending >= most.pending',
    replace: 'false',
    caughtBy: [{ file: REDIS, title: 'ask refuses a subject above its pending questions' }],
  },
  {
    id: 'embedded-parked-share-ignored',
    bug: 'Calls that wait for a person can take all of a subject’s room in the embedded store.',
    file: transition('ask-approval'),
    find: 'use.parkedBytes + call.bytes + bytes > shares.parkedBytes',
    replace: 'use.parkedBytes < 0',
    caughtBy: [{ file: EMBEDDED, title: 'ask refuses what would exceed the parked or the live bytes' }],
  },
  {
    id: 'old-lanes-start-at-zero',
    bug: 'A lane of an earlier release counts none of the calls that it already has.',
    file: lua('shared/shares'),
    find: 'for scope, use in pairs(uses) do shares.save(lane, scope, use) end',
    replace: '',
    caughtBy: [{ file: REDIS_SHARES, title: 'counts its live and parked calls when the first call is accepted' }],
  },
  {
    id: 'parked-calls-promise-a-second',
    bug: 'A lane full of calls that wait for people promises room in a second.',
    file: lua('shared/shares'),
    find: 'held.parked + size <= limits.bytes and shares.SOON_MS or nil',
    replace: 'shares.SOON_MS',
    caughtBy: [{ file: REDIS, title: 'a refusal names no time when only a person or an expiry makes room' }],
  },
  {
    id: 'lists-show-everything',
    bug: 'A list of questions has all arguments of each, whatever their size.',
    file: 'src/base/preview-text.ts',
    find: 'shown.length <= PREVIEW_CHARACTERS',
    replace: 'shown.length <= 1e12',
    caughtBy: [{ file: GATEWAY, title: 'makes a short list of questions' }],
  },
  {
    id: 'cut-questions-can-be-decided',
    bug: 'A list gives the binding of a question whose arguments it does not show whole.',
    file: 'src/gateway/api/show-approval.ts',
    find: '...(isCut ? {} : { binding }),',
    replace: 'binding,',
    caughtBy: [{ file: GATEWAY, title: 'makes a short list of questions' }],
  },
  {
    id: 'questions-of-one-hide-the-others',
    bug: 'Two hundred questions of one subject hide all others from the events, asked and decided.',
    file: 'src/gateway/follow/live-feed.ts',
    find: 'const LISTED_QUESTIONS = 5000;',
    replace: 'const LISTED_QUESTIONS = 20;',
    caughtBy: [{ file: 'test/gateway/live-feed.test.ts', title: 'do not hide those of another' }],
  },
];
