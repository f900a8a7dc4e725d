import { onBothStores, test, type Requirement } from './requirement.ts';

/** One intention is one call, over MCP too. */
export const ROWS_OWED: readonly Requirement[] = [
  {
    id: 'O1',
    says: 'Calls owed: an MCP call whose client was told to come back, or was cut off before the answer, is not made a second time. The same call again takes exactly one such call, at any gateway.',
    tests: [
      ...onBothStores('a repeat takes an owed call, once'),
      ...onBothStores('two owed calls answer two repeats, the older one first, and a third is a call of its own'),
      ...onBothStores('a holder that lost its entry to another cannot release it'),
      test('test/mcp/owed-fleet.test.ts', 'that was told to come back gets one question and one effect'),
      test('test/mcp/owed-fleet.test.ts', 'give a client that lost its connection the call that it made'),
      test('src/mcp/inbound/owed-request.test.ts', 'holds its call until all of the answer was written'),
      test(
        'src/mcp/inbound/owed-request.test.ts',
        'owes its call when the connection ends before the answer was written',
      ),
      test('src/mcp/inbound/owed-request.test.ts', 'owes its call at once when the response is'),
      test('src/mcp/inbound/owed-request.test.ts', 'owes its call at once when its client cancels'),
      test('test/mcp/owed-stdio.test.ts', 'a call that its client cancels while it runs is owed at once'),
      ...onBothStores('a call that is named with another digest stays owed, and stays held'),
      test('test/mcp/owed-stdio.test.ts', 'that another agent of the subject names is still owed to its own'),
      test(
        'test/mcp/owed-calls.test.ts',
        'a repeat at the same gateway waits for the gateway to notice that the first connection is gone',
      ),
      test(
        'test/mcp/owed-opening.test.ts',
        'a request that is cut while its session is opened, and its repeat, are one call',
      ),
      test(
        'test/mcp/owed-calls.test.ts',
        'of two identical requests that come in the same step, the second waits for the first to be lost',
      ),
      test(
        'test/mcp/owed-calls.test.ts',
        'of two requests that wait for the same one, the second waits for the first when that one has its answer',
      ),
    ],
    mutants: [
      'taken-calls-stay-owed',
      'embedded-taken-calls-stay-owed',
      'a-lost-holder-releases-its-entry',
      'calls-leave-before-the-answer-is-written',
      'lost-connections-owe-nothing',
      'cancelled-requests-stay-open',
      'named-calls-are-anybodys',
      'embedded-named-calls-are-anybodys',
      'repeats-outrun-lost-connections',
      'lost-requests-make-calls',
      'requests-of-one-step-do-not-meet',
      'waiting-requests-go-on-together',
    ],
  },
  {
    id: 'O2',
    says: 'Two identical intended calls, at the same time and one after the other, are two calls, also after kill -9 of their gateway.',
    tests: [
      ...onBothStores('an open request of the same gateway is not owed'),
      ...onBothStores('an open request of another gateway that beats is not owed'),
      ...onBothStores('an open request of a gateway that does not beat for a lease is owed, and not before'),
      test('test/mcp/owed-fleet.test.ts', 'make two calls of two identical requests at the same time'),
      test('test/mcp/owed-fleet.test.ts', 'that ran at the same time are two, and not three'),
      test('test/mcp/owed-fleet.test.ts', 'after one that was answered is another call'),
    ],
    mutants: ['open-requests-are-owed', 'embedded-open-requests-are-owed', 'living-gateways-lose-their-calls'],
  },
  {
    id: 'O3',
    says: 'A question outlives the MCP client that caused it, and ends with the token that it was asked with.',
    tests: [
      test('test/mcp/owed-stdio.test.ts', 'a question outlives the client, and its'),
      test('test/mcp/owed-stdio.test.ts', 'a question outlives a repeat over'),
      ...onBothStores('a revoked token takes along the sessions that were noted for it, and no others'),
      test(
        'test/mcp/owed-fleet.test.ts',
        'a token that is revoked then takes the question of the killed gateway along',
      ),
    ],
    mutants: ['stdio-revokes-questions', 'cancelled-repeats-cancel-the-call', 'revoked-tokens-keep-their-sessions'],
  },
  {
    id: 'O4',
    says: 'A call that an operator or its caller cancelled by name stays cancelled: no repeat makes it anew, and none makes a call behind its answer.',
    tests: [
      test('src/mcp/inbound/owed-request.test.ts', 'a call is called off by the request that made it'),
      test('test/mcp/owed-cancel.test.ts', 'that an operator cancels stays cancelled: its repeat makes no other one'),
      test(
        'test/mcp/owed-cancel.test.ts',
        'that an operator cancels while its repeat waits leaves no other call behind',
      ),
      test('test/mcp/owed-cancel.test.ts', 'a form that a requester declines on a repeat ends the call'),
      test('test/mcp/owed-cancel.test.ts', 'a call that its own request called off is made anew by the repeat'),
    ],
    mutants: ['repeats-undo-cancels-of-operators', 'repeats-call-in-the-background', 'called-off-calls-are-final'],
  },
  {
    id: 'O5',
    says: 'An owed call is kept for an hour longer than the question about it. What a living gateway holds does not expire, what a dead one held makes room, and an entry never outlives the record of its call.',
    tests: [
      ...onBothStores('an entry that a living gateway holds does not expire'),
      test('src/stores/embedded/transitions/owed.test.ts', 'goes when its gateway has been silent for a minute'),
      test('src/stores/embedded/transitions/owed.test.ts', 'entries of a gateway that died make room'),
      test('test/redis/owed.test.ts', 'goes when its gateway has been silent for a minute'),
      test('test/redis/owed.test.ts', 'entries of a gateway that died make room'),
      test('test/mcp/owed-time.test.ts', 'is owed an hour longer than a question that waits for a week'),
      test('test/mcp/owed-time.test.ts', 'an entry that has outlived its call is not taken'),
      test('src/config/load-config.test.ts', 'refuses together what is fine alone'),
    ],
    mutants: [
      'held-calls-expire',
      'embedded-held-calls-expire',
      'lost-calls-expire-before-their-question',
      'dead-gateways-fill-the-bound',
      'embedded-dead-gateways-fill-the-bound',
      'forgotten-calls-are-earlier-ones',
    ],
  },
  {
    id: 'O6',
    says: 'A store that is away or full makes no second effect of an owed call: lost answers and failed releases are settled before the same request looks again. What waits for it is bounded, and so are the lines about it.',
    tests: [
      test(
        'test/mcp/owed-calls.test.ts',
        'a call that was taken in a request whose answer was lost is owed to the next one',
      ),
      test('test/mcp/owed-calls.test.ts', 'an entry that was made in a request whose answer was lost is removed'),
      test('test/mcp/owed-calls.test.ts', 'first sends the release that the store did not take'),
      test(
        'test/mcp/owed-calls.test.ts',
        'a request that lost its connection while it waited for another gateway takes nothing',
      ),
      test('test/mcp/owed-calls.test.ts', 'a request that the store refused holds nothing'),
      test('test/mcp/owed-calls.test.ts', 'a release that the store will never take is given up'),
      test('test/mcp/owed-calls.test.ts', 'a store that is away is asked for no more'),
      test('test/redis/owed.test.ts', 'a store at its memory limit holds nothing, and says that it is full'),
      test('test/deploy/acl-boundary.test.ts', 'reaches the calls owed only if it serves MCP clients'),
    ],
    mutants: [
      'lost-answers-leave-entries-held',
      'repeats-overtake-failed-releases',
      'lost-requests-take-calls',
      'refused-requests-are-undone',
      'lost-requests-pile-up',
      'full-stores-fail-mcp-calls',
      'clients-reach-the-calls-owed',
    ],
  },
  {
    id: 'O7',
    says: 'Reading a resource and getting a prompt are calls that are made once too, and a client on standard input that no longer reads leaves its calls.',
    tests: [
      test('test/mcp/owed-time.test.ts', 'that waits for a person is one question'),
      test('test/mcp/owed-stdio.test.ts', 'when its client no longer reads what sallyport mcp writes'),
    ],
    mutants: ['resources-are-asked-about-again', 'unread-output-cancels-calls'],
  },
];
