import { onBothStores, test, type Requirement } from './requirement.ts';

const CONNECTIONS = 'test/gateway/connections.test.ts';
const FRONT = 'test/gateway/front.test.ts';

/** Requirements: how much of a gateway can be used up by clients without a token, or by clients that send too much. */
export const ROWS_FRONT: readonly Requirement[] = [
  {
    id: 'FR1',
    says: 'A client that sends requests ahead and reads nothing costs one answer: requests of a socket are served one at a time and in order, a bounded number waits, and a client that reads nothing is cut. Slow readers and quiet streams are not.',
    tests: [
      test(CONNECTIONS, 'begin one after the other'),
      test(CONNECTIONS, 'never begin when their socket closes'),
      test(CONNECTIONS, 'keep their order with any Expect header, and with bytes that are no request'),
      test(CONNECTIONS, 'a socket with more is cut'),
      test(CONNECTIONS, 'what was read of it before is not parsed'),
      test(CONNECTIONS, 'begin few at a time'),
      test(CONNECTIONS, 'is cut while bytes wait for it; a stream without news is not'),
      test(FRONT, 'answers callers, and keeps nothing for them'),
      test(FRONT, 'answers an honest client that sends ahead, in order'),
    ],
    mutants: [
      'requests-ahead-begin-at-once',
      'requests-ahead-have-no-bound',
      'cut-sockets-are-parsed-on',
      'requests-ahead-begin-together',
      'requests-outlive-their-socket',
      'expectations-overtake-answers',
      'refusals-stand-in-other-answers',
      'stalled-clients-stay',
      'quiet-streams-are-cut',
      'cut-answers-count-as-sent',
    ],
  },
  {
    id: 'FR2',
    says: 'A caller with a valid token finds room, however many sockets and requests there are without one; an attacker with one address pushes out only their own sockets.',
    tests: [
      test(CONNECTIONS, 'cuts the oldest socket without a valid token'),
      test(CONNECTIONS, 'cuts no socket that answers a request with a valid token'),
      test(CONNECTIONS, 'cuts a socket of the address that has the most of them'),
      test(CONNECTIONS, 'lets a caller with a valid token that rests make room last'),
      test(FRONT, 'answers callers, and keeps nothing for them'),
      test('src/gateway/http/strangers.test.ts', 'are limited for one address'),
      test('src/gateway/http/strangers.test.ts', 'are limited for all addresses together'),
      test('src/gateway/http/strangers.test.ts', 'are limited also for a token that is being asked about'),
    ],
    mutants: [
      'strangers-keep-their-sockets',
      'other-addresses-make-room',
      'callers-make-room-like-strangers',
      'strangers-have-no-budget',
      'old-proofs-pass-the-budget',
    ],
  },
  {
    id: 'FR3',
    says: 'Only wrong credentials count as failures of an address; a right one is let in whatever others at its address send. Requests without a valid token do not fill the log.',
    tests: [
      test(FRONT, 'do not use up the budget of wrong ones'),
      test(FRONT, 'do not lock out a right one'),
      test('src/gateway/http/failure-budget.test.ts', 'lets a right one in'),
      test('src/gateway/http/access-log.test.ts', 'how many more there were'),
      test('src/gateway/http/access-log.test.ts', 'counts failures of requests without a valid token'),
      test('test/gateway/stranger-lines.test.ts', 'writes a bounded number of lines'),
    ],
    mutants: [
      'missing-credentials-count-as-wrong',
      'wrong-credentials-lock-out-right-ones',
      'strangers-fill-the-log',
      'refusals-fill-the-log',
      'failures-of-strangers-fill-the-log',
    ],
  },
  {
    id: 'FR4',
    says: 'What one session keeps is bounded: its open runs on both stores, the URIs that it subscribes to. More get a coded answer and leave nothing.',
    tests: [
      ...onBothStores('openRun opens no more than 1,000 runs of a session'),
      test('src/gateway/mcp/subscriptions.test.ts', 'take no URI that is longer'),
      test('test/mcp/bad-messages.test.ts', 'M37 subscriptions without bound'),
    ],
    mutants: [
      'sessions-open-runs-without-end',
      'redis-sessions-open-runs-without-end',
      'subscriptions-have-any-length',
    ],
  },
  {
    id: 'FR5',
    says: 'A module can have a process for each call; none of its calls finds what another one left in memory, and one bound holds for all processes. Process runners are no sandbox, and the pages say so.',
    tests: [
      test('test/plane/process-runners.test.ts', 'leaves nothing behind for the next call'),
      test('test/plane/process-runners.test.ts', 'can read it all the same'),
      test('test/runners/process-runner.test.ts', 'has one bound for shared processes'),
    ],
    mutants: ['processes-serve-the-next-call', 'processes-of-one-call-have-a-bound-of-their-own'],
  },
  {
    id: 'FR6',
    says: 'The access matrix answers in pages of bounded size. The console shows no verdict under the wrong agent, and says when a page could not be read.',
    tests: [
      test(FRONT, 'gives every tool once, in pages'),
      test(FRONT, 'bounds the cells of a page'),
      test(FRONT, 'takes a cursor for the list that it was written for only'),
      test('test/console/access.test.ts', 'begins again when the agents of a later page are others'),
      test('console/src/pages/access/belongs-to.test.ts', 'if its agents and its policy are the same'),
      test('test/console/access.test.ts', 'says that a page could not be read'),
    ],
    mutants: ['a-page-of-the-matrix-has-any-size', 'pages-of-two-lists-of-agents-are-joined'],
  },
];
